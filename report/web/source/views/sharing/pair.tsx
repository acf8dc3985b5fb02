// Kernels beside each other: how much longer each takes, what they fight for, and the course of one trial.
import { useMemo } from "preact/hooks";
import { resourceNames } from "../../charts/resource_bars";
import { LinePlot, type Series } from "../../charts/line_plot";
import { RatioBar } from "../../charts/ratio_bar";
import { timeAxis } from "../../charts/time_axis";
import { duration, signed } from "../../format";
import { resources } from "../../result";
import type { CorunKernel, CorunTrials, PairTimeline } from "../../sharing";

const divisions: Record<string, string> = { streams: "as streams", sms: "each on SMs of its own", blocks: "each with a number of blocks on an SM", mig: "each in an instance of MIG" };

function placeOf(kernel: CorunKernel, division: string): string {
  if (division === "blocks") return `${kernel.max_per_sm} blocks on an SM`;
  if (division === "mig") return `${kernel.slices} slices, ${kernel.sms} SMs`;
  return division === "sms" ? `${kernel.sms} SMs` : "";
}

export function Pair({ report }: { report: CorunTrials }) {
  const largest = Math.max(2, ...report.kernels.map((kernel) => 1.05 * Math.max(kernel.slow_down.ci95[1], kernel.estimate ?? 0)));
  const what = report.what_if;
  return (
    <>
      <section aria-label="Slow-downs">
        <h2>{report.kernels.length} kernels beside each other, {divisions[report.division]}{report.policy && ` (${report.policy})`}</h2>
        {what && <p class="note">On a machine that does not exist: {[what.kernels_in_turn && "kernels take turns to issue first", what.own_queues && "each has its own queue to memory", what.front_end > 1 && `a scheduler issues from ${what.front_end} warps at once`].filter(Boolean).join(", ")}.</p>}
        <table class="slow-downs">
          <thead><tr><th>kernel</th><th>slow-down</th><td /><th>alone</th><th>beside</th>{report.kernels.some((one) => one.estimate !== undefined) ? <th>by CD3</th> : <td />}<td /></tr></thead>
          <tbody>
            {report.kernels.map((kernel, index) => (
              <tr key={index}>
                <th scope="row" title={kernel.name}>{kernel.name}</th>
                <td class="number"><b>{kernel.slow_down.mean.toFixed(2)} ×</b></td>
                <td><RatioBar value={kernel.slow_down.mean} interval={kernel.slow_down.ci95} estimate={kernel.estimate} largest={largest} label={`${kernel.slow_down.mean.toFixed(2)} ×, 95 % interval ${kernel.slow_down.ci95.map((end) => end.toFixed(2)).join(" to ")}`} /></td>
                <td class="number">{duration(kernel.alone_us.mean, 0)}</td>
                <td class="number">{duration(kernel.beside_us.mean, 0)}</td>
                <td class="number">{kernel.estimate !== undefined && `${kernel.estimate.toFixed(2)} ×`}</td>
                <td>{placeOf(kernel, report.division)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          <b>{gain(report.speed_up.mean - 1)}</b> over one after the other, for the work until each had ended: {report.kernels.map((kernel) => kernel.laps.toFixed(2)).join(" and ")} launches.
        </p>
        {report.kernels.filter((kernel) => kernel.repeats_part).map((kernel) => <p key={kernel.name}>{kernel.name} repeats a part of its launch, which the L2 holds: it hits there more often than further blocks would.</p>)}
        {report.contention.length > 0 && <ul aria-label="What they fight for">{report.contention.map((one) => <li key={one}>They fight for {one}.</li>)}</ul>}
      </section>
      <Busy report={report} />
      {report.timeline && <PairLapse timeline={report.timeline} names={report.kernels.map((kernel) => kernel.name)} />}
    </>
  );
}

const gain = (share: number) => signed(`${(100 * share).toFixed(1)} %`, share);

/** Resources that are busy for less than this share everywhere are left out. */
const notable = 0.02;

function Busy({ report }: { report: CorunTrials }) {
  const shares = (resource: (typeof resources)[number]) => [...report.kernels.map((kernel) => kernel.busy_alone[resource] ?? 0), report.busy[resource] ?? 0];
  const shown = resources.filter((resource) => Math.max(...shares(resource)) >= notable);
  if (shown.length === 0) return null;
  return (
    <section aria-label="Resources">
      <h2>How busy each resource is</h2>
      <table class="busy">
        <thead><tr><th>resource</th>{report.kernels.map((kernel, index) => <th key={index} title={kernel.name}>{kernel.name} alone</th>)}<th>together</th></tr></thead>
        <tbody>
          {shown.map((resource) => (
            <tr key={resource}>
              <th scope="row">{resourceNames[resource]}</th>
              {shares(resource).map((share, index) => <td key={index} class="number"><span class="share-cell"><i style={{ width: `${100 * share}%` }} /></span> {(100 * share).toFixed(0)} %</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const perBin = (hits: number[], all: number[]) => all.map((one, bin) => (one ? (100 * hits[bin]) / one : null));

function PairLapse({ timeline, names }: { timeline: PairTimeline; names: string[] }) {
  const axis = useMemo(() => timeAxis([timeline.edges[0], timeline.edges[timeline.edges.length - 1]]), [timeline]);
  const x = useMemo(() => timeline.edges.slice(1).map((edge, bin) => (edge + timeline.edges[bin]) / 2), [timeline]);
  const common = { x, xLabel: "cycles of the SM clock", axis };
  const series = (values: (kernel: PairTimeline["kernels"][number]) => (number | null)[], fill?: true): Series[] =>
    timeline.kernels.map((kernel, index) => ({ label: names[index], color: index, values: values(kernel), fill }));
  return (
    <section class="lapse" aria-label="Time-lapse of one trial">
      <h2>One trial, until each has ended once ({duration((timeline.cycles * timeline.ns_per_cycle) / 1000, 0)})</h2>
      <p class="note">A kernel that ends sooner starts again. Drag to zoom into a range, double click for all.</p>
      <LinePlot {...common} title="Accesses that warps issue, by kernel" height={180} series={series((kernel) => kernel.requests, true)} />
      <LinePlot {...common} title="L1 hit rates, %, by kernel" height={160} range={[0, 100]} series={series((kernel) => perBin(kernel.l1_hits, kernel.l1_all))} />
      <LinePlot {...common} title="L2 hit rate of all loads, %" height={140} range={[0, 100]} series={[{ label: "L2", color: 2, values: perBin(timeline.l2_hits, timeline.l2_all) }]} />
      <LinePlot {...common} title="Lines that DRAM reads or writes, of all kernels" height={140} series={[{ label: "lines", color: 3, values: timeline.dram_lines, fill: true }]} />
    </section>
  );
}
