// The view Why: which resources, lines and counters the target grows with, over many runs.
import { useMemo, useState } from "preact/hooks";
import { category } from "../../color";
import { SignedBars } from "../../charts/signed_bars";
import { SimilarityPlot } from "../../charts/similarity_plot";
import { Sunburst } from "../../charts/sunburst";
import { resourcesOf, type Significance } from "../../significance";
import { useSignal } from "../../signal";
import { theme } from "../../theme";
import { HeatMap } from "./heat_map";
import { CounterLines, TargetLines } from "./lines";
import { nodesOf, treeOf, verdictOf, type Node } from "./tree";

export function Why({ found }: { found: Significance }) {
  const look = useSignal(theme);
  const tree = useMemo(() => treeOf(found), [found]);
  const names = useMemo(() => resourcesOf(found), [found]);
  const colors = useMemo(() => new Map(names.map((name, index) => [name, index])), [names]);
  const [middleKey, setMiddle] = useState("program");
  const middle = nodesOf(tree).find((node) => node.key === middleKey) ?? tree;
  const region = found.regions.find((_, index) => `${index}` === middle.key.split("/")[0]) ?? found.regions[0];
  const colorOf = (node: Node) => (node.resource ? category(look, colors.get(node.resource) ?? 0) : "var(--kernel)");
  return (
    <div class="page why">
      <section>
        <h2>What the target {found.target} grows with</h2>
        <p class="note">
          Correlation over runs, not cause.
          {found.regions.some((one) => one.target_is_modelled) && " The target is modelled: it names lines and levels that make the modelled figure grow; why a time grows needs measured times."}
          {found.preset !== "default" && ` By the choices of ${found.preset}.`}
        </p>
        <div class="why-parts">
          <Sunburst root={tree} middle={middle} colorOf={colorOf} zoom={(node) => setMiddle(node.key)} />
          <NodeTable middle={middle} colorOf={colorOf} zoom={(node) => setMiddle(node.key)} />
        </div>
      </section>
      {names.length > 0 && <section><h2>Kernels by resources</h2><HeatMap found={found} names={names} show={(name) => setMiddle(String(found.regions.findIndex((one) => one.name === name)))} /></section>}
      {region && region.runs.length > 1 && (
        <section>
          <h2>{region.name}</h2>
          <p class="note">{verdictOf(region)}{region.few_runs && "; few runs say little"}</p>
          <CounterLines region={region} target={found.target} colors={colors} />
          {(region.suggestions ?? []).map((one) => <p key={one.label}><b>Try {one.label}</b> ({one.resource}): {one.action}{one.reason && `: ${one.reason}`}</p>)}
        </section>
      )}
      <section><h2>Targets</h2><TargetLines found={found} /></section>
      {found.comparisons.length > 0 && <Comparisons found={found} />}
      {found.similarities.some((one) => one.resources.length > 0) && (
        <section>
          <h2>Similarity</h2>
          <div class="why-parts">{found.similarities.filter((one) => one.resources.length).map((one, index) => <SimilarityPlot key={index} similarity={one} />)}</div>
        </section>
      )}
      {found.notes.map((note) => <p key={note} class="note">{note}</p>)}
    </div>
  );
}

/** The same as a table: what lies in the middle of the rings, down to its counters. */
function NodeTable({ middle, colorOf, zoom }: { middle: Node; colorOf(node: Node): string; zoom(node: Node): void }) {
  const rows = nodesOf(middle).slice(1).filter((node) => node.value > 0).slice(0, 200);
  return (
    <div class="scroll node-table">
      <table class="objects">
        <caption class="note">{middle.name}: {middle.description} {middle.parent && <button class="link" onClick={() => zoom(middle.parent!)}>back</button>}</caption>
        <thead><tr><th scope="col">kernel, resource, counter</th><th scope="col" class="num">share</th><th scope="col">what it says</th></tr></thead>
        <tbody>
          {rows.map((node) => (
            <tr key={node.key}>
              <th scope="row" style={{ paddingLeft: `${16 * (node.depth - middle.depth - 1)}px` }}>
                <i class="swatch" style={{ background: colorOf(node) }} />{" "}
                {node.children.length ? <button class="link" onClick={() => zoom(node)}>{node.name}</button> : node.name}
              </th>
              <td class="num">{middle.value > 0 ? ((100 * node.value) / middle.value).toFixed(1) : "–"} %</td>
              <td>{node.description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Comparisons({ found }: { found: Significance }) {
  const usable = found.comparisons.filter((one) => !one.error);
  const names = [...new Set(usable.flatMap((one) => one.bars.map((bar) => bar.resource)))];
  const titleOf = (index: number) => `${found.comparisons[index].base} → ${found.comparisons[index].optimised}`;
  const versions = usable.map((one) => ({ name: titleOf(found.comparisons.indexOf(one)), values: names.map((name) => one.bars.find((bar) => bar.resource === name)?.bar) }));
  return (
    <section>
      <h2>Comparisons</h2>
      <p class="note">Above 0: the faster one does more of it where it gains; below: less. A difference of significances, not an amount: that is in the table. In brackets: over other draws of the runs; <b>bold</b>: beyond what chance gives, where the gain is predicted.</p>
      {names.length > 0 && <SignedBars label="Difference of significances by resource" names={names} versions={versions} />}
      <div class="scroll">
        <table class="objects">
          <thead><tr><th scope="col">resource</th>{versions.map((version) => <th key={version.name} scope="col">{version.name}</th>)}</tr></thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {usable.map((one, index) => {
                  const bar = one.bars.find((other) => other.resource === name);
                  if (!bar) return <td key={index}>–</td>;
                  const height = `${(bar.bar ?? 0).toFixed(2)}${bar.runs95 ? ` [${bar.runs95.map((end) => end.toFixed(2)).join(", ")}]` : ""}`;
                  return (
                    <td key={index}>
                      {bar.significant ? <b>{height}</b> : <>{height}, not significant</>}; its counters {bar.change === undefined ? "from 0" : `${bar.change > 0 ? "+" : ""}${(100 * bar.change).toFixed(0)} %`}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.comparisons.map((one, index) => one.error && <p key={index} class="note">{titleOf(index)}: {one.error}</p>)}
    </section>
  );
}
