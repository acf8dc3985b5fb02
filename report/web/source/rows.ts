// The rows of the source view: each line of the file, and below a line with several accesses one row for each.
import { largestOf } from "./extremes";
import { valueIn, type Figure } from "./figures";
import { sitesOfLine, type Profile } from "./profile";
import type { Site } from "./result";

export interface Row {
  line: number;
  /** The sites of the line, of any of the profiles, one for each place. */
  sites: Site[];
  /** Present if the row is for this access of the line alone. */
  site?: Site;
}

const samePlace = (a: Site, b: Site) => a.id === b.id || (a.line === b.line && a.column === b.column && a.kind === b.kind);

/** Returns this profile's site at the same place. */
export const siteIn = (profile: Profile, site: Site) =>
  sitesOfLine(profile, site.file, site.line).find((candidate) => samePlace(candidate, site));

export function rowsOf(lineCount: number, file: string, profiles: Profile[]): Row[] {
  const rows: Row[] = [];
  for (let line = 1; line <= lineCount; ++line) {
    const sites: Site[] = [];
    for (const profile of profiles)
      for (const site of sitesOfLine(profile, file, line)) if (!sites.some((known) => samePlace(known, site))) sites.push(site);
    sites.sort((a, b) => a.column - b.column);
    rows.push({ line, sites });
    if (sites.length > 1) for (const site of sites) rows.push({ line, sites, site });
  }
  return rows;
}

/** Returns the profile's sites in this row. */
export function sitesOfRow(profile: Profile, file: string, row: Row): Site[] {
  if (!row.site) return sitesOfLine(profile, file, row.line);
  const site = siteIn(profile, row.site);
  return site ? [site] : [];
}

/** Returns how hot each line is by this figure, in [0, 1]; lines without it are left out. */
export function heatOf(figure: Figure, file: string, profiles: Profile[]): Map<number, number> {
  const values = new Map<number, number>();
  for (const profile of profiles)
    for (const [line, sites] of profile.sites.get(file) ?? []) {
      const value = valueIn(profile, figure, sites);
      if (value) values.set(line, Math.max(values.get(line) ?? -Infinity, value.mean));
    }
  const largest = largestOf(values.values(), Math.max(figure.isShare ? 0 : (figure.limit ?? 0), 1e-300));
  for (const [line, value] of values) values.set(line, figure.worse === "low" ? 1 - value / largest : Math.max(0, value / largest));
  return values;
}
