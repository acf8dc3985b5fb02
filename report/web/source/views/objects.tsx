// The same figures by array: the size of each, how soon it is reused, and how much of the moved bytes is used.
import type { ViewProps } from "../view_props";
import { largestOf } from "../extremes";
import { costFigure } from "../figures";
import { absent, bytes, count, grouped } from "../format";
import { unique, type Profile } from "../profile";
import type { DataObject, Site } from "../result";
import { together } from "./record";

export function Objects({ shown, change }: ViewProps) {
  return (
    <div class="page">
      {shown.map((profile) => (
        <section key={profile.key}>
          <h2 title={profile.kernel.name}>Arrays of {profile.label} on {profile.kernel.gpu}</h2>
          <ObjectTable profile={profile} show={(site) => change({ view: "source", file: site.file, line: site.line })} />
        </section>
      ))}
    </div>
  );
}

/** Derives the figures of an array from its sites alone, for results without more. */
function fromSites(name: string, sites: Site[]): Partial<DataObject> & { name: string } {
  const sum = (of: (site: Site) => number | undefined) => sites.reduce((total, site) => total + (of(site) ?? 0), 0);
  return { name, requests: sum((site) => site.executions), bytes_used: sum((site) => site.bytes_used), bytes_moved: sum((site) => site.bytes_moved) };
}

function ObjectTable({ profile, show }: { profile: Profile; show(site: Site): void }) {
  const { kernel, before } = profile;
  const perLaunch = (of: Profile, snapshot: number) => snapshot * of.scale;
  const names = unique(kernel.sites.map((site) => site.object ?? "").filter(Boolean));
  const objects: (Partial<DataObject> & { name: string })[] = kernel.objects ??
    names.map((name) => fromSites(name, kernel.sites.filter((site) => site.object === name)));
  if (objects.length === 0) return <p class="note">No access could be put down to an array by name.</p>;
  const largest = largestOf(objects.map((object) => object.bytes_moved ?? 0), 1);
  const nameless = kernel.sites.filter((site) => !site.object).length;
  return (
    <>
      <div class="scroll">
        <table class="objects">
          <thead>
            <tr>
              <th scope="col">array</th><th scope="col" class="num">{kernel.time ? "time" : "latency"} share</th><th scope="col" class="num">requests</th>
              <th scope="col" class="num">footprint</th><th scope="col">bytes used of bytes moved</th>
              <th scope="col" class="num">L1 hits %</th><th scope="col" class="num">L2 hits %</th>
              <th scope="col">reuse distance, in 128-byte lines</th><th scope="col">accessed by</th>
            </tr>
          </thead>
          <tbody>
            {objects.map((object) => {
              const sites = kernel.sites.filter((site) => site.object === object.name);
              const was = profile.objectBefore.get(object as DataObject);
              return (
                <tr key={object.name}>
                  <th scope="row"><code>{object.name}</code></th>
                  <td class="num">{together(costFigure(kernel), sites).mean} %</td>
                  <td class="num">{object.requests === undefined ? absent : count(perLaunch(profile, object.requests))}</td>
                  <td class="num">{object.footprint_bytes === undefined ? absent : bytes(object.footprint_bytes)}{was ? <small class="was">before {bytes(was.footprint_bytes)}</small> : null}</td>
                  <td><Use object={object} largest={largest} scale={profile.scale} />{was ? <small class="was">before {bytes(perLaunch(before!, was.bytes_used))} of {bytes(perLaunch(before!, was.bytes_moved))}</small> : null}</td>
                  <td class="num">{together("l1", sites).mean}</td>
                  <td class="num">{together("l2", sites).mean}</td>
                  <td>{object.reuse_distance ? <ReuseHistogram name={object.name} reuse={object.reuse_distance} /> : <span class="note">not in this result</span>}</td>
                  <td class="sites"><Accesses sites={sites} show={show} /></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {nameless > 0 && <p class="note">{grouped(nameless)} accesses go through pointers whose array is not known; they are not in this table.</p>}
    </>
  );
}

const accessesListed = 4;

function Accesses({ sites, show }: { sites: Site[]; show(site: Site): void }) {
  const link = (site: Site) => <button key={site.id} class="link" onClick={() => show(site)}>{site.line}: {site.expression.replace(/\s+/g, " ")}</button>;
  const more = sites.slice(accessesListed);
  return (
    <>
      {sites.slice(0, accessesListed).map(link)}
      {more.length > 0 && <details><summary>{more.length} more</summary>{more.map(link)}</details>}
    </>
  );
}

function Use({ object, largest, scale }: { object: Partial<DataObject>; largest: number; scale: number }) {
  const [used, moved] = [scale * (object.bytes_used ?? 0), scale * (object.bytes_moved ?? 0)];
  if (moved === 0) return <span class="note">{absent}</span>;
  // Lanes of several requests may use a byte that moved once: the share is at most 1.
  const share = Math.min(1, used / moved);
  return (
    <span class="use" title={`${bytes(used)} used of ${bytes(moved)} moved`}>
      <span class="use-bar" style={{ width: `${(100 * moved) / (scale * largest)}%` }}><i style={{ width: `${100 * share}%` }} /></span>
      <span>{bytes(used)} of {bytes(moved)} ({(100 * used / moved).toFixed(0)} %)</span>
    </span>
  );
}

function ReuseHistogram({ name, reuse }: { name: string; reuse: NonNullable<DataObject["reuse_distance"]> }) {
  const bars = [...reuse.counts.map((value, index) => ({ label: rangeText(reuse.edges[index], reuse.edges[index + 1]), value })), { label: "first touch", value: reuse.cold }];
  const all = bars.reduce((sum, bar) => sum + bar.value, 0) || 1;
  const most = largestOf(bars.map((bar) => bar.value), 1);
  const [width, height] = [240, 40];
  const step = Math.min(24, width / bars.length);
  const ticks = reuse.edges.map((edge, index) => ({ edge, index })).filter(({ index }) => index % Math.ceil(reuse.edges.length / 6) === 0 && index < reuse.counts.length);
  const summary = bars.filter((bar) => bar.value / all >= 0.05).map((bar) => `${bar.label}: ${((100 * bar.value) / all).toFixed(0)} %`).join("; ");
  return (
    <svg class="histogram" viewBox={`0 0 ${width} ${height + 14}`} style={{ width }} role="img" aria-label={`Reuse distances of ${name}: ${summary}`}>
      {bars.map((bar, index) => (
        <g key={bar.label}>
          <title>{`${bar.label}: ${grouped(bar.value)} accesses, ${((100 * bar.value) / all).toFixed(1)} %`}</title>
          <rect class="target" x={index * step} y={0} width={step} height={height} />
          <rect class={index === bars.length - 1 ? "bar cold" : "bar"} x={index * step + 0.5} width={Math.max(1, step - 1)}
            y={height - (bar.value / most) * (height - 3)} height={(bar.value / most) * (height - 3)} />
        </g>
      ))}
      <line class="axis" x1={0} x2={width} y1={height} y2={height} />
      {ticks.map(({ edge, index }) => <text key={index} x={index * step} y={height + 11}>{count(edge)}</text>)}
      <text x={bars.length * step} y={height + 11} text-anchor="end">new</text>
    </svg>
  );
}

const rangeText = (from: number, to: number | undefined) =>
  to === undefined ? `${grouped(from)} lines or more` : to === from + 1 ? `${grouped(from)} lines between` : `${grouped(from)} to ${grouped(to - 1)} lines between`;
