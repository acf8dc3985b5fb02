// Time × energy: choices as points, and the front of those that no other one is better than in both.
import { category } from "../color";
import { useSignal } from "../signal";
import { theme } from "../theme";

export interface EnergyPoint {
  /** Both relative to the point 1, 1. */
  time: number;
  energy: number;
  label: string;
  /** A point with a name of its own, drawn larger. */
  kind?: "chosen" | "other";
}

interface Props {
  title: string;
  points: EnergyPoint[];
  /** The longest time that is allowed, relative. */
  limit?: number;
}

const [width, height] = [420, 260];
const margin = { left: 46, right: 14, top: 24, bottom: 34 };

/** Returns the points that no other one is as good as in both and better in one, by time. */
function frontOf(points: EnergyPoint[]): EnergyPoint[] {
  const isBeaten = (one: EnergyPoint) => points.some((other) => other.time <= one.time && other.energy <= one.energy && (other.time < one.time || other.energy < one.energy));
  return points.filter((point) => !isBeaten(point)).sort((a, b) => a.time - b.time);
}

/** Joins the labels of points at the same place; the later one stays. */
function joined(points: EnergyPoint[]): EnergyPoint[] {
  const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;
  return points.reduce<EnergyPoint[]>((all, point) => {
    const same = all.findIndex((one) => near(one.time, point.time) && near(one.energy, point.energy));
    if (same < 0) return [...all, point];
    return [...all.slice(0, same), ...all.slice(same + 1), { ...point, label: `${all[same].label}, ${point.label}` }];
  }, []);
}

function ticks(low: number, high: number): number[] {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2].find((one) => (high - low) / one <= 6) ?? 5;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

export function EnergyPlot({ title, points: all, limit }: Props) {
  const look = useSignal(theme);
  const points = joined(all);
  const times = points.map(({ time }) => time).concat(limit ?? []);
  const energies = points.map(({ energy }) => energy);
  const range = (values: number[]): [number, number] => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.08 * (high - low || 0.1);
    return [low - room, high + room];
  };
  const [t0, t1] = range(times);
  const [e0, e1] = range(energies);
  const x = (time: number) => margin.left + ((time - t0) / (t1 - t0)) * (width - margin.left - margin.right);
  const y = (energy: number) => height - margin.bottom - ((energy - e0) / (e1 - e0)) * (height - margin.top - margin.bottom);
  const front = frontOf(points);
  const colorOf = ({ kind }: EnergyPoint) => category(look, kind === "other" ? 1 : kind === "chosen" ? 2 : 0);
  const percent = (ratio: number) => `${ratio >= 1 ? "+" : "−"}${Math.abs(100 * (ratio - 1)).toFixed(0)} %`;
  const text = points.map(({ label, time, energy }) => `${label}: ${percent(time)} time, ${percent(energy)} energy`).join("; ");
  return (
    <figure class="plot energy-plot">
      <figcaption title={title}>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}. ${text}`}>
        {ticks(t0, t1).map((tick) => <g key={tick}><line class="grid" x1={x(tick)} x2={x(tick)} y1={margin.top} y2={height - margin.bottom} /><text class="mid" x={x(tick)} y={height - margin.bottom + 14}>{percent(tick)}</text></g>)}
        {ticks(e0, e1).map((tick) => <g key={tick}><line class="grid" x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} /><text class="end" x={margin.left - 5} y={y(tick) + 4}>{percent(tick)}</text></g>)}
        <text class="mid" x={(margin.left + width - margin.right) / 2} y={height - 4}>time</text>
        <text class="end" x={margin.left - 5} y={margin.top - 10}>energy</text>
        {limit !== undefined && <line class="limit" x1={x(limit)} x2={x(limit)} y1={margin.top} y2={height - margin.bottom}><title>{`${percent(limit)} time is allowed`}</title></line>}
        <polyline class="front" points={front.map(({ time, energy }) => `${x(time)},${y(energy)}`).join(" ")} />
        {points.map((point) => (
          <circle key={point.label} cx={x(point.time)} cy={y(point.energy)} r={point.kind ? 6 : 4} class={front.includes(point) ? "" : "beaten"}
            style={{ stroke: colorOf(point), fill: front.includes(point) ? colorOf(point) : undefined }}>
            <title>{`${point.label}: ${percent(point.time)} time, ${percent(point.energy)} energy`}</title>
          </circle>
        ))}
        {points.map((point) => {
          const isRight = x(point.time) > 0.72 * width;
          return <text key={point.label} class={`point ${isRight ? "end" : ""}`} x={x(point.time) + (isRight ? -8 : 8)} y={y(point.energy) - 6}>{point.label}</text>;
        })}
      </svg>
    </figure>
  );
}
