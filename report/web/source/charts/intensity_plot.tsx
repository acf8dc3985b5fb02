// Rows of colour over time: one row per unit or source line, one column per bin.
import { useEffect, useRef } from "preact/hooks";
import { rgb, viridis } from "../color";
import { useSignal, type Signal } from "../signal";
import { theme, themeColor } from "../theme";
import { plotLeft, plotRight, type TimeAxis } from "./time_axis";
import { binAt, limited } from "./time_axis_range";

export interface IntensityRow {
  label: string;
  values: (number | null)[];
}

interface Props {
  title: string;
  edges: number[];
  rows: IntensityRow[];
  /** The colour scale's ends. */
  range: [number, number];
  text(value: number): string;
  axis: TimeAxis;
  readout: Signal<string>;
  rowHeight?: number;
  choose?(row: number): void;
}

export function IntensityPlot(props: Props) {
  const { title, edges, rows, range, text, axis, readout, choose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const look = useSignal(theme);
  const rowHeight = props.rowHeight ?? Math.max(2, Math.min(13, Math.floor(240 / Math.max(1, rows.length))));
  const height = rowHeight * rows.length;

  useEffect(() => {
    const element = canvas.current!;
    const area = () => element.clientWidth - plotLeft - plotRight;
    const at = (event: MouseEvent) => {
      const [from, to] = axis.range.value;
      return from + ((event.clientX - element.getBoundingClientRect().left - plotLeft) / area()) * (to - from);
    };
    let dragFrom: number | undefined;
    let drag: [number, number] | undefined;
    const draw = () => paint(element, rows, edges, axis, range, rowHeight, drag);
    const rowAt = (event: MouseEvent) => Math.floor((event.clientY - element.getBoundingClientRect().top) / rowHeight);
    const down = (event: MouseEvent) => !event.shiftKey && (dragFrom = at(event));
    const move = (event: MouseEvent) => {
      if (dragFrom !== undefined && event.buttons) {
        drag = [Math.min(dragFrom, at(event)), Math.max(dragFrom, at(event))];
        draw();
      }
      const row = rows[rowAt(event)];
      const bin = binAt(edges, at(event));
      const value = row?.values[bin];
      if (row) readout.set(`${row.label}: ${value === null || value === undefined ? "nothing" : text(value)}`);
    };
    const up = (event: MouseEvent) => {
      const [from, to] = axis.range.value;
      const wide = drag && drag[1] - drag[0] > 0.005 * (to - from);
      if (wide) axis.range.set(limited(axis.full, drag!));
      else if (dragFrom !== undefined && event.target === element) choose?.(rowAt(event));
      dragFrom = drag = undefined;
      if (wide) draw();
    };
    const leave = () => readout.set("");
    element.addEventListener("mousedown", down);
    element.addEventListener("mousemove", move);
    element.addEventListener("mouseleave", leave);
    window.addEventListener("mouseup", up);
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    const endings = [axis.attach(element, at), axis.range.subscribe(draw), axis.cursor.subscribe(draw)];
    draw();
    return () => {
      for (const end of endings) end();
      observer.disconnect();
      element.removeEventListener("mousedown", down);
      element.removeEventListener("mousemove", move);
      element.removeEventListener("mouseleave", leave);
      window.removeEventListener("mouseup", up);
    };
  }, [rows, edges, axis, look, range[0], range[1], rowHeight]);

  const scale = [0, 0.25, 0.5, 0.75, 1].map((position) => rgb(viridis(position))).join(",");
  return (
    <figure class="plot">
      <figcaption>
        {title}{" "}
        <span class="legend scale">{text(range[0])} <i style={{ background: `linear-gradient(to right,${scale})` }} /> {text(range[1])}</span>
      </figcaption>
      <canvas ref={canvas} style={{ height, cursor: choose ? "pointer" : "crosshair" }} role="img"
        aria-label={`${title}: ${rows.length} rows over ${edges.length - 1} bins. ${extremes(rows, text)}`} />
    </figure>
  );
}

/** Describes the rows with the largest and the smallest mean, for readers who cannot see the colours. */
function extremes(rows: IntensityRow[], text: (value: number) => string): string {
  const means = rows.flatMap(({ label, values }) => {
    const seen = values.filter((value): value is number => value !== null);
    return seen.length ? [{ label, mean: seen.reduce((sum, value) => sum + value, 0) / seen.length }] : [];
  });
  if (means.length === 0) return "";
  means.sort((a, b) => b.mean - a.mean);
  const [most, least] = [means[0], means[means.length - 1]];
  return `Highest mean: ${most.label}, ${text(most.mean)}; lowest: ${least.label}, ${text(least.mean)}.`;
}

function paint(canvas: HTMLCanvasElement, rows: IntensityRow[], edges: number[], axis: TimeAxis, [low, high]: [number, number], rowHeight: number, drag?: [number, number]) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, rowHeight * rows.length];
  if (width <= plotLeft + plotRight) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const paper = canvas.getContext("2d")!;
  const [from, to] = axis.range.value;
  const area = width - plotLeft - plotRight;
  const columns = Math.max(1, Math.round(area * ratio));

  // One pixel per row and column first, then stretched: quick for any number of rows.
  const image = new ImageData(columns, rows.length);
  const colors = Array.from({ length: 256 }, (_, index) => viridis(index / 255));
  for (let column = 0; column < columns; ++column) {
    const bin = binAt(edges, from + ((column + 0.5) / columns) * (to - from));
    rows.forEach(({ values }, row) => {
      const value = values[bin];
      if (value === null || value === undefined) return;
      const [red, green, blue] = colors[Math.max(0, Math.min(255, Math.round((255 * (value - low)) / (high - low || 1))))];
      image.data.set([red, green, blue, 255], 4 * (row * columns + column));
    });
  }
  const small = document.createElement("canvas");
  small.width = columns;
  small.height = rows.length;
  small.getContext("2d")!.putImageData(image, 0, 0);
  paper.imageSmoothingEnabled = false;
  paper.drawImage(small, plotLeft * ratio, 0, area * ratio, height * ratio);

  paper.scale(ratio, ratio);
  paper.strokeStyle = themeColor("--line");
  paper.strokeRect(plotLeft - 0.5, 0.5, area + 1, height - 1);
  label(paper, rows, rowHeight);
  const x = (cycle: number) => plotLeft + ((cycle - from) / (to - from)) * area;
  if (drag) {
    paper.fillStyle = themeColor("--frame");
    paper.fillRect(x(drag[0]), 0, x(drag[1]) - x(drag[0]), height);
  }
  const cursor = axis.cursor.value;
  if (cursor !== null && cursor >= from && cursor <= to) {
    paper.fillStyle = themeColor("--accent");
    paper.fillRect(x(cursor) - 0.5, 0, 1, height);
  }
}

function label(paper: CanvasRenderingContext2D, rows: IntensityRow[], rowHeight: number) {
  paper.fillStyle = themeColor("--ink-soft");
  paper.font = "11px system-ui, sans-serif";
  paper.textAlign = "right";
  paper.textBaseline = "middle";
  const every = Math.ceil(12 / rowHeight);
  rows.forEach((row, index) => {
    if (index % every === 0) paper.fillText(row.label, plotLeft - 6, (index + 0.5) * rowHeight + (every > 1 ? 3 : 0.5), plotLeft - 8);
  });
}
