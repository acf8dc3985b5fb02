// The profiles that are shown side by side: a profile is one kernel on one GPU, with the one before the change
// if two results are compared.
import type { DataObject, FigureChange, Kernel, KernelComparison, MeasuredKernel, Opening, PageData, ResultEntry, Site } from "./result";

export interface Profile {
  /** A unique key: kernel, GPU, and which of the launches of that name. */
  key: string;
  /** The kernel's name, short enough to read, with the number of the launch if several share it. */
  label: string;
  kernel: Kernel;
  entry: ResultEntry;
  /** The time in ns, or without one the total of executions × latency, by which the kernels are ranked. */
  cost: number;
  sites: Map<string, Map<number, Site[]>>;
  verdicts: Map<string, string>;
  opening?: Opening;
  before?: Profile;
  comparison?: KernelComparison;
  /** The launch as a profiler measured it. */
  measured?: MeasuredKernel;
  /** The factor for bytes and executions: 1, but per launch if two results are compared. */
  scale: number;
  /** This profile's sites → the same sites before the change. */
  siteBefore: Map<Site, Site>;
  /** This profile's sites → their changes. */
  siteChanges: Map<Site, FigureChange[]>;
  /** The changes of lines with several sites, by placeKey. */
  lineChanges: Map<string, FigureChange[]>;
  objectBefore: Map<DataObject, DataObject>;
  /** Sites of `before` without a counterpart. */
  removed: Site[];
}

export const placeKey = (file: string, line: number) => `${file}\n${line}`;

/** Returns the site's share of its kernel's time, or of its latency if the result has no time. */
export const costShare = (kernel: Kernel, site: Site) => (kernel.time ? site.time?.share.mean : site.latency_share) ?? 0;

export const costOf = (site: Site) => site.executions * (site.latency_ns?.mean ?? 0);

function profilesOfEntry(entry: ResultEntry): Profile[] {
  const { kernels } = entry.result;
  const same = (kernel: Kernel) => kernels.filter((other) => other.name === kernel.name && other.gpu === kernel.gpu);
  return kernels.map((kernel, index) => {
    const launches = same(kernel);
    const launch = launches.indexOf(kernel) + 1;
    const name = entry.names?.[index] ?? kernel.name;
    const sites: Profile["sites"] = new Map();
    for (const site of kernel.sites) {
      const lines = sites.get(site.file) ?? new Map<number, Site[]>();
      sites.set(site.file, lines);
      const line = lines.get(site.line);
      if (line) line.push(site);
      else lines.set(site.line, [site]);
    }
    const verdicts = new Map<string, string>();
    for (const verdict of entry.verdicts ?? [])
      if (verdict.kernel === index) verdicts.set(placeKey(verdict.file, verdict.line), verdict.text);
    return {
      key: `${kernel.name}\n${kernel.gpu}${launch > 1 ? `\n${launch}` : ""}`,
      label: launches.length > 1 ? `${name} · launch ${launch}` : name,
      kernel, entry, sites, verdicts, opening: entry.openings?.[index], scale: 1,
      cost: kernel.time ? 1000 * kernel.time.microseconds.mean : kernel.sites.reduce((sum, site) => sum + costOf(site), 0),
      siteBefore: new Map(), siteChanges: new Map(), lineChanges: new Map(), objectBefore: new Map(), removed: [],
    };
  });
}

/** Returns the profiles of the page, costliest kernel first. For two results these are the second's, each with its counterpart. */
export function profilesOf(data: PageData): Profile[] {
  const [first, second] = data.results;
  const before = profilesOfEntry(first);
  for (const measured of data.measured?.kernels ?? []) before[measured.index].measured = measured;
  if (!second) return ranked(before);
  const after = profilesOfEntry(second);
  for (const comparison of data.comparison?.kernels ?? []) {
    const [old, now] = [before[comparison.before], after[comparison.after]];
    now.before = old;
    now.comparison = comparison;
    [old.scale, now.scale] = [comparison.launch_scale.before, comparison.launch_scale.after];
    for (const { before: was, after: is, figures } of comparison.sites) {
      now.siteBefore.set(now.kernel.sites[is], old.kernel.sites[was]);
      now.siteChanges.set(now.kernel.sites[is], figures);
    }
    for (const { file, line, figures } of comparison.lines) now.lineChanges.set(placeKey(file, line), figures);
    for (const { before: was, after: is } of comparison.objects) now.objectBefore.set(now.kernel.objects![is], old.kernel.objects![was]);
    now.removed = comparison.gone.map((index) => old.kernel.sites[index]);
  }
  return ranked(after);
}

/** Returns the changes of these accesses: one access's own changes, several accesses' changes of their line. */
export function changesOf(profile: Profile, sites: Site[]): FigureChange[] {
  if (sites.length === 0) return [];
  return (sites.length === 1 ? profile.siteChanges.get(sites[0]) : profile.lineChanges.get(placeKey(sites[0].file, sites[0].line))) ?? [];
}

/** Ranks the profiles by their cost on the first GPU. */
function ranked(profiles: Profile[]) {
  const costs = new Map<string, number>();
  for (const { label, cost } of profiles) if (!costs.has(label)) costs.set(label, cost);
  return [...profiles].sort((a, b) => costs.get(b.label)! - costs.get(a.label)!);
}

export const sitesOfLine = (profile: Profile, file: string, line: number) => profile.sites.get(file)?.get(line) ?? [];

export interface HotLine {
  file: string;
  line: number;
  share: number;
  sites: Site[];
  verdict?: string;
}

/** Returns the lines of a profile by their share of its time or latency, largest first. */
export function hotLines(profile: Profile): HotLine[] {
  const lines: HotLine[] = [];
  for (const [file, byLine] of profile.sites)
    for (const [line, sites] of byLine) {
      const share = sites.reduce((sum, site) => sum + costShare(profile.kernel, site), 0);
      lines.push({ file, line, share, sites, verdict: profile.verdicts.get(placeKey(file, line)) });
    }
  return lines.sort((a, b) => b.share - a.share || a.line - b.line);
}

export const unique = <T,>(list: T[]) => [...new Set(list)];

export const baseName = (file: string) => file.replace(/^.*\//, "");
