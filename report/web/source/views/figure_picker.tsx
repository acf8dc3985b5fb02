// Chooses the figures of the gutter, the figure of the heat and the navigation strip, and the file.
import { useState } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { figureOf, figures } from "../figures";
import { baseName } from "../profile";

export function FigurePicker({ files, state, change }: ViewProps) {
  const [upper, setUpper] = useState("moved");
  const [lower, setLower] = useState("used");
  const ratios = state.figures.filter((id) => id.includes("/"));
  const toggle = (id: string) => {
    const on = state.figures.includes(id) ? state.figures.filter((other) => other !== id) : [...state.figures, id];
    const order = [...figures.map((figure) => figure.id).filter((known) => on.includes(known)), ...on.filter((other) => other.includes("/"))];
    if (order.length) change({ figures: order });
  };
  const toggleCode = () => {
    change({ code: state.code ? undefined : "address" });
    // The answers above may leave little of the source on the screen.
    if (!state.code) requestAnimationFrame(() => document.querySelector(".workbench")?.scrollIntoView({ block: "nearest" }));
  };
  const names = baseNamesOrPaths(files);
  return (
    <div class="picker">
      <label>
        File{" "}
        <select value={state.file} onChange={(event) => change({ file: event.currentTarget.value, line: 1 })}>
          {files.map((file, index) => <option key={file} value={file}>{names[index]}</option>)}
        </select>
      </label>
      <details class="menu">
        <summary>Figures in the gutter ({state.code && state.figures.length > 1 ? `the first of ${state.figures.length}` : state.figures.length})</summary>
        <fieldset>
          <legend>Figures in the gutter</legend>
          {[...figures.map((figure) => figure.id), ...ratios].map((id) => (
            <label key={id} title={figureOf(id)!.about}>
              <input type="checkbox" checked={state.figures.includes(id)} onChange={() => toggle(id)} /> {figureOf(id)!.label}
            </label>
          ))}
          <div class="ratio">
            <Operand label="Ratio of" value={upper} choose={setUpper} /> <Operand label="to" value={lower} choose={setLower} />{" "}
            <button disabled={upper === lower || state.figures.includes(`${upper}/${lower}`)} onClick={() => toggle(`${upper}/${lower}`)}>Add</button>
          </div>
        </fieldset>
      </details>
      <label>
        Heat and strip{" "}
        <select value={state.heat} onChange={(event) => change({ heat: event.currentTarget.value })}>
          {[...figures.map((figure) => figure.id), ...ratios].map((id) => <option key={id} value={id}>{figureOf(id)!.label}</option>)}
        </select>
      </label>
      <button class="chip" aria-pressed={state.code !== undefined} onClick={toggleCode}
        title="Show the kernel's machine instructions beside the source, in place of the record">
        Machine code
      </button>
    </div>
  );
}

function Operand({ label, value, choose }: { label: string; value: string; choose(id: string): void }) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {figures.map((figure) => <option key={figure.id} value={figure.id}>{figure.label}</option>)}
      </select>
    </label>
  );
}

/** Returns the short names, if they distinguish the files. */
function baseNamesOrPaths(files: string[]): string[] {
  const short = files.map(baseName);
  return files.map((file, index) => (short.filter((name) => name === short[index]).length > 1 ? file : short[index]));
}
