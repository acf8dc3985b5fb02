// The target and the counters that explain it over the runs, each from its least to its largest value.
import { useMemo } from "preact/hooks";
import { LinePlot, type Series } from "../../charts/line_plot";
import { largestOf, smallestOf } from "../../extremes";
import { counterName, type Region, type Significance } from "../../significance";

const scaled = (values: (number | null)[]) => {
  const low = smallestOf(values), range = largestOf(values) - low;
  return values.map((value) => (value === null ? null : range > 0 ? (value - low) / range : 0));
};

/** Returns the parameter that orders the runs: the only one that differs, if it is a number. */
function parameterOf(regions: Region[]): string | null {
  const runs = regions.flatMap((region) => region.runs);
  const names = Object.keys(runs[0]?.params ?? {}).filter((name) => new Set(runs.map((run) => run.params[name])).size > 1);
  return names.length === 1 && runs.every((run) => run.params[names[0]] !== "" && Number.isFinite(Number(run.params[names[0]]))) ? names[0] : null;
}

/** Returns the places of the region's runs in ascending order of the parameter; else as they are. */
const orderOf = (region: Region, parameter: string | null) => {
  const order = region.runs.map((_, index) => index);
  return parameter ? order.sort((a, b) => Number(region.runs[a].params[parameter]) - Number(region.runs[b].params[parameter])) : order;
};

export function CounterLines({ region, target, colors }: { region: Region; target: string; colors: Map<string, number> }) {
  const [x, series, parameter] = useMemo(() => {
    const parameter = parameterOf([region]);
    const order = orderOf(region, parameter);
    const place = (values: (number | null)[]) => scaled(order.map((run) => values[run] ?? null));
    const series: Series[] = [];
    for (const resource of region.resources ?? [])
      for (const counter of resource.counters)
        if (counter.values) series.push({ label: `${resource.name} ${counterName(counter)}`, color: colors.get(resource.name) ?? 0, values: place(counter.values) });
    series.push({ label: target, color: "var(--ink)", bold: true, values: place(region.runs.map((run) => run.target ?? null)) });
    return [order.map((run, index) => (parameter ? Number(region.runs[run].params[parameter]) : index)), series, parameter] as const;
  }, [region, target, colors]);
  if (x.length < 2) return null;
  return <LinePlot title={`Counters of ${region.name}, least 0, largest 1`} height={240} x={x} xLabel={parameter ?? "run"} series={series} range={[-0.05, 1.05]} />;
}

export function TargetLines({ found }: { found: Significance }) {
  const [x, series, parameter] = useMemo(() => {
    const regions = found.regions.filter((region) => region.runs.length > 1);
    const parameter = parameterOf(regions);
    const placeOf = (region: Region, index: number) => (parameter ? Number(region.runs[index].params[parameter]) : index);
    const x = [...new Set(regions.flatMap((region) => region.runs.map((_, index) => placeOf(region, index))))].sort((a, b) => a - b);
    const series = regions.map((region, color): Series => {
      const at = new Map(region.runs.map((run, index) => [placeOf(region, index), run.target ?? null]));
      return { label: region.name, color, values: x.map((place) => at.get(place) ?? null) };
    });
    return [x, series, parameter] as const;
  }, [found]);
  if (x.length < 2) return null;
  return <LinePlot title={`Target ${found.target} of each kernel`} height={220} x={x} xLabel={parameter ?? "run"} series={series} />;
}
