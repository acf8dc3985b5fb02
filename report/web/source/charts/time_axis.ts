// The common state of linked plots: the shown stretch of cycles, and the cursor. Wheel: zoom; drag: zoom into; with Shift: pan.
import { signal, type Signal } from "../signal";
import { limited } from "./time_axis_range";

/** Pixels left and right of every plot's area, so that the plots stand exactly above one another. */
export const plotLeft = 66;
export const plotRight = 14;

export interface TimeAxis {
  readonly full: [number, number];
  readonly range: Signal<[number, number]>;
  /** The cursor's cycle; null: none. */
  readonly cursor: Signal<number | null>;
  /** Lets an element zoom, pan and move the cursor; returns a function that ends that. */
  attach(element: HTMLElement, at: (event: MouseEvent) => number): () => void;
}

export function zoom(axis: TimeAxis, about: number, factor: number) {
  const [from, to] = axis.range.value;
  axis.range.set(limited(axis.full, [about - (about - from) * factor, about + (to - about) * factor]));
}

/** `share` is relative to the shown width. */
export function pan(axis: TimeAxis, share: number) {
  const [from, to] = axis.range.value;
  const step = share * (to - from);
  axis.range.set(limited(axis.full, [from + step, to + step]));
}

export function timeAxis(full: [number, number]): TimeAxis {
  const axis: TimeAxis = { full, range: signal(full), cursor: signal<number | null>(null), attach };
  return axis;

  function attach(element: HTMLElement, at: (event: MouseEvent) => number) {
    let panFrom: number | undefined;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.altKey) {
        zoom(axis, at(event), event.deltaY > 0 ? 1.25 : 0.8);
        event.preventDefault();
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan(axis, event.deltaX / element.clientWidth);
        event.preventDefault();
      }
    };
    const down = (event: MouseEvent) => {
      if (!event.shiftKey) return;
      panFrom = at(event);
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const move = (event: MouseEvent) => {
      const here = at(event);
      if (panFrom !== undefined && event.buttons) {
        const [from, to] = axis.range.value;
        axis.range.set(limited(axis.full, [from + panFrom - here, to + panFrom - here]));
      } else axis.cursor.set(here);
    };
    const up = () => (panFrom = undefined);
    const leave = () => axis.cursor.set(null);
    const reset = () => axis.range.set(axis.full);
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("mousedown", down, { capture: true });
    element.addEventListener("mousemove", move);
    window.addEventListener("mouseup", up);
    element.addEventListener("mouseleave", leave);
    element.addEventListener("dblclick", reset);
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("mousedown", down, { capture: true });
      element.removeEventListener("mousemove", move);
      window.removeEventListener("mouseup", up);
      element.removeEventListener("mouseleave", leave);
      element.removeEventListener("dblclick", reset);
    };
  }
}
