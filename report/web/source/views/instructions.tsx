// The machine instructions of a kernel, with what warps do at each.
import { useEffect, useMemo, useState } from "preact/hooks";
import { fileOf, inOrder, lineIn, longestState, sectorsPerRequest, timeShare } from "../code";
import { largestOf } from "../extremes";
import { count, percent, significant } from "../format";
import { baseName } from "../profile";
import type { Code, Instruction } from "../result";
import { useLitLine, type CodeProps } from "./machine_code";
import { bringIntoView, rowsOfPage, useWindowed } from "./windowed";

const notKnown = "not known";

interface Column {
  heading: string;
  about: string;
  /** Empty where the instruction has no such figure. */
  text(instruction: Instruction): string;
  /** A share, which a bar shows beside its number. */
  share?(instruction: Instruction): number | undefined;
  isLeft?: boolean;
}

const columns: Column[] = [
  { heading: "execs", about: "Executions by warps, inside the snapshot.", text: ({ executions }) => count(executions) },
  {
    heading: "lanes", about: "Mean number of active lanes per execution, of 32.",
    text: ({ active_lanes: lanes, executions }) => (lanes !== undefined ? significant(lanes) : executions ? notKnown : ""),
  },
  {
    heading: "time %", about: "Share of the time of all the kernel's warps in which they wait to issue the instruction, or issue it. The bars are relative to the largest share.", share: timeShare,
    text: (instruction) => { const share = timeShare(instruction); return share === undefined ? notKnown : percent(share); },
  },
  {
    heading: "mostly", about: "The state in which warps are longest at the instruction, under the names of Nsight Compute.", isLeft: true,
    text: (instruction) => longestState(instruction) ?? "",
  },
  {
    heading: "sect/req", about: "32-byte sectors that one request touches; empty where the instruction requests none.",
    text: (instruction) => { const sectors = sectorsPerRequest(instruction); return sectors === undefined ? "" : significant(sectors); },
  },
];

const offsetText = (offset: number) => `0x${offset.toString(16).padStart(4, "0")}`;

const awaitedText = ({ awaited }: Instruction) => (awaited ? `warps wait ${percent(awaited)} % of their time for its result` : "");

