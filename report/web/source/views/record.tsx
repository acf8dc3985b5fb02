// The record of one access in full, or of the line's accesses in short.
import type { ViewProps } from "../view_props";
import { LevelLegend, partsOf, StackedBar } from "../charts/stacked_bar";
import { Histogram } from "../charts/histogram";
import { LanePicture } from "../charts/lane_picture";
import { ResourceBars } from "../charts/resource_bars";
import { StateBars } from "../charts/state_bars";
import { largestOf } from "../extremes";
import { changeOf, combined, defaultFigures, figureOf, figures, valueIn, valueText } from "../figures";
import { nanoseconds, percent } from "../format";
import { baseName, costShare, placeKey, type Profile } from "../profile";
import type { Site } from "../result";
import { siteIn, type Row } from "../rows";
import { useSignal, type Signal } from "../signal";

interface Props extends ViewProps {
  row: Row | undefined;
  hover: Signal<Site | undefined>;
  pinned: boolean;
  pin(pinned: boolean): void;
}

export function Record({ row, hover, pinned, pin, shown, state }: Props) {
  const hovered = useSignal(hover);
  // The costliest access of a line is shown in full, the others in short.
  const cost = (site: Site) => largestOf(shown.map((profile) => {
    const own = siteIn(profile, site);
    return own ? costShare(profile.kernel, own) : 0;
  }), 0);
  const chosen = row?.site ? [row.site] : [...(row?.sites ?? [])].sort((a, b) => cost(b) - cost(a));
  const sites = hovered && !pinned ? [hovered] : chosen;
  const line = sites[0]?.line ?? row?.line;
  const hasWarps = shown.some((profile) => warpsAt(profile, state.file, line));
  return (
    <aside class="record" aria-label="Record of the access in focus" aria-live="polite">
      <div class="record-head">
        <span class="place">{baseName(state.file)}:{line}</span>
        <button class="plain" aria-pressed={pinned} onClick={() => pin(!pinned)} title="Keep this record while the pointer moves (Enter; Escape lets go)">
          {pinned ? "● kept" : "○ keep"}
        </button>
      </div>
      {sites.length === 0 && !hasWarps && <p class="note">No access on this line was executed. Point at an underlined expression, or go to one with the keys n and p.</p>}
      {sites.map((site, index) => <SiteRecord key={site.id} site={site} shown={shown} brief={index > 0} />)}
      {shown.map((profile) => <LineStates key={profile.key} profile={profile} file={state.file} line={line} named={shown.length > 1} />)}
    </aside>
  );
}

const warpsAt = ({ kernel }: Profile, file: string, line: number | undefined) =>
  kernel.lines?.find((other) => other.file === file && other.line === line);

/** What warps do at the line, with or without an access. */
function LineStates({ profile, file, line, named }: { profile: Profile; file: string; line: number | undefined; named: boolean }) {
  const at = warpsAt(profile, file, line);
  if (!at) return null;
  const share = Object.values(at.states).reduce((sum, of) => sum + of, 0);
  return (
    <section class="parts">
      <h4>{percent(share)} % of the warps' time passes at this line{named && ` (${profile.label} · ${profile.kernel.gpu})`}</h4>
      <StateBars shares={at.states} label="Share of the time of all warps in which they wait to issue from this line, by state" />
    </section>
  );
}

function SiteRecord({ site, shown, brief }: { site: Site; shown: Profile[]; brief: boolean }) {
  const notes = [site.kind, site.space, `${site.element_bytes} B`, site.cache_operator && `cache operator ${site.cache_operator}`].filter(Boolean);
  return (
    <section class="site-record">
      <h3><code>{site.expression}</code></h3>
      <p class="note">
        {notes.join(" · ")}{site.object ? <> · array <b>{site.object}</b></> : null}
        {site.macro ? <> · <span class="badge">macro {site.macro}</span></> : null}
        {site.template ? <> · <span class="badge" title="All instances of the template are counted together">template</span></> : null}
      </p>
      {shown.map((profile) => {
        const own = siteIn(profile, site);
        return own && <ProfileRecord key={profile.key} profile={profile} site={own} named={shown.length > 1} brief={brief} />;
      })}
    </section>
  );
}

