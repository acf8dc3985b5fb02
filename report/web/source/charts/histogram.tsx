// The number of trials for each value; with the one before the change behind it, if there is one.
import { largestOf, smallestOf } from "../extremes";
import type { Statistic } from "../result";

interface Props {
  statistic: Statistic;
  before?: Statistic;
  text(value: number): string;
  unit: string;
  label: string;
  width?: number;
}

const height = 44;

/** Returns whether the value is the same in every trial, but for rounding. The histogram of such values has edges around them that no trial gave. */
export const isConstant = ({ mean, std }: Statistic) => std <= 1e-9 * Math.max(1e-300, Math.abs(mean));

function constantText(now: Statistic, before: Statistic | undefined, text: (value: number) => string, unit: string, trials: number): string {
  const value = `${text(now.mean)} ${unit} in ${trials === 1 ? "the one trial" : trials > 1 ? `all ${trials} trials` : "every trial"}`;
  return before && before.mean !== now.mean ? `${value}; before: ${text(before.mean)} ${unit}` : value;
}

export function Histogram({ statistic, before, text, unit, label, width = 270 }: Props) {
  const all = [statistic, ...(before ? [before] : [])];
  const edges = all.flatMap((one) => one.histogram.edges);
  if (edges.length === 0) return null;
  const trials = statistic.histogram.counts.reduce((sum, count) => sum + count, 0);
  // Values without spread have no distribution: a bar in an artificial axis would suggest one.
  if (all.every(isConstant)) return <p class="note constant">{constantText(statistic, before, text, unit, trials)}</p>;
  const [low, high] = [smallestOf(edges), largestOf(edges)];
  const most = largestOf(all.flatMap((one) => one.histogram.counts), 1);
  const x = (value: number) => ((value - low) / (high - low)) * width;
  const bars = (one: Statistic, kind: string) =>
    one.histogram.counts.map((count, index) => {
      const [from, to] = [x(one.histogram.edges[index]), x(one.histogram.edges[index + 1])];
      const tall = (count / most) * (height - 4);
      return count ? <rect key={`${kind}${index}`} class={kind} x={from} y={height - tall} width={Math.max(1.5, to - from - 0.5)} height={tall} /> : null;
    });
  const [from, to] = statistic.spread95;
  return (
    <svg class="histogram" viewBox={`0 0 ${width} ${height + 16}`} role="img"
      aria-label={`${label}: mean ${text(statistic.mean)} ${unit}, from ${text(low)} to ${text(high)} over ${trials} trials${before ? `; before: mean ${text(before.mean)} ${unit}` : ""}`}>
      {before && bars(before, "bar-before")}
      {bars(statistic, "bar")}
      <line class="axis" x1={0} x2={width} y1={height} y2={height} />
      <line class="spread" x1={Math.max(0, x(from))} x2={Math.min(width, x(to))} y1={height + 2.5} y2={height + 2.5} />
      <line class="mean" x1={x(statistic.mean)} x2={x(statistic.mean)} y1={0} y2={height + 4} />
      <text x={0} y={height + 14}>{text(low)}</text>
      <text x={width} y={height + 14} text-anchor="end">{text(high)} {unit}</text>
    </svg>
  );
}
