// A uPlot in the page's colours; with `axis`, one of several over the same stretch of time.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { category } from "../color";
import { largestOf, smallestOf } from "../extremes";
import { useSignal } from "../signal";
import { theme, themeColor } from "../theme";
import { plotLeft, plotRight, type TimeAxis } from "./time_axis";
import { limited } from "./time_axis_range";
import { axisRange, tickTexts } from "./value_axis";

export interface Series {
  label: string;
  /** A CSS colour, or the number of a category. */
  color: string | number;
  values: (number | null)[];
  /** The series is drawn faintly: one of many units. */
  faint?: boolean;
  bold?: boolean;
  /** The series is not drawn itself: it is an edge of a band. */
  hidden?: boolean;
  /** Fills to the series that is this far away in the list. */
  bandWith?: number;
  fill?: string | true;
}

interface Props {
  title: string;
  height: number;
  x: number[];
  xLabel: string;
  series: Series[];
  axis?: TimeAxis;
  /** The range of the vertical axis; absent: the values' own. */
  range?: [number, number];
  /** The limits of the values, if the axis follows them. */
  limits?: [number, number];
}

export function LinePlot({ title, height, x, xLabel, series, axis, range, limits }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const look = useSignal(theme);
  const colorOf = (one: Series) => (typeof one.color === "number" ? category(look, one.color) : one.color);
  // A canvas knows no variables of CSS.
  const strokeOf = (one: Series) => colorOf(one).replace(/^var\((.*)\)$/, (_, name: string) => themeColor(name));
  // A filled area stands for amounts: its axis starts at 0.
  const rangeOfValues = () => {
    const filled = series.some((one) => one.fill);
    const smallest = series.reduce((low, one) => smallestOf(one.values, low), filled ? 0 : Infinity);
    const largest = series.reduce((high, one) => largestOf(one.values, high), filled ? 0 : -Infinity);
    return axisRange(smallest, largest, filled ? [0, Infinity] : limits);
  };
  const fillOf = (one: Series) => (one.fill === true ? `${colorOf(one)}2a` : one.fill);
  useEffect(() => {
    const element = host.current!;
    const plot = new uPlot(options(), [x, ...series.map((one) => one.values)] as uPlot.AlignedData, element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    const endings = axis ? [follow(plot, axis), axis.attach(plot.over, (event) => plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"))] : [];
    return () => {
      for (const end of endings) end();
      observer.disconnect();
      plot.destroy();
    };

    function options(): uPlot.Options {
      const ink = themeColor("--ink-soft");
      const line = { stroke: ink, grid: { stroke: themeColor("--line"), width: 1 }, ticks: { stroke: themeColor("--line"), width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
      return {
        width: element.clientWidth, height, padding: [8, plotRight, 0, 0],
        legend: { show: false },
        cursor: { points: { show: false }, y: false, drag: { x: Boolean(axis), y: false, setScale: false } },
        scales: { x: { time: false, range: axis ? () => axis.range.value : undefined }, y: { range: range ?? rangeOfValues() } },
        axes: [{ ...line, size: 26, label: xLabel, labelSize: 16, labelFont: "11px system-ui, sans-serif", values: (_, ticks) => tickTexts(ticks) }, { ...line, size: plotLeft, values: (_, ticks) => tickTexts(ticks) }],
        series: [{}, ...series.map((one) => ({
          label: one.label, stroke: one.hidden ? undefined : strokeOf(one), width: one.hidden ? 0 : one.faint ? 0.6 : one.bold ? 3.2 : 1.6,
          alpha: one.faint ? 0.55 : 1, points: { show: false }, fill: fillOf(one),
        }))],
        bands: series.flatMap((one, index) => (one.bandWith ? [{ series: [index + 1, index + 1 + one.bandWith] as [number, number], fill: `${colorOf(one)}33` }] : [])),
        hooks: axis && {
          setSelect: [(plot) => {
            if (plot.select.width < 3) return;
            axis.range.set(limited(axis.full, [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")]));
            plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          }],
        },
      };
    }
  }, [x, series, height, look, axis, range?.[0], range?.[1]]);

  const named = series.filter((one) => !one.hidden && !one.faint);
  const summary = named.map((one) => `${one.label} from ${short(smallestOf(one.values))} to ${short(largestOf(one.values))}`).join("; ");
  return (
    <figure class="plot" role="img" aria-label={`${title}, by ${xLabel}: ${summary}`}>
      <figcaption>
        {title}{" "}
        {named.length > 1 && <span class="legend">{named.map((one) => <span key={one.label}><i style={{ background: colorOf(one) }} /> {one.label}</span>)}</span>}
      </figcaption>
      <div ref={host} class="plot-host" style={{ height }} />
    </figure>
  );
}

const short = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(3)).toString() : "–");

/** Makes the plot show the axis's range, with its cursor at that of any linked plot. */
function follow(plot: uPlot, axis: TimeAxis): () => void {
  const endRange = axis.range.subscribe(([min, max]) => plot.setScale("x", { min, max }));
  const endCursor = axis.cursor.subscribe((at) => {
    const left = at === null ? -10 : plot.valToPos(at, "x");
    if (Math.abs((plot.cursor.left ?? -10) - left) > 0.5) plot.setCursor({ left, top: 10 }, false);
  });
  return () => (endRange(), endCursor());
}