function ProfileRecord({ profile, site, named, brief }: { profile: Profile; site: Site; named: boolean; brief: boolean }) {
  const before = profile.siteBefore.get(site);
  const verdict = profile.verdicts.get(placeKey(site.file, site.line));
  const levels = partsOf(site).map((part) => part.level);
  return (
    <div class="profile-record">
      {named && <h4 title={profile.kernel.name}>{profile.label} · {profile.kernel.gpu}</h4>}
      {verdict && !brief && <p class="why">{verdict}</p>}
      <table class="figures">
        {profile.before && <thead><tr><td /><th scope="col">before</th><th scope="col">after</th><th scope="col">change</th></tr></thead>}
        <tbody>
          {figures.map((figure) => {
            const now = valueIn(profile, figure, [site]);
            if (!now || (brief && ![...defaultFigures(profile.kernel), "waited"].includes(figure.id))) return null;
            const was = before && valueIn(profile.before!, figure, [before]);
            const change = changeOf(figure, profile.siteChanges.get(site) ?? []);
            const { mean, spread } = valueText(figure, now);
            const unit = figure.unit === "B" ? "" : figure.unit;
            return (
              <tr key={figure.id} title={figure.about}>
                <th scope="row">{figure.label}{profile.before && unit ? `, ${unit}` : ""}</th>
                {profile.before && <td>{was ? valueText(figure, was).mean : "–"}</td>}
                <td>{mean}{profile.before ? null : <><small>{spread}</small> {unit}</>}</td>
                {profile.before && <td class={change?.beyond ? `beyond ${change.better ? "better" : change.better === false ? "worse" : ""}` : ""}>{change ? (change.beyond ? `◆ ${change.text}` : change.text) : before ? "" : "new"}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {!brief && site.request && <LanePicture site={site} request={site.request} />}
      {!brief && site.time && Object.keys(site.time.occupied).length > 0 && (
        <div class="parts">
          <h4>Its share of what each resource serves</h4>
          <ResourceBars shares={site.time.occupied} bound={profile.kernel.time?.bound} label={`Share of ${site.expression} in what each resource serves`} />
        </div>
      )}
      {!brief && levels.length > 0 && site.latency_ns && (
        <div class="parts">
          <h4>Latency by where it was decided</h4>
          <StackedBar site={site} largest={site.latency_ns.mean} />
          <LevelLegend levels={levels} />
        </div>
      )}
      {!brief && <>
        {site.time && <Distribution title="Share of the time over the trials" site={site.time.share} before={before?.time?.share} text={percent} unit="%" />}
        {site.l1_hit_rate && <Distribution title="L1 hit rate over the trials" site={site.l1_hit_rate} before={before?.l1_hit_rate} text={percent} unit="%" />}
        {site.l2_hit_rate && <Distribution title="L2 hit rate over the trials" site={site.l2_hit_rate} before={before?.l2_hit_rate} text={percent} unit="%" />}
        {site.constant_hit_rate && <Distribution title="Constant cache's hit rate over the trials" site={site.constant_hit_rate} before={before?.constant_hit_rate} text={percent} unit="%" />}
        {site.latency_ns && <Distribution title="Latency over the trials" site={site.latency_ns} before={before?.latency_ns} text={nanoseconds} unit="ns" />}
      </>}
    </div>
  );
}

interface DistributionProps {
  title: string;
  site: NonNullable<Site["l1_hit_rate"]>;
  before?: Site["l1_hit_rate"];
  text(value: number): string;
  unit: string;
}

function Distribution({ title, site, before, text, unit }: DistributionProps) {
  return (
    <div class="distribution">
      <h4>{title} <span class="note">95 % of the mean: {text(site.ci95[0])} … {text(site.ci95[1])}</span></h4>
      <Histogram statistic={site} before={before} text={text} unit={unit} label={title} />
    </div>
  );
}

/** Returns the figures of some sites together, for tables by array. */
export const together = (id: string, sites: Site[]) => valueText(figureOf(id)!, combined(figureOf(id)!, sites));