export function Instructions(props: CodeProps & { code: Code }) {
  const { code, order, state, files, change, pointed } = props;
  const rows = useMemo(() => inOrder(code, order), [code, order]);
  const widths = useMemo(() => columns.map(({ heading, text }) => largestOf(rows.map((row) => text(row).length), heading.length) + 1.5), [rows]);
  const longest = useMemo(() => largestOf(rows.map(({ sass }) => sass.length), 20), [rows]);
  const largestShare = useMemo(() => largestOf(rows.map((row) => timeShare(row) ?? 0), 0), [rows]);
  const { pane, look, first, last, padding } = useWindowed(rows);
  const [chosen, setChosen] = useState<Instruction>();
  const active = Math.max(0, rows.indexOf(chosen ?? rows[0]));
  const lit = useLitLine(props);
  const lineOf = (instruction: Instruction | undefined) => instruction && lineIn(state.file, code, instruction);
  const firstOf = (line: number | undefined) => (line === undefined ? -1 : rows.findIndex((row) => lineOf(row) === line));

  // The line in focus puts its first instruction in focus, unless another one of its instructions is.
  useEffect(() => {
    const index = lineOf(chosen) === state.line ? rows.indexOf(chosen!) : firstOf(state.line);
    if (index < 0) return;
    setChosen(rows[index]);
    bringIntoView(pane.current!, index);
  }, [rows, state.file, state.line]);
  useEffect(() => pointed.inSource.subscribe((line) => {
    const index = firstOf(line);
    if (index >= 0) bringIntoView(pane.current!, index);
  }), [pointed, rows, state.file]);
  useEffect(() => () => pointed.inCode.set(undefined), [pointed]);

  const point = (instruction: Instruction | undefined) => pointed.inCode.set(lineOf(instruction));
  const focus = (index: number) => {
    const to = Math.min(rows.length - 1, Math.max(0, index));
    setChosen(rows[to]);
    point(rows[to]);
    bringIntoView(pane.current!, to);
  };
  const goToLine = (instruction: Instruction) => {
    setChosen(instruction);
    const file = fileOf(code, instruction);
    if (file !== undefined && files.includes(file)) change({ file, line: instruction.line });
  };
  const move = (event: KeyboardEvent) => {
    const page = rowsOfPage(pane.current);
    const actions: { [key: string]: () => void } = {
      ArrowDown: () => focus(active + 1), ArrowUp: () => focus(active - 1),
      PageDown: () => focus(active + page), PageUp: () => focus(active - page),
      Home: () => focus(0), End: () => focus(rows.length - 1),
      Enter: () => goToLine(rows[active]), " ": () => goToLine(rows[active]),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey || rows.length === 0 ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  return (
    <div class="lines" ref={pane} role="grid" tabIndex={0} aria-rowcount={rows.length + 1} aria-activedescendant={rows.length ? `instruction-${active}` : undefined}
      aria-label={`Machine instructions, by ${order}. Arrow keys move by instruction and light its line in the source, Enter goes to that line.`}
      onScroll={look} onKeyDown={move} onFocus={() => point(rows[active])} onBlur={() => point(undefined)} onMouseLeave={() => point(undefined)}>
      <div class="sizer" style={{ minWidth: `${longest + widths.reduce((sum, width) => sum + width, 14)}ch` }}>
        <div class="columns" role="row">
          <div class="gutter" role="presentation">
            {columns.map(({ heading, about, isLeft }, index) => (
              <span key={heading} class={`cell ${isLeft ? "left" : ""}`} role="columnheader" style={{ width: `${widths[index]}ch` }} title={about}>{heading}</span>
            ))}
            <span class="number" role="columnheader">offset</span>
          </div>
          <span class="heading" role="columnheader">instruction</span>
        </div>
        <div role="rowgroup" style={padding}>
          {rows.slice(first, last).map((instruction, place) => {
            const index = first + place;
            const file = fileOf(code, instruction);
            const begins = code.functions.length > 1 && (instruction.function ?? 0) !== (rows[index - 1]?.function ?? -1);
            return (
              <div key={index} id={`instruction-${index}`} role="row" aria-rowindex={index + 2} aria-selected={index === active}
                class={`row has ${index === active ? "active" : ""} ${lineOf(instruction) === lit ? "lit" : ""}`}
                title={[file === undefined ? "of no line of the program's files" : `${baseName(file)}:${instruction.line}`, awaitedText(instruction)].filter(Boolean).join("; ")}
                onMouseEnter={() => point(instruction)} onClick={() => goToLine(instruction)}>
                <div class="gutter" role="presentation">
                  {columns.map(({ heading, text, share, isLeft }, column) => <Cell key={heading} text={text(instruction)} share={largestShare ? (share?.(instruction) ?? 0) / largestShare : 0} isLeft={isLeft} width={widths[column]} />)}
                  <span class="number" role="rowheader">{offsetText(instruction.offset)}</span>
                </div>
                <code role="gridcell">{begins && order === "address" ? <span class="note">{code.functions[instruction.function ?? 0]}: </span> : null}{instruction.sass}</code>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cell({ text, share, isLeft, width }: { text: string; share: number; isLeft?: boolean; width: number }) {
  const bar = share ? { "--bar": `${(100 * share).toFixed(1)}%` } : {};
  return (
    <span class={`cell ${isLeft ? "left" : ""} ${share ? "bar-cell" : ""}`} role="gridcell" style={{ width: `${width}ch`, ...bar }}>
      {text === notKnown ? <small>{text}</small> : text}
    </span>
  );
}
