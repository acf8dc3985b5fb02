// A long list of rows of one height. Only those on the screen are in the document, so that ten thousand are as smooth as ten.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { flushSync } from "preact/compat";

const rowHeight = 21;
const around = 15; // rows kept above and below the screen

/**
 * Returns the scrolling pane's reference and its handler of scrolling; the rows from `first` to before `last`, which are to be in the
 * document; and the paddings in px that stand for the others. `rows` is the list; `seen` gets the rows on the screen.
 */
export function useWindowed(rows: readonly unknown[], seen?: (first: number, last: number) => void) {
  const pane = useRef<HTMLDivElement>(null);
  const [window_, setWindow] = useState<[number, number]>([0, 60]);
  const [printing, setPrinting] = useState(false);

  const look = () => {
    const element = pane.current;
    if (!element) return;
    const first = Math.floor(element.scrollTop / rowHeight);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight);
    setWindow((old) => (Math.abs(old[0] - first) + Math.abs(old[1] - last) < 6 ? old : [first, last]));
    seen?.(first, last);
  };
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    observer.observe(pane.current!);
    return () => observer.disconnect();
  }, [rows]);
  useEffect(() => {
    // On paper there is no scrolling: all rows are laid out.
    const before = () => flushSync(() => setPrinting(true));
    const after = () => setPrinting(false);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);

  const first = printing ? 0 : Math.min(rows.length, Math.max(0, window_[0] - around));
  const last = printing ? rows.length : Math.min(rows.length, window_[1] + around);
  return { pane, look, first, last, padding: { paddingTop: first * rowHeight, paddingBottom: (rows.length - last) * rowHeight } };
}

export const rowsOfPage = (pane: HTMLElement | null) => Math.max(1, Math.floor((pane?.clientHeight ?? 0) / rowHeight) - 2);

export function bringIntoView(pane: HTMLElement, index: number) {
  const head = pane.querySelector<HTMLElement>(".columns")?.offsetHeight ?? 0;
  const top = index * rowHeight;
  if (top < pane.scrollTop || top + rowHeight + head > pane.scrollTop + pane.clientHeight - rowHeight)
    pane.scrollTop = Math.max(0, top - (pane.clientHeight - head) / 3);
}
