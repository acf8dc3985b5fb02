// The source with its figures, the strip that shows the whole file, and the record of the access in focus or the machine code.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { largestOf } from "../extremes";
import { figureOf } from "../figures";
import { plainLines, tokenLines } from "../highlight";
import type { Site } from "../result";
import { heatOf, rowsOf, type Row } from "../rows";
import { signal } from "../signal";
import { FigurePicker } from "./figure_picker";
import { MachineCode, pointAtLine, type Pointed } from "./machine_code";
import { Record } from "./record";
import { SourceLines } from "./source_lines";
import { Strip } from "./strip";
import { Summary } from "./summary";

export interface Focus {
  line: number;
  site?: Site;
}

export function SourceView(props: ViewProps) {
  const { data, shown, state, change } = props;
  const source = data.sources.find((candidate) => candidate.file === state.file);
  const text = source?.text;
  const lines = useMemo(() => plainLines(text ?? ""), [text]);
  const [colored, setColored] = useState<{ text: string; lines: typeof lines }>();
  // Colours come after the first picture: a long file takes its time to parse.
  useEffect(() => {
    if (text === undefined) return;
    const timer = setTimeout(() => setColored({ text, lines: tokenLines(text) }), 0);
    return () => clearTimeout(timer);
  }, [text]);
  const tokens = colored && colored.text === text ? colored.lines : lines;

  const lastSite = largestOf(shown.flatMap((profile) => [...(profile.sites.get(state.file)?.keys() ?? [])]), 1);
  const lineCount = text === undefined ? lastSite : lines.length;
  const rows = useMemo(() => rowsOf(lineCount, state.file, shown), [lineCount, state.file, state.shown]);
  const heat = useMemo(() => heatOf(figureOf(state.heat)!, state.file, shown), [state.heat, state.file, state.shown]);

  const [site, setSite] = useState<Site>();
  const [pinned, setPinned] = useState(false);
  const hover = useMemo(() => signal<Site | undefined>(undefined), []);
  const pointed = useMemo<Pointed>(() => ({ inSource: signal<number | undefined>(undefined), inCode: signal<number | undefined>(undefined) }), []);
  const visible = useMemo(() => signal<[number, number]>([1, 1]), []);
  const row = rows.findIndex((candidate) => candidate.line === state.line && candidate.site === site);
  const active = row >= 0 ? row : Math.max(0, rows.findIndex((candidate) => candidate.line === state.line));
  const go = (next: Row) => {
    setSite(next.site);
    hover.set(undefined);
    pointAtLine(pointed, undefined);
    change({ line: next.line });
  };
  const jumpToLine = (line: number) => go(rows.find((candidate) => candidate.line === line) ?? rows[0]);

  return (
    <>
      <Summary {...props} />
      <FigurePicker {...props} />
      <div class={`workbench ${state.code ? "with-code" : ""}`}>
        {text === undefined && (
          <p class="note missing">The text of {state.file} is not in this page: {source?.missing ?? "it was not found"}. Its figures are.</p>
        )}
        <SourceLines {...props} rows={rows} tokens={tokens} heat={heat} active={active} go={go} hover={hover} visible={visible} pointed={pointed}
          pin={() => setPinned(true)} unpin={() => setPinned(false)} />
        <Strip lineCount={lineCount} heat={heat} line={state.line} visible={visible} figure={figureOf(state.heat)!} jump={jumpToLine} />
        {state.code ? <MachineCode {...props} order={state.code} pointed={pointed} />
          : <Record {...props} row={rows[active]} hover={hover} pinned={pinned} pin={setPinned} />}
      </div>
    </>
  );
}
