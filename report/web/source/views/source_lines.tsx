// The lines of the source with their figures.
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { largestOf } from "../extremes";
import { changeOf, figureOf, valueIn, valueText, type Figure } from "../figures";
import { piecesOf, spansOf, type Token } from "../highlight";
import { changesOf, placeKey, type Profile } from "../profile";
import type { MeasuredPair, Site } from "../result";
import { sitesOfRow, type Row } from "../rows";
import { useIs, type Signal } from "../signal";
import { figuresInGutter } from "../state";
import { pointAtLine, type Pointed } from "./machine_code";
import { MeasuredMark, measuredAt } from "./measured";
import { bringIntoView, rowsOfPage, useWindowed } from "./windowed";

interface Props extends ViewProps {
  rows: Row[];
  tokens: Token[][];
  heat: Map<number, number>;
  active: number;
  go(row: Row): void;
  hover: Signal<Site | undefined>;
  visible: Signal<[number, number]>;
  pointed: Pointed;
  pin(): void;
  unpin(): void;
}

export function SourceLines(props: Props) {
  const { rows, tokens, shown, state, active, go, hover, visible, pointed, pin, unpin } = props;
  const chosen = useMemo(() => figuresInGutter(state).map((id) => figureOf(id)!), [state.figures, state.code]);

  const { pane, look, first, last, padding } = useWindowed(rows, (top, bottom) =>
    visible.set([rows[Math.min(top, rows.length - 1)]?.line ?? 1, rows[Math.min(bottom, rows.length) - 1]?.line ?? 1]));
  useLayoutEffect(() => bringIntoView(pane.current!, active), [active, rows]);
  useEffect(() => pointed.inCode.subscribe((line) => {
    const index = line === undefined ? -1 : rows.findIndex((row) => row.line === line);
    if (index >= 0) bringIntoView(pane.current!, index);
  }), [pointed, rows]);

  const move = (event: KeyboardEvent) => {
    const page = rowsOfPage(pane.current);
    const to = (index: number) => go(rows[Math.min(rows.length - 1, Math.max(0, index))]);
    const withFigures = (step: number) => {
      for (let index = active + step; rows[index]; index += step) if (rows[index].sites.length) return to(index);
    };
    const actions: { [key: string]: () => void } = {
      ArrowDown: () => to(active + 1), ArrowUp: () => to(active - 1),
      PageDown: () => to(active + page), PageUp: () => to(active - page),
      Home: () => to(0), End: () => to(rows.length - 1),
      n: () => withFigures(1), p: () => withFigures(-1),
      Enter: pin, " ": pin, Escape: unpin,
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  const longest = useMemo(() => largestOf(tokens.map((line) => line.reduce((sum, token) => sum + token.text.length, 0)), 40), [tokens]);
  const width = gutterWidth(chosen, shown);
  return (
    <div class={`lines ${width > 90 ? "wide" : ""}`} ref={pane} role="grid" tabIndex={0} aria-rowcount={rows.length + 1} aria-activedescendant={`row-${active}`}
      aria-label={`Source of ${state.file}. Arrow keys move by line, n and p between lines with figures, Enter keeps the record.`}
      onScroll={look} onKeyDown={move} onMouseLeave={() => (hover.set(undefined), pointAtLine(pointed, undefined))}>
      <div class="sizer" style={{ minWidth: `calc(${longest}ch + ${width}ch)` }}>
        <Columns chosen={chosen} shown={shown} />
        <div role="rowgroup" style={padding}>
          {rows.slice(first, last).map((row, index) => (
            <LineRow key={first + index} {...props} row={row} index={first + index} chosen={chosen}
              isActive={first + index === active} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Returns a width in characters. With many columns side by side, spreads are left to the record. */
function columnWidth(figure: Figure, shown: Profile[]) {
  const change = comparing(shown) ? changeWidth : measuredByLine(shown) && measuredFigures.includes(figure.id) ? changeWidth + 1 : 0;
  const value = withSpread(shown) && ["time", "waited", "latency", "l1", "l2"].includes(figure.id) ? 12 : comparing(shown) ? 7 : 8;
  return Math.max(figure.short.length + 1, value + change);
}

const changeWidth = 8;
const comparing = (shown: Profile[]) => shown.some((profile) => profile.before);
/** The figures that profilers count by line. */
const measuredFigures = ["executions", "lanes", "sectors", "conflicts"];
const measuredByLine = (shown: Profile[]) => shown.some((profile) => profile.measured?.lines.length);
const withSpread = (shown: Profile[]) => shown.length === 1 && !comparing(shown);

const gutterWidth = (chosen: Figure[], shown: Profile[]) =>
  10 + shown.length * (1 + chosen.reduce((width, figure) => width + columnWidth(figure, shown), 0));

function Columns({ chosen, shown }: { chosen: Figure[]; shown: Profile[] }) {
  return (
    <div class={`columns ${shown.length > 1 ? "grouped" : ""}`} role="row">
      <div class="gutter" role="presentation">
        {shown.map((profile) => (
          <span key={profile.key} class="group" role="presentation">
            {shown.length > 1 && <span class="group-name" title={`${profile.kernel.name} on ${profile.kernel.gpu}`}>{profile.label} · {profile.kernel.gpu}</span>}
            {chosen.map((figure) => (
              <span key={figure.id} class="cell" role="columnheader" style={{ width: `${columnWidth(figure, shown)}ch` }} title={`${figure.label}. ${figure.about}`}>
                {figure.short}{profile.before ? <small> change</small> : profile.measured?.lines.length && measuredFigures.includes(figure.id) ? <small> − meas.</small> : null}
              </span>
            ))}
          </span>
        ))}
        <span class="number" role="columnheader">line</span>
      </div>
    </div>
  );
}

interface RowProps extends Props {
  row: Row;
  index: number;
  chosen: Figure[];
  isActive: boolean;
}

function LineRow({ row, index, tokens, heat, shown, state, chosen, isActive, go, hover, pointed, pin }: RowProps) {
  const isLit = useIs(pointed.inCode, row.line) && !row.site;
  const line = tokens[row.line - 1] ?? [];
  const spans = row.site ? [] : spansOf(line, row.sites);
  const warmth = row.site ? 0 : (heat.get(row.line) ?? 0);
  const verdict = row.site ? undefined : shown.map((profile) => profile.verdicts.get(placeKey(state.file, row.line))).find(Boolean);
  const changed = comparing(shown) && rowChanged(row, state.file, shown, chosen);
  const choose = (site: Site | undefined) => {
    go({ ...row, site: row.sites.length > 1 ? site : undefined });
    pin();
  };
  return (
    <div id={`row-${index}`} role="row" aria-rowindex={index + 2} aria-selected={isActive}
      class={`row ${row.site ? "sub" : ""} ${row.sites.length ? "has" : ""} ${isActive ? "active" : ""} ${isLit ? "lit" : ""}`}
      onMouseEnter={() => (hover.set(row.site ?? (row.sites.length === 1 ? row.sites[0] : undefined)), pointAtLine(pointed, row.line))}
      onClick={() => choose(row.site)}>
      <div class="gutter" role="presentation">
        {shown.map((profile) => (
          <span key={profile.key} class="group" role="presentation">
            {chosen.map((figure) => <Cell key={figure.id} figure={figure} profile={profile} shown={shown} sites={sitesOfRow(profile, state.file, row)}
              measured={row.site ? undefined : measuredAt(profile, figure, state.file, row.line)} />)}
          </span>
        ))}
        <span class="number" role="rowheader">{changed ? <em title="changed beyond its interval">◆</em> : null}{row.site ? "" : row.line}</span>
      </div>
      <code role="gridcell" style={warmth > 0.004 ? { "--warmth": `${(7 + 38 * warmth).toFixed(1)}%` } : undefined} class={warmth > 0.004 ? "warm" : ""}>
        {row.site ? <SubRow row={row} text={line} /> : piecesOf(spans).map(({ site, tokens }, position) => {
          const text = tokens.map((token, index) => <span key={index} class={token.kind}>{token.text}</span>);
          return site ? (
            <span key={position} class="site" title={placeNotes(site)} onMouseEnter={() => hover.set(site)}
              onClick={(event) => (event.stopPropagation(), choose(site))}>{text}</span>
          ) : text;
        })}
        {verdict && isActive ? <span class="verdict"> {verdict}</span> : null}
      </code>
    </div>
  );
}

export const placeNotes = (site: Site) =>
  [`${site.kind}, ${site.space}`, site.macro && `out of the macro ${site.macro}`, site.template && "in a template, all instances together"]
    .filter(Boolean).join("; ");

function SubRow({ row, text }: { row: Row; text: Token[] }) {
  const site = row.site!;
  const line = text.map((token) => token.text).join("");
  const indent = /^\s*/.exec(line)![0];
  return (
    <>
      {indent}<span class="branch">{site === row.sites[row.sites.length - 1] ? "└ " : "├ "}</span>
      <span class="site">{site.expression.replace(/\s+/g, " ")}</span>{" "}
      <span class="note">{site.kind}{site.macro ? `, macro ${site.macro}` : ""}{site.template ? ", template" : ""}</span>
    </>
  );
}

function rowChanged(row: Row, file: string, shown: Profile[], chosen: Figure[]): boolean {
  return shown.some((profile) => {
    const changes = changesOf(profile, sitesOfRow(profile, file, row));
    return chosen.some((figure) => changeOf(figure, changes)?.beyond);
  });
}

interface CellProps {
  figure: Figure;
  profile: Profile;
  shown: Profile[];
  sites: Site[];
  measured: MeasuredPair | undefined;
}

function Cell({ figure, profile, shown, sites, measured }: CellProps) {
  const width = `${columnWidth(figure, shown)}ch`;
  if (sites.length === 0) return <span class="cell" role="gridcell" style={{ width }} />;
  const value = valueIn(profile, figure, sites);
  const { mean, spread } = valueText(figure, value);
  const change = changeOf(figure, changesOf(profile, sites));
  // Figures that the page computes from others (a ratio) have no interval and are not compared.
  const isNew = !change && value !== undefined && figure.resultName !== undefined && !sites.some((site) => profile.siteBefore.has(site));
  const bar = figure.isShare && value ? { "--bar": `${Math.min(100, 100 * value.mean).toFixed(1)}%` } : {};
  return (
    <span class={`cell ${figure.isShare ? "bar-cell" : ""}`} role="gridcell" style={{ width, ...bar }}>
      {mean}{spread && withSpread(shown) ? <small>{spread}</small> : null}
      {profile.before ? <ChangeMark change={change} isNew={isNew} /> : measuredByLine(shown) && measuredFigures.includes(figure.id) ? <MeasuredMark pair={measured} /> : null}
    </span>
  );
}

function ChangeMark({ change, isNew }: { change: ReturnType<typeof changeOf>; isNew: boolean }) {
  if (isNew) return <small class="change">new</small>;
  if (!change) return <small class="change" />;
  const quality = change.better === undefined ? "" : change.better ? "better" : "worse";
  return (
    <small class={`change ${change.beyond ? `beyond ${quality}` : ""}`}
      title={change.beyond ? `changed beyond its interval${quality ? `, for the ${quality}` : ""}` : "within its interval"}>
      {change.beyond && quality ? (quality === "better" ? "✓" : "✗") : ""}{change.text}
    </small>
  );
}
