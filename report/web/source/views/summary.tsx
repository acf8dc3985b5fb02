// The first screen's answer, in order: the most expensive lines, the reasons, and the uncertainty.
import { accuracyOf } from "../accuracy";
import { absent, bytes, counted, percent } from "../format";
import { baseName, changesOf, costShare, hotLines, unique, type HotLine, type Profile } from "../profile";
import type { Kernel, Statistic } from "../result";
import type { ViewProps } from "../view_props";
import { largestOf } from "../extremes";
import { changeOf, costFigure, figureOf } from "../figures";
import { KernelTimes } from "./kernel_time";
import { MeasuredCells, MeasuredHeadings, MeasuredTable } from "./measured";

const listed = 6;

export function Summary({ shown, state, change }: ViewProps) {
  return (
    <section class="summary">
      <KernelTimes shown={shown} />
      <div class="costs">
        <h2>Which lines cost most, and why <span class="note">share of the {shown.every((profile) => profile.kernel.time) ? "time" : "latency"}</span></h2>
        {shown.map((profile) => (
          <HotList key={profile.key} profile={profile} named={shown.length > 1}
            current={(file, line) => state.file === file && state.line === line}
            jump={(file, line) => change({ file, line })} />
        ))}
      </div>
      <div class="sure" role="region" aria-label="How sure this is" tabIndex={0}>
        <h2>How sure this is</h2>
        {shown.map((profile) => <Sureness key={profile.key} profile={profile} named={shown.length > 1} />)}
      </div>
    </section>
  );
}

interface HotListProps {
  profile: Profile;
  named: boolean;
  current(file: string, line: number): boolean;
  jump(file: string, line: number): void;
}

