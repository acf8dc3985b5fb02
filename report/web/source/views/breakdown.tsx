// The paper's figures: latency by level for each access (Fig. 8), distributions over trials (Fig. 5 and 6), convergence (Fig. 7).
import { useMemo, useState } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { Histogram } from "../charts/histogram";
import { LinePlot } from "../charts/line_plot";
import { LevelLegend, partsOf, StackedBar } from "../charts/stacked_bar";
import { runningMeans } from "../convergence";
import { largestOf } from "../extremes";
import { nanoseconds, percent } from "../format";
import { baseName, costOf, unique, type Profile } from "../profile";
import { InstructionMix } from "./instruction_mix";
import { latencyLevels, type Kernel, type Site, type Statistic, type Total } from "../result";

export const totalNames: { id: Total; name: string; unit: string; text(value: number): string }[] = [
  { id: "l1_read_hit_rate", name: "L1 read hit rate", unit: "%", text: percent },
  { id: "l2_read_hit_rate", name: "L2 read hit rate", unit: "%", text: percent },
  { id: "l2_write_hit_rate", name: "L2 write hit rate", unit: "%", text: percent },
  { id: "constant_hit_rate", name: "constant hit rate", unit: "%", text: percent },
  { id: "constant_group_hit_rate", name: "constant hit rate of groups", unit: "%", text: percent },
  { id: "dram_latency_ns", name: "DRAM latency", unit: "ns", text: nanoseconds },
];

const distributions: { name: string; unit: string; text(value: number): string; of(kernel: Kernel): Statistic | undefined }[] = [
  { name: "time of the launch", unit: "µs", text: (value) => value.toFixed(1), of: (kernel) => kernel.time?.microseconds },
  ...totalNames.map((total) => ({ ...total, of: (kernel: Kernel) => kernel.totals[total.id] })),
];

/** The figures whose value in each trial is kept. */
const trialFigures: { id: keyof NonNullable<Kernel["trial_values"]>; name: string; unit: string }[] = [
  { id: "cycles", name: "time of the snapshot", unit: "cycles" },
  ...totalNames,
];

interface Configuration {
  name: string;
  profile: Profile;
  /** The sites of the profile before a change → those after it. */
  counterpart?: Map<Site, Site>;
}

export function Breakdown(props: ViewProps) {
  const configurations = props.shown.flatMap((profile) => {
    const name = `${profile.label} · ${profile.kernel.gpu}`;
    return profile.before ? [
      { name: `${name}, before`, profile: profile.before, counterpart: new Map([...profile.siteBefore].map(([now, was]) => [was, now])) },
      { name: `${name}, after`, profile },
    ] : [{ name, profile }];
  });
  return (
    <div class="page">
      <LatencyByLevel {...props} configurations={configurations} />
      <InstructionMix {...props} />
      <section>
        <h2>Distribution over the trials</h2>
        <p class="note">Each trial draws one order of the warps. How wide these are is how much that order matters; the line below each marks mean ± 2 standard deviations.</p>
        <div class="small-multiples">
          {configurations.map(({ name, profile }) => distributions.map(({ of, name: total, unit, text }) => {
            const statistic = of(profile.kernel);
            return statistic && (
              <figure key={name + total}>
                <figcaption>{total} <span class="note">{name}</span><br /><b>{text(statistic.mean)}</b> ± {text(2 * statistic.std)} {unit}</figcaption>
                <Histogram statistic={statistic} text={text} unit={unit} label={`${total}, ${name}`} />
              </figure>
            );
          }))}
        </div>
      </section>
      <Convergence configurations={configurations} />
    </div>
  );
}

const accessKey = (site: Site) => `${site.file}\n${site.line}\n${site.column}\n${site.kind}\n${site.expression}`;

