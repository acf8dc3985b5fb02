// A bar from 1 for a ratio, with its interval, and a mark for an estimate of it.
interface Props {
  value: number;
  interval?: [number, number];
  estimate?: number;
  /** The ratio at the bar's right end. */
  largest: number;
  label: string;
}

export function RatioBar({ value, interval, estimate, largest, label }: Props) {
  const at = (ratio: number) => `${100 * Math.min(1, Math.max(0, ratio / largest))}%`;
  return (
    <span class="ratio-bar" role="img" aria-label={label} title={label}>
      <i style={{ width: at(value) }} />
      {interval && <u style={{ left: at(interval[0]), right: `calc(100% - ${at(interval[1])})` }} />}
      {estimate !== undefined && <s style={{ left: at(estimate) }} />}
      <b style={{ left: at(1) }} />
    </span>
  );
}
