// The head of the source view: how long the launch takes, what bounds it, and how busy each resource is.
import { besideTime } from "../accuracy";
import { ResourceBars, resourceNames } from "../charts/resource_bars";
import { StateBars } from "../charts/state_bars";
import { WorkBars } from "../charts/work_bars";
import { count, duration } from "../format";
import type { Profile } from "../profile";
import type { Kernel } from "../result";

/** µs: beside it, the time of a launch itself is notable. */
const shortTime = 10;

/** What the report of a kernel opens with, and the findings on it as a whole: the same words as in the text report. */
function Opening({ profile }: { profile: Profile }) {
  const { opening } = profile;
  if (!opening) return null;
  return (
    <div class="opening">
      <dl>{opening.lines.map(({ label, text }) => <div key={label}><dt>{label}</dt><dd>{text}</dd></div>)}</dl>
      {opening.findings.length > 0 && (
        <>
          <h2>Of the kernel as a whole</h2>
          <ul class="findings">{opening.findings.map((text) => <li key={text}>{text}</li>)}</ul>
        </>
      )}
    </div>
  );
}

export function KernelTimes({ shown }: { shown: Profile[] }) {
  const timed = shown.filter((profile) => profile.kernel.time);
  if (timed.length === 0) return null;
  return <section class="times">{timed.map((profile) => <KernelTime key={profile.key} profile={profile} named={shown.length > 1} />)}</section>;
}

function KernelTime({ profile, named }: { profile: Profile; named: boolean }) {
  const { kernel, before, comparison } = profile;
  const time = kernel.time!;
  const change = comparison?.totals.find(({ figure }) => figure === "microseconds");
  return (
    <div class="kernel-time">
      {named && <h3 title={kernel.name}>{profile.label} on {kernel.gpu}</h3>}
      <div>
        <p title="2 standard deviations over the trials">
          <b>{durationOf(kernel)}</b>
          {change && <span class={`was ${change.effect ?? ""}`}>{change.beyond_interval ? "◆ " : ""}before {durationOf(before!.kernel)}</span>}
          <span class="note">{besideTime(kernel)}; {time.extrapolated ? `extrapolated from the snapshot, which takes ${count(time.cycles.mean)} cycles` : `${count(time.cycles.mean)} cycles`}{time.microseconds.mean < shortTime && time.launch_us ? `; ${time.launch_us.toFixed(1)} µs of it are the launch itself` : ""}</span>
        </p>
        <p>bound by <b>{resourceNames[time.bound]}</b>{time.bounds && ` in the mean; ${time.bounds.map((one) => `${resourceNames[one.bound]} in ${one.trials} trials (${duration(one.microseconds, 0)})`).join(", ")}: which machine it is, is not known`}</p>
        <Opening profile={profile} />
      </div>
      <ResourceBars shares={time.busy} means={time.mean_busy} bound={time.bound} label="Share of the time for which each resource is busy" />
      {profile.opening?.limits && (
        <div class="warps">
          <p class="note">The roofline: the least time for the work of each resource, at its full rate, as a share of the launch's time</p>
          <ResourceBars shares={profile.opening.limits} label="Least time for the work of each resource, as a share of the launch's time" />
        </div>
      )}
      {kernel.events && (
        <div class="warps">
          <p class="note">Instructions of warps, by kind</p>
          <WorkBars work={kernel.events.instructions} />
        </div>
      )}
      {kernel.warps && (
        <div class="warps">
          <p class="note" title="The names are those of Nsight Compute's warp states">
            {kernel.warps.resident.toFixed(1)} warps per SM in the mean, {kernel.warps.cycles_apart.toFixed(1)} cycles from one {kernel.executed ? "instruction" : "access"} to the next. What they do:
          </p>
          <StateBars shares={kernel.warps.states} label="Share of their time in which warps are in each state" />
        </div>
      )}
    </div>
  );
}

function durationOf(kernel: Kernel): string {
  const { mean, std } = kernel.time!.microseconds;
  return duration(mean, 2 * std);
}
