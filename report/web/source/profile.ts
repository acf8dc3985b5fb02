// From results to what is shown side by side: a profile is one kernel on one GPU, with the one before the change
// where two results are compared.
import type { Kernel, PageData, ResultEntry, Site } from "./result";

export interface Profile {
  /** Unique: kernel and GPU. */
  key: string;
  kernel: Kernel;
  entry: ResultEntry;
  /** Total of executions × latency in ns: what the kernels are ranked by. */
  cost: number;
  sites: Map<string, Map<number, Site[]>>;
  verdicts: Map<string, string>;
  before?: Profile;
  /** This profile's sites → the same ones before the change. */
  siteBefore: Map<Site, Site>;
  /** Sites of `before` that are gone. */
  gone: Site[];
}

export const placeKey = (file: string, line: number) => `${file}\n${line}`;

export const costOf = (site: Site) => site.executions * (site.latency_ns?.mean ?? 0);

/** What makes it the same site in another version of the source, where the lines have moved. */
const contentKey = (site: Site) => `${site.file.replace(/^.*\//, "")}\n${site.kind}\n${site.expression.replace(/\s+/g, "")}`;

function matchSites(after: Site[], before: Site[]) {
  const pairs = new Map<Site, Site>();
  const left = new Set(before);
  const byId = new Map(before.map((site) => [site.id, site]));
  for (const site of after) {
    const same = byId.get(site.id);
    if (!same || !left.delete(same)) continue;
    pairs.set(site, same);
  }
  for (const site of after) {
    if (pairs.has(site)) continue;
    const same = [...left].find((candidate) => contentKey(candidate) === contentKey(site));
    if (!same) continue;
    pairs.set(site, same);
    left.delete(same);
  }
  return { pairs, gone: [...left] };
}

function profileOf(kernel: Kernel, entry: ResultEntry): Profile {
  const sites: Profile["sites"] = new Map();
  for (const site of kernel.sites) {
    const lines = sites.get(site.file) ?? new Map<number, Site[]>();
    sites.set(site.file, lines);
    lines.set(site.line, [...(lines.get(site.line) ?? []), site]);
  }
  const verdicts = new Map<string, string>();
  for (const verdict of entry.verdicts ?? [])
    if (verdict.kernel === kernel.name && verdict.gpu === kernel.gpu)
      verdicts.set(placeKey(verdict.file, verdict.line), verdict.text);
  const cost = kernel.sites.reduce((sum, site) => sum + costOf(site), 0);
  return { key: `${kernel.name}\n${kernel.gpu}`, kernel, entry, cost, sites, verdicts, siteBefore: new Map(), gone: [] };
}

/** The profiles of the page, costliest kernel first. Of two results, those of the second, each with its counterpart. */
export function profilesOf(data: PageData): Profile[] {
  const [first, second] = data.results;
  const before = first.result.kernels.map((kernel) => profileOf(kernel, first));
  if (!second) return ranked(before);
  const after = second.result.kernels.map((kernel) => profileOf(kernel, second));
  // A kernel that was renamed still has its counterpart where there is but one on that GPU.
  const alone = (list: Profile[], gpu: string) => list.filter((profile) => profile.kernel.gpu === gpu).length === 1;
  for (const profile of after) {
    const gpu = profile.kernel.gpu;
    profile.before =
      before.find((candidate) => candidate.key === profile.key) ??
      (alone(before, gpu) && alone(after, gpu) ? before.find((candidate) => candidate.kernel.gpu === gpu) : undefined);
    if (!profile.before) continue;
    const { pairs, gone } = matchSites(profile.kernel.sites, profile.before.kernel.sites);
    profile.siteBefore = pairs;
    profile.gone = gone;
  }
  return ranked(after);
}

/** By what they cost on the GPU that was asked about first. */
function ranked(profiles: Profile[]) {
  const costs = new Map<string, number>();
  for (const { kernel, cost } of profiles) if (!costs.has(kernel.name)) costs.set(kernel.name, cost);
  return [...profiles].sort((a, b) => costs.get(b.kernel.name)! - costs.get(a.kernel.name)!);
}

export const sitesOfLine = (profile: Profile, file: string, line: number) => profile.sites.get(file)?.get(line) ?? [];

export interface HotLine {
  file: string;
  line: number;
  share: number;
  sites: Site[];
  verdict?: string;
}

/** The lines of a profile by their share of its latency, largest first. */
export function hotLines(profile: Profile): HotLine[] {
  const lines: HotLine[] = [];
  for (const [file, byLine] of profile.sites)
    for (const [line, sites] of byLine) {
      const share = sites.reduce((sum, site) => sum + (site.latency_share ?? 0), 0);
      lines.push({ file, line, share, sites, verdict: profile.verdicts.get(placeKey(file, line)) });
    }
  return lines.sort((a, b) => b.share - a.share || a.line - b.line);
}

export const unique = <T,>(list: T[]) => [...new Set(list)];

export const baseName = (file: string) => file.replace(/^.*\//, "");
