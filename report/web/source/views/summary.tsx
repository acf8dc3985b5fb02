// The first screen's answer, in order: the most expensive lines, the reasons, and the uncertainty.
import { absent, bytes, grouped, percent } from "../format";
import { baseName, changesOf, hotLines, unique, type HotLine, type Profile } from "../profile";
import type { Kernel, Statistic } from "../result";
import type { ViewProps } from "../view_props";
import { largestOf } from "../extremes";
import { changeOf, figureOf } from "../figures";

const share = figureOf("share")!;
const listed = 6;

export function Summary({ shown, state, change }: ViewProps) {
  return (
    <section class="summary">
      <div class="costs">
        <h2>Which lines cost most, and why</h2>
        {shown.map((profile) => (
          <HotList key={profile.key} profile={profile} named={shown.length > 1}
            current={(file, line) => state.file === file && state.line === line}
            jump={(file, line) => change({ file, line })} />
        ))}
      </div>
      <div class="sure">
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
          const difference = changeOf(share, changesOf(profile, line.sites));
          return (
            <li key={`${line.file}:${line.line}`}>
              <button aria-current={current(line.file, line.line) ? "true" : undefined} onClick={() => jump(line.file, line.line)}>
                <span class="share">
                  <i style={{ width: `${(100 * line.share) / most}%` }} />
                  <b>{percent(line.share)} %</b>
                </span>
                <span class="what">
                  <code>{expressionsOf(line)}</code>
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
function expressionsOf(line: HotLine): string {
  const sites = [...line.sites].sort((a, b) => (b.latency_share ?? 0) - (a.latency_share ?? 0));
  return unique(sites.map((site) => site.expression.replace(/\s+/g, " "))).join(", ");
}

function Sureness({ profile, named }: { profile: Profile; named: boolean }) {
  const { kernel, entry } = profile;
  const probed = entry.result.coverage.executed_accesses_probed;
  return (
    <div class="sureness">
      {named && <h3 title={kernel.name}>{profile.label} on {kernel.gpu}</h3>}
      <p>
        {kernel.gpu_validated ? <span class="badge good">✓ model validated on {kernel.gpu}</span>
          : <span class="badge warn">! model not validated on {kernel.gpu}</span>}{" "}
        {kernel.trials.converged ? <span class="badge good">✓ {kernel.trials.run} trials agree</span>
          : <span class="badge warn">! {kernel.trials.run} trials do not agree yet</span>}
        {entry.result.trace_truncated && <span class="badge warn">! the trace was cut short</span>}
        {kernel.snapshot.complete === false && <span class="badge warn">! the snapshot is incomplete</span>}
      </p>
      <table class="totals">
        <thead><tr><th scope="col">whole kernel</th>{profile.before && <th scope="col">before</th>}<th scope="col">mean</th><th scope="col">± 2 std over trials</th><th scope="col">95 % of the mean</th></tr></thead>
        <tbody>
          <TotalRow name="L1 read hits, %" text={percent} total="l1_read_hit_rate" profile={profile} />
          <TotalRow name="L2 read hits, %" text={percent} total="l2_read_hit_rate" profile={profile} />
          <TotalRow name="L2 write hits, %" text={percent} total="l2_write_hit_rate" profile={profile} />
          <TotalRow name="constant hits, %" text={percent} total="constant_hit_rate" profile={profile} />
          <TotalRow name="… of a group of SMs, %" text={percent} total="constant_group_hit_rate" profile={profile} />
          <TotalRow name="DRAM latency, ns" text={(value) => value.toFixed(1)} total="dram_latency_ns" profile={profile} />
        </tbody>
      </table>
      {profile.comparison?.snapshots && <p class="note"><b>{profile.comparison.snapshots}</b></p>}
      <p class="note">{basis(kernel, probed)}</p>
    </div>
  );
}

function TotalRow(props: { name: string; text(value: number): string; total: keyof Kernel["totals"]; profile: Profile }) {
  const { name, text, total, profile } = props;
  const now = profile.kernel.totals[total] as Statistic | undefined;
  const was = profile.before?.kernel.totals[total] as Statistic | undefined;
  if (!now && !was) return null;
  const beyond = profile.comparison?.totals.find((change) => change.figure === total)?.beyond_interval;
  return (
    <tr>
      <th scope="row">{name}</th>
      {profile.before && <td>{was ? text(was.mean) : absent}</td>}
      <td class={beyond ? "beyond" : ""}>{now ? text(now.mean) : absent}{beyond ? " ◆" : ""}</td>
      <td>{now ? text(2 * now.std) : absent}</td>
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
    `Snapshot: ${grouped(snapshot.blocks)} blocks, ${grouped(snapshot.warp_accesses)} requests${snapshot.limit ? ` (${snapshot.limit})` : ""}.`,
    `${occupancy.blocks_per_sm} blocks per SM, limited by ${occupancy.limited_by}.`,
    registers(kernel),
  ];
  if (probed !== undefined) parts.push(`${percent(probed)} % of the executed accesses were seen.`);
  const start = kernel.l2_start;
  if (start) parts.push(start.warm ? `The L2 starts warm: ${bytes(start.bytes)} ${start.why}.` : `The L2 starts cold: ${start.why}.`);
  if (kernel.totals.cold_miss_share !== undefined)
    parts.push(`${percent(kernel.totals.cold_miss_share)} % of the L2's read misses are first touches.`);
  return parts.join(" ");
}
