// The course of one trial over its cycles, which an average hides.
import { useMemo, useState } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { IntensityPlot, type IntensityRow } from "../charts/intensity_plot";
import { LinePlot, type Series } from "../charts/line_plot";
import { pan, timeAxis, zoom, type TimeAxis } from "../charts/time_axis";
import { binAt } from "../charts/time_axis_range";
import { rgb, viridis } from "../color";
import { largestOf } from "../extremes";
import { count, duration, grouped, percent } from "../format";
import { baseName, unique, type Profile } from "../profile";
import type { Lookups, Timeline } from "../result";
import { signal, useSignal, type Signal } from "../signal";

export function TimeLapse({ shown, change }: ViewProps) {
  return (
    <div class="page">
      {shown.map((profile) => (
        <section key={profile.key} aria-label={`Time-lapse of ${profile.label} on ${profile.kernel.gpu}`}>
          <h2 title={profile.kernel.name}>{profile.label} on {profile.kernel.gpu}</h2>
          <div class={profile.before ? "lapses" : undefined}>
            {(profile.before ? [profile.before, profile] : [profile]).map((one) => (
              <div key={one === profile ? "after" : "before"} role={profile.before && "group"} aria-label={profile.before && `In ${one.entry.label}`}>
                {profile.before && <h3 title={one.entry.label}>{one === profile ? "after" : "before"}: {baseName(one.entry.label)}</h3>}
                {one.kernel.timeline?.edges.length
                  ? <Lapse profile={one} timeline={one.kernel.timeline} show={(file, line) => change({ view: "source", file, line })} />
                  : <p class="note">This result has no time-lapse{one.kernel.time ? <>. Ask for it with <code>--timeline</code> when the program is profiled or its trace is modelled.</> : ": its trials have no clock."}</p>}
              </div>
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

const rates = (hits: number[], all: number[]) => all.map((lookups, bin) => (lookups ? hits[bin] / lookups : null));
const perCycle = ({ edges }: Timeline, counts: number[]) => counts.map((amount, bin) => amount / (edges[bin + 1] - edges[bin]));

type Channel = Timeline["channels"][number];
/** What a channel of memory does, as far as the result counts it. */
const dramUses = [
  { name: "reads", of: (channel: Channel) => channel.reads ?? [] },
  { name: "writes", of: (channel: Channel) => channel.writes ?? [] },
  { name: "row activations", of: (channel: Channel) => channel.activations ?? [] },
];
const hasUses = ({ channels }: Timeline) => channels.some((channel) => channel.reads);

const percentText = (value: number) => `${percent(value)} %`;

interface LapseProps {
  profile: Profile;
  timeline: Timeline;
  show(file: string, line: number): void;
}

function Lapse({ profile, timeline, show }: LapseProps) {
  const { edges } = timeline;
  const axis = useMemo(() => timeAxis([edges[0], edges[edges.length - 1]]), [timeline]);
  const readout = useMemo(() => signal(""), [timeline]);
  const [form, setForm] = useState<"intensity" | "lines">("intensity");
  const common = { timeline, axis, readout };
  return (
    <div class="lapse" tabIndex={0} role="group" onKeyDown={(event) => byKey(event, axis, edges)}
      aria-label="Linked plots. Left and right move the cursor, with Shift they pan; plus and minus zoom at the cursor, 0 shows all.">
      <Readout {...common} />
      <Rates {...common} />
      <InstructionsPerCycle {...common} />
      <Outstanding {...common} />
      <Dram {...common} />
      <ActiveLanes {...common} />
      <Lines {...common} profile={profile} show={show} />
      <p class="note choices">
        Units as{" "}
        {(["intensity", "lines"] as const).map((name) => (
          <button key={name} class="chip" aria-pressed={form === name} onClick={() => setForm(name)}>{name === "intensity" ? "rows of colour" : "one line each"}</button>
        ))}
      </p>
      <Units {...common} form={form} name="SM" units={timeline.sms} measures={[
        { name: "L1 hit rate", rate: true, of: (sm) => rates(sm.l1_hits, sm.l1_all) },
        { name: "requests", of: (sm) => sm.requests },
        ...(timeline.instructions ? [{ name: "instructions per cycle", of: (sm: Timeline["sms"][number]) => perCycle(timeline, sm.instructions ?? []) }] : []),
      ]} />
      <Units {...common} form={form} name="L2 slice" units={timeline.slices} measures={[
        { name: "hit rate", rate: true, of: (slice: Lookups) => rates(slice.hits, slice.all) },
        { name: "sectors looked up", of: (slice: Lookups) => slice.all },
      ]} />
      <Units {...common} form={form} name="DRAM channel" units={timeline.channels} measures={[
        { name: "requests not yet served", of: (channel) => channel.outstanding },
        { name: "requests", of: (channel) => channel.requests },
        ...(hasUses(timeline) ? dramUses.map(({ name, of }) => ({ name, of })) : []),
      ]} />
    </div>
  );
}

interface Common {
  timeline: Timeline;
  axis: TimeAxis;
  readout: Signal<string>;
}

function byKey(event: KeyboardEvent, axis: TimeAxis, edges: number[]) {
  const [from, to] = axis.range.value;
  const at = axis.cursor.value ?? (from + to) / 2;
  const moveTo = (bin: number) => {
    const to_ = Math.max(0, Math.min(edges.length - 2, bin));
    const middle = (edges[to_] + edges[to_ + 1]) / 2;
    if (middle < axis.range.value[0]) pan(axis, -0.5);
    if (middle > axis.range.value[1]) pan(axis, 0.5);
    axis.cursor.set(middle);
  };
  const actions: { [key: string]: () => void } = {
    ArrowLeft: () => (event.shiftKey ? pan(axis, -0.2) : moveTo(binAt(edges, at) - 1)),
    ArrowRight: () => (event.shiftKey ? pan(axis, 0.2) : moveTo(binAt(edges, at) + 1)),
    "+": () => zoom(axis, at, 0.6), "=": () => zoom(axis, at, 0.6), "-": () => zoom(axis, at, 1 / 0.6), "0": () => axis.range.set(axis.full),
  };
  if (event.target !== event.currentTarget || !actions[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  actions[event.key]();
}

/** Returns the time at this cycle, for people. */
const timeAt = ({ ns_per_cycle }: Timeline, cycle: number) => duration((cycle * ns_per_cycle) / 1000, 0);

function Readout({ timeline, axis, readout }: Common) {
  const cursor = useSignal(axis.cursor);
  const [from, to] = useSignal(axis.range);
  const pointed = useSignal(readout);
  const all = from === axis.full[0] && to === axis.full[1];
  const bin = cursor === null ? undefined : binAt(timeline.edges, cursor);
  const rate = ({ hits, all: lookups }: Lookups) => (lookups[bin!] ? percentText(hits[bin!] / lookups[bin!]) : "–");
  return (
    <div class="readout" aria-live="polite">
      <span>
        {bin === undefined
          ? `Trial ${timeline.trial}: ${all ? `all of its ${grouped(timeline.cycles)} cycles (${timeAt(timeline, timeline.cycles)}, ${grouped(timeline.requests)} requests)` : `cycles ${grouped(Math.round(from))} to ${grouped(Math.round(to))} of ${grouped(timeline.cycles)} (${timeAt(timeline, from)} to ${timeAt(timeline, to)})`}. Drag or turn the wheel to zoom, Shift and drag to pan.`
          : <>Cycles {grouped(timeline.edges[bin])} to {grouped(timeline.edges[bin + 1] - 1)} (from {timeAt(timeline, timeline.edges[bin])}): L1 <b>{rate(timeline.l1)}</b>, L2 <b>{rate(timeline.l2)}</b>, not yet answered <b>{count(timeline.outstanding[bin] ?? 0)}</b>{timeline.instructions && <>, IPC <b>{perCycle(timeline, timeline.instructions)[bin].toFixed(2)}</b></>}{pointed ? <> · <b>{pointed}</b></> : null}</>}
      </span>
      <span class="buttons">
        <button class="chip" aria-label="Zoom in" onClick={() => zoom(axis, (from + to) / 2, 0.6)}>+</button>
        <button class="chip" aria-label="Zoom out" onClick={() => zoom(axis, (from + to) / 2, 1 / 0.6)}>−</button>
        <button class="chip" aria-label="Earlier" onClick={() => pan(axis, -0.3)}>◀</button>
        <button class="chip" aria-label="Later" onClick={() => pan(axis, 0.3)}>▶</button>
        <button class="chip" disabled={all} onClick={() => axis.range.set(axis.full)}>all</button>
      </span>
    </div>
  );
}

/** Returns the middles of the bins. */
const useMiddles = (edges: number[]) => useMemo(() => edges.slice(1).map((edge, bin) => (edge + edges[bin]) / 2), [edges]);

const axisLabel = "cycles of the SM clock";
const rateRange: [number, number] = [0, 100];
const inPercent = (values: (number | null)[]) => values.map((value) => (value === null ? null : 100 * value));

function Rates({ timeline, axis }: Common) {
  const x = useMiddles(timeline.edges);
  const series = useMemo<Series[]>(() => [
    { label: "L1", color: 0, values: inPercent(rates(timeline.l1.hits, timeline.l1.all)) },
    { label: "L2", color: 1, values: inPercent(rates(timeline.l2.hits, timeline.l2.all)) },
  ], [timeline]);
  return <LinePlot title="Hit rates, %" height={166} x={x} xLabel={axisLabel} series={series} axis={axis} range={rateRange} />;
}

function InstructionsPerCycle({ timeline, axis }: Common) {
  const x = useMiddles(timeline.edges);
  const series = useMemo<Series[]>(() => [{ label: "IPC", color: 0, values: perCycle(timeline, timeline.instructions ?? []), fill: true }], [timeline]);
  return timeline.instructions ? <LinePlot title="Instructions of warps per cycle, all SMs" height={136} x={x} xLabel={axisLabel} series={series} axis={axis} /> : null;
}

function Dram({ timeline, axis }: Common) {
  const x = useMiddles(timeline.edges);
  const series = useMemo<Series[]>(() => dramUses.map(({ name, of }, color) => ({
    label: name, color, values: x.map((_, bin) => timeline.channels.reduce((sum, channel) => sum + (of(channel)[bin] ?? 0), 0)),
  })), [timeline, x]);
  return hasUses(timeline) ? <LinePlot title="DRAM: lines read, lines written, rows activated" height={136} x={x} xLabel={axisLabel} series={series} axis={axis} limits={[0, Infinity]} /> : null;
}

function Outstanding({ timeline, axis }: Common) {
  const x = useMiddles(timeline.edges);
  const series = useMemo<Series[]>(() => [{ label: "requests", color: 0, values: timeline.outstanding, fill: true }], [timeline]);
  return <LinePlot title="Requests issued but not yet answered" height={136} x={x} xLabel={axisLabel} series={series} axis={axis} />;
}

function ActiveLanes({ timeline, axis }: Common) {
  const x = useMiddles(timeline.edges);
  const series = useMemo<Series[]>(() => {
    const rows = timeline.active_lanes;
    const totals = x.map((_, bin) => rows.reduce((sum, row) => sum + row[bin], 0));
    // The areas are stacked from the fullest warps up, and drawn from the top down so that each covers the part below its edge.
    let below = x.map(() => 0);
    const layers = rows.map((_, index) => rows.length - 1 - index).map((row) => {
      below = below.map((value, bin) => value + (totals[bin] ? (100 * rows[row][bin]) / totals[bin] : 0));
      const color = rgb(viridis(row / (rows.length - 1)));
      return { label: `${4 * row + 1}–${4 * row + 4}`, color, values: below, fill: color };
    });
    return layers.reverse();
  }, [timeline, x]);
  return <LinePlot title="Requests by active lanes, %" height={136} x={x} xLabel={axisLabel} series={series} axis={axis} range={rateRange} />;
}

const mostLines = 24;

function Lines({ timeline, axis, readout, profile, show }: Common & { profile: Profile; show(file: string, line: number): void }) {
  const { rows, lines, most } = useMemo(() => {
    const sum = (counts: number[]) => counts.reduce((total, value) => total + value, 0);
    const busiest = [...timeline.lines].sort((a, b) => sum(b.counts) - sum(a.counts)).slice(0, mostLines);
    const lines = busiest.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
    const severalFiles = unique(lines.map((line) => line.file)).length > 1;
    const rows: IntensityRow[] = lines.map(({ file, line, counts }) => ({ label: severalFiles ? `${baseName(file)}:${line}` : `line ${line}`, values: counts.map((value) => value || null) }));
    return { rows, lines, most: lines.reduce((most, line) => largestOf(line.counts, most), 1) };
  }, [timeline, profile]);
  const left = timeline.lines.length - lines.length;
  return (
    <IntensityPlot title={`Executions of source lines${left > 0 ? ` (the ${mostLines} busiest of ${timeline.lines.length})` : ""}`} edges={timeline.edges} rows={rows} rowHeight={14}
        range={[0, most]} text={(value) => count(value)} axis={axis} readout={readout} choose={(row) => lines[row] && show(lines[row].file, lines[row].line)} />
  );
}

/** Returns the range from 0 to the largest; for rates from the lowest to the highest, in steps of 10 %, so that small differences show too. */
function rangeOf(rows: IntensityRow[], rates: boolean): [number, number] {
  let [low, high] = [Infinity, 0];
  for (const { values } of rows)
    for (const value of values) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!rates) return [0, high || 1];
  if (low > high) return [0, 1];
  const [from, to] = [Math.floor(low * 10) / 10, Math.ceil(high * 10) / 10];
  return from < to ? [from, to] : [Math.max(0, from - 0.1), Math.min(1, to + 0.1)];
}

interface UnitsProps<Unit> extends Common {
  name: string;
  units: Unit[];
  form: "intensity" | "lines";
  measures: { name: string; rate?: boolean; of(unit: Unit): (number | null)[] }[];
}

function Units<Unit>({ timeline, axis, readout, name, units, form, measures }: UnitsProps<Unit>) {
  const [chosen, setChosen] = useState(0);
  const x = useMiddles(timeline.edges);
  const measure = measures[chosen];
  const rows = useMemo(() => units.map((unit, index): IntensityRow => ({ label: `${name.replace(/^.* /, "")} ${index}`, values: measure.of(unit) })), [timeline, chosen]);
  const range = useMemo(() => rangeOf(rows, Boolean(measure.rate)), [rows]);
  const series = useMemo<Series[]>(() => rows.map((row, index) => ({
    label: row.label, color: index, faint: rows.length > 6, values: measure.rate ? inPercent(row.values) : row.values,
  })), [rows]);
  if (units.length === 0) return null;
  const title = `${name}s: ${measure.name}`;
  return (
    <div class="units">
      <label class="measure">
        {name}s:{" "}
        <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
          {measures.map((one, index) => <option key={one.name} value={index}>{one.name}</option>)}
        </select>
      </label>
      {form === "intensity"
        ? <IntensityPlot title={title} edges={timeline.edges} rows={rows} range={range} text={measure.rate ? percentText : (value) => count(Number(value.toPrecision(3)))} axis={axis} readout={readout} />
        : <LinePlot title={measure.rate ? `${title}, %` : title} height={206} x={x} xLabel={axisLabel} series={series} axis={axis} range={measure.rate ? rateRange : undefined} />}
    </div>
  );
}