function LatencyByLevel({ configurations, change }: ViewProps & { configurations: Configuration[] }) {
  const [all, setAll] = useState(false);
  const accesses = useMemo(() => {
    const byAccess = new Map<string, { site: Site; cost: number; of: Map<Configuration, Site> }>();
    for (const configuration of configurations)
      for (const site of configuration.profile.kernel.sites) {
        if (!site.latency_ns || partsOf(site).length === 0) continue;
        const now = configuration.counterpart ? configuration.counterpart.get(site) : site;
        const key = now ? accessKey(now) : `before\n${accessKey(site)}`;
        const access = byAccess.get(key) ?? { site: now ?? site, cost: 0, of: new Map() };
        access.cost += costOf(site);
        access.of.set(configuration, site);
        byAccess.set(key, access);
      }
    return [...byAccess.values()].sort((a, b) => b.cost - a.cost);
  }, [configurations.map((one) => one.name).join()]);
  const listed = all ? accesses : accesses.slice(0, 16);
  const largest = largestOf(listed.flatMap((access) => [...access.of.values()].map((site) => site.latency_ns!.mean)), 1);
  const levels = latencyLevels.filter((level) => listed.some((access) => [...access.of.values()].some((site) => partsOf(site).some((part) => part.level === level))));
  return (
    <section>
      <h2>Expected latency of each access, by where it was decided</h2>
      <p class="note">A request waits for the slowest of its transactions. Each bar divides the mean latency by where that one was served. Costliest accesses first.</p>
      {accesses.length === 0 ? <p class="note">This result does not divide latencies by level.</p> : <LevelLegend levels={levels} />}
      <table class="latencies">
        <tbody>
          {listed.map(({ site, of }) => configurations.filter((one) => of.has(one)).map((configuration, index, rows) => {
            const own = of.get(configuration)!;
            return (
              <tr key={accessKey(site) + configuration.name} class={index === 0 ? "first" : ""}>
                {index === 0 && (
                  <th scope="rowgroup" rowSpan={rows.length}>
                    <button class="link" onClick={() => change({ view: "source", file: site.file, line: site.line })}>
                      <code>{site.expression.replace(/\s+/g, " ")}</code> <span class="place">{baseName(site.file)}:{site.line}</span>
                    </button>
                  </th>
                )}
                {configurations.length > 1 && <td class="configuration">{configuration.name}</td>}
                <td class="bars"><StackedBar site={own} largest={largest} /></td>
                <td class="num">{nanoseconds(own.latency_ns!.mean)} ns</td>
              </tr>
            );
          }))}
        </tbody>
      </table>
      {accesses.length > listed.length && <button class="chip" onClick={() => setAll(true)}>all {accesses.length} accesses</button>}
    </section>
  );
}

function Convergence({ configurations }: { configurations: Configuration[] }) {
  const plots = trialFigures.map((figure) => ({
    figure,
    series: configurations.map(({ name, profile }) => ({ name, means: runningMeans(profile.kernel.trial_values?.[figure.id] ?? []) })).filter((one) => one.means.length > 1),
  })).filter((plot) => plot.series.length);
  return (
    <section>
      <h2>Convergence</h2>
      <p class="note">The mean of the first n trials, and its 95 % interval. Flat and narrow: more trials would say the same.</p>
      {plots.length === 0 && <p class="note">This result does not hold the values of single trials.</p>}
      <div class="plots-grid">
        {plots.map(({ figure, series }) => {
          const longest = largestOf(series.map((one) => one.means.length));
          const scale = figure.unit === "%" ? 100 : 1;
          const column = (means: ReturnType<typeof runningMeans>, of: (mean: ReturnType<typeof runningMeans>[0]) => number | undefined) =>
            Array.from({ length: longest }, (_, index) => (means[index] && of(means[index]) !== undefined ? of(means[index])! * scale : null));
          return (
            <LinePlot key={figure.id + series.map((one) => one.name).join()} title={`${figure.name}, ${figure.unit}`} height={210}
              x={Array.from({ length: longest }, (_, index) => index + 1)} xLabel="trials" limits={figure.unit === "%" ? [0, 100] : [0, Infinity]}
              series={series.flatMap(({ name, means }, index) => [
                  { label: unique(series.map((one) => one.name)).length > 1 ? name : "mean", color: index, values: column(means, (mean) => mean.mean) },
                  { label: "low", color: index, hidden: true, values: column(means, (mean) => mean.low) },
                  { label: "high", color: index, hidden: true, bandWith: -1, values: column(means, (mean) => mean.high) },
              ])} />
          );
        })}
      </div>
    </section>
  );
}