function HotList({ profile, named, current, jump }: HotListProps) {
  const lines = hotLines(profile);
  if (lines.length === 0) return <p class="note">{profile.label} executed no access that was probed.</p>;
  const most = largestOf(lines.map((line) => line.share), 1e-9);
  const manyFiles = unique(lines.map((line) => line.file)).length > 1;
  return (
    <>
      {named && <h3 title={profile.kernel.name}>{profile.label} on {profile.kernel.gpu}</h3>}
      <ol class="hot">
        {lines.slice(0, named ? 3 : listed).map((line) => {
          const difference = changeOf(figureOf(costFigure(profile.kernel))!, changesOf(profile, line.sites));
          return (
            <li key={`${line.file}:${line.line}`}>
              <button aria-current={current(line.file, line.line) ? "true" : undefined} onClick={() => jump(line.file, line.line)}>
                <span class="share">
                  <i style={{ width: `${(100 * line.share) / most}%` }} />
                  <b>{percent(line.share)} %</b>
                </span>
                <span class="what">
                  <code>{expressionsOf(profile.kernel, line)}</code>
                  <span class="place">{manyFiles ? `${baseName(line.file)}:` : "line "}{line.line}</span>
                  {difference && difference.text !== "=" && <span class="was">{difference.text} points</span>}
                </span>
                <span class="why">{line.verdict ?? ""}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The costliest come first: there may be no room for more. */
function expressionsOf(kernel: Kernel, line: HotLine): string {
  const sites = [...line.sites].sort((a, b) => costShare(kernel, b) - costShare(kernel, a));
  return unique(sites.map((site) => site.expression.replace(/\s+/g, " "))).join(", ");
}

function Sureness({ profile, named }: { profile: Profile; named: boolean }) {
  const { kernel, entry } = profile;
  const probed = entry.result.coverage.executed_accesses_probed;
  const spreads = totals.some((total) => total.of(kernel)?.std_of_machine !== undefined) ? dividedSpread : spreadOverTrials;
  return (
    <div class="sureness">
      {named && <h3 title={kernel.name}>{profile.label} on {kernel.gpu}</h3>}
      <p>
        <span class={`badge ${kernel.accuracy?.gpu === kernel.gpu ? "good" : "warn"}`}>{accuracyOf(kernel)}</span>{" "}
        {kernel.snapshot.warp_accesses === 0 ? <span class="badge warn">! no access to memory was traced, and nothing else is modelled</span>
          : !totals.some((total) => total.of(kernel)) ? <span class="badge warn">! nothing varies over trials that could agree</span>
          : kernel.trials.converged ? <span class="badge good">✓ {kernel.trials.run} trials agree</span>
          : <span class="badge warn">! {kernel.trials.run} trials do not agree yet</span>}
        {entry.result.trace_truncated && <span class="badge warn">! the trace was cut short</span>}
        {kernel.snapshot.complete === false && <span class="badge warn">! the snapshot is incomplete</span>}
      </p>
      {kernel.trials.drawn && <p class="note">Not known of this GPU, and drawn for every two trials: {kernel.trials.drawn.join(", ")}.</p>}
      {profile.comparison?.times && <p class="note"><b>{profile.comparison.times}</b></p>}
      {profile.comparison?.l2_starts && <p class="note"><b>{profile.comparison.l2_starts}</b></p>}
      {profile.comparison?.snapshots && <p class="note"><b>{profile.comparison.snapshots}</b></p>}
      <table class="totals">
        <thead><tr><th scope="col">whole kernel</th>{profile.before && <th scope="col">before</th>}<th scope="col">mean</th><MeasuredHeadings profile={profile} />{spreads.map(({ heading }) => <th key={heading} scope="col">{heading}</th>)}<th scope="col">95 % of the mean</th></tr></thead>
        <tbody>{totals.map((total) => <TotalRow key={total.figure} {...total} spreads={spreads} profile={profile} />)}</tbody>
      </table>
      <MeasuredTable profile={profile} shown={totals.filter((total) => total.of(kernel)).map((total) => total.figure)} />
      <p class="note">{basis(kernel, probed)}</p>
    </div>
  );
}

interface TotalFigure {
  name: string;
  /** The name in `warplens diff`. */
  figure: string;
  of(kernel: Kernel): Statistic | undefined;
  text(value: number): string;
}

const oneDecimal = (value: number) => value.toFixed(1);

const totals: TotalFigure[] = [
  { name: "time, µs", figure: "microseconds", of: (kernel) => kernel.time?.microseconds, text: oneDecimal },
  { name: "L1 read hits, %", figure: "l1_read_hit_rate", of: (kernel) => kernel.totals.l1_read_hit_rate, text: percent },
  { name: "L2 read hits, %", figure: "l2_read_hit_rate", of: (kernel) => kernel.totals.l2_read_hit_rate, text: percent },
  { name: "L2 write hits, %", figure: "l2_write_hit_rate", of: (kernel) => kernel.totals.l2_write_hit_rate, text: percent },
  { name: "constant hits, %", figure: "constant_hit_rate", of: (kernel) => kernel.totals.constant_hit_rate, text: percent },
  { name: "… of a group of SMs, %", figure: "constant_group_hit_rate", of: (kernel) => kernel.totals.constant_group_hit_rate, text: percent },
  { name: "DRAM latency, ns", figure: "dram_latency_ns", of: (kernel) => kernel.totals.dram_latency_ns, text: oneDecimal },
];

interface Spread {
  heading: string;
  /** Absent if the figure's spread is not divided. */
  std(statistic: Statistic): number | undefined;
}

const spreadOverTrials: Spread[] = [{ heading: "± 2 std over trials", std: ({ std }) => std }];

/** The spread by its cause: the unknown order, and what is not known of the machine. */
const dividedSpread: Spread[] = [
  { heading: "± order (2 std)", std: ({ std, std_of_machine = 0 }) => Math.sqrt(Math.max(0, std ** 2 - std_of_machine ** 2)) },
  { heading: "± machine (2 std)", std: ({ std_of_machine }) => std_of_machine },
];

function TotalRow({ name, figure, of, text, spreads, profile }: TotalFigure & { spreads: Spread[]; profile: Profile }) {
  const now = of(profile.kernel);
  const was = profile.before && of(profile.before.kernel);
  if (!now && !was) return null;
  const beyond = profile.comparison?.totals.find((change) => change.figure === figure)?.beyond_interval;
  const spreadOf = (spread: Spread) => {
    const std = now && spread.std(now);
    return std === undefined ? absent : text(2 * std);
  };
  return (
    <tr>
      <th scope="row">{name}</th>
      {profile.before && <td>{was ? text(was.mean) : absent}</td>}
      <td class={beyond ? "beyond" : ""}>{now ? text(now.mean) : absent}{beyond ? " ◆" : ""}</td>
      <MeasuredCells profile={profile} figure={figure} />
      {spreads.map((spread) => <td key={spread.heading}>{spreadOf(spread)}</td>)}
      <td>{now ? `${text(now.ci95[0])} … ${text(now.ci95[1])}` : absent}</td>
    </tr>
  );
}

function registers({ compiled }: Kernel): string {
  if (!compiled) return "Registers are not known.";
  const from = compiled.architecture ? ` (ptxas, ${compiled.assumed ? "assumed from " : ""}${compiled.architecture})` : "";
  const spilled = Math.max(compiled.spill_store_bytes ?? 0, compiled.spill_load_bytes ?? 0);
  return `${compiled.registers} registers per thread${from}${spilled ? `, ${spilled} bytes spilled` : ""}.`;
}

function basis(kernel: Kernel, probed: number | undefined): string {
  const { snapshot, occupancy } = kernel;
  const parts = [
    `Snapshot: ${counted(snapshot.blocks, "block")}, ${counted(snapshot.warp_accesses, "request")}${snapshot.limit ? ` (${snapshot.limit})` : ""}.`,
    kernel.compiled ? `${counted(occupancy.blocks_per_sm, "block")} per SM, limited by ${occupancy.limited_by}.`
      : `At most ${counted(occupancy.blocks_per_sm, "block")} per SM, limited by ${occupancy.limited_by} if not by registers.`,
    registers(kernel),
  ];
  if (kernel.executed)
    parts.push(`Its warps execute ${counted(kernel.executed.instructions, "instruction")} of ${kernel.executed.architecture}, ${kernel.executed.per_cycle.mean.toFixed(2)} per cycle and SM.`);
  if (probed !== undefined) parts.push(`${percent(probed)} % of the executed accesses were seen.`);
  const start = kernel.l2_start;
  if (start) parts.push(start.warm ? `The L2 starts warm: ${bytes(start.bytes)} ${start.why}.` : `The L2 starts cold: ${start.why}.`);
  if (kernel.totals.cold_miss_share !== undefined)
    parts.push(`${percent(kernel.totals.cold_miss_share)} % of the L2's read misses are first touches.`);
  return parts.join(" ");
}
