// The whole file at a glance: one bar per line with the chosen figure, and a frame around the visible lines.
import { useEffect, useRef } from "preact/hooks";
import { rgb, viridis } from "../color";
import type { Figure } from "../figures";
import { useSignal, type Signal } from "../signal";
import { theme, themeColor } from "../theme";

interface Props {
  lineCount: number;
  heat: Map<number, number>;
  line: number;
  visible: Signal<[number, number]>;
  figure: Figure;
  jump(line: number): void;
}

const width = 46;

export function Strip({ lineCount, heat, line, visible, figure, jump }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [first, last] = useSignal(visible);
  const look = useSignal(theme);
  useEffect(() => {
    const draw = () => canvas.current && paint(canvas.current, lineCount, heat, line, first, last);
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, [lineCount, heat, line, first, last, look]);

  const follow = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const at = Math.ceil(((event.clientY - box.top) / box.height) * Math.max(lineCount, box.height / 4));
    // The bars are thin: a click near one selects it.
    const reach = Math.max(1, Math.round((6 / box.height) * lineCount));
    const near = [...heat.keys()].filter((candidate) => Math.abs(candidate - at) <= reach);
    const target = near.sort((a, b) => (heat.get(b) ?? 0) - (heat.get(a) ?? 0))[0] ?? at;
    jump(Math.min(lineCount, Math.max(1, target)));
  };
  const step = (event: KeyboardEvent) => {
    const lines = [...heat.keys()].sort((a, b) => a - b);
    const next = event.key === "ArrowDown" ? lines.find((candidate) => candidate > line)
      : event.key === "ArrowUp" ? lines.reverse().find((candidate) => candidate < line) : undefined;
    if (next === undefined) return;
    event.preventDefault();
    jump(next);
  };
  return (
    <canvas class="strip" ref={canvas} tabIndex={0} role="slider" aria-orientation="vertical" aria-valuemin={1} aria-valuemax={lineCount}
      aria-valuenow={line} aria-valuetext={`line ${line}`} aria-label={`${figure.label} over the file; arrow keys go to lines with figures`}
      title={`${figure.label} over the whole file; click to go there`}
      onPointerDown={(event) => (event.currentTarget.setPointerCapture(event.pointerId), follow(event))}
      onPointerMove={(event) => event.buttons && follow(event)} onKeyDown={step} />
  );
}

function paint(canvas: HTMLCanvasElement, lineCount: number, heat: Map<number, number>, line: number, first: number, last: number) {
  const height = canvas.clientHeight;
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const paper = canvas.getContext("2d")!;
  paper.scale(scale, scale);
  const step = Math.min(4, height / lineCount);
  paper.fillStyle = themeColor("--frame");
  paper.fillRect(0, (first - 1) * step, width, Math.max(6, (last - first + 1) * step));
  const dark = theme.value === "dark";
  for (const [number, value] of heat) {
    paper.fillStyle = rgb(viridis(dark ? 0.25 + 0.75 * value : 0.85 * (1 - value)));
    paper.fillRect(4, (number - 1) * step, Math.max(2, value * (width - 8)), Math.max(2, step));
  }
  paper.fillStyle = themeColor("--accent");
  paper.fillRect(0, (line - 1) * step, 3, Math.max(3, step));
}
