// The reader's choices. They live in the address (after #), so that a link or the back button leads to the same view.
import { codeOrders, type CodeOrder } from "./code";
import { costFigure, defaultFigures, figureOf } from "./figures";
import { hotLines, unique, type Profile } from "./profile";
import type { PageData } from "./result";

export const views = ["source", "time", "breakdown", "objects", "program"] as const;
export type View = (typeof views)[number];

export interface State {
  view: View;
  /** Keys of the profiles shown side by side; never empty. */
  shown: string[];
  figures: string[];
  /** The figure of the heat and the navigation strip. */
  heat: string;
  file: string;
  line: number;
  /** The order of the machine code beside the source; absent: it is not shown. */
  code?: CodeOrder;
}

export type Change = (change: Partial<State>) => void;

export function initialState(profiles: Profile[]): State {
  const first = profiles[0];
  const hottest = first && hotLines(first)[0];
  return {
    view: "source", shown: first ? [first.key] : [], figures: first ? defaultFigures(first.kernel) : [],
    heat: first ? costFigure(first.kernel) : "share",
    file: hottest?.file ?? "", line: hottest?.line ?? 1,
  };
}

/** Returns the figures in the gutter: beside the machine code there is room for one. */
export const figuresInGutter = ({ figures, code }: State) => (code ? figures.slice(0, 1) : figures);

/** Returns the files that can be shown: those with sites first, ordered by cost. */
export function filesOf(data: PageData, profiles: Profile[]): string[] {
  const cost = new Map<string, number>();
  for (const profile of profiles)
    for (const site of profile.kernel.sites)
      cost.set(site.file, (cost.get(site.file) ?? 0) + site.executions * (site.latency_ns?.mean ?? 1));
  return unique([...[...cost.keys()].sort((a, b) => cost.get(b)! - cost.get(a)!), ...data.sources.map((source) => source.file)]);
}

export function toAddress(state: State): string {
  const fields = new URLSearchParams({
    view: state.view, shown: state.shown.join("|"), figures: state.figures.join(","), heat: state.heat,
    file: state.file, line: String(state.line), ...(state.code ? { code: state.code } : {}),
  });
  return `#${fields}`;
}

/** Returns the state of an address as far as it fits this page; the rest stays. */
export function fromAddress(address: string, state: State, profiles: Profile[], files: string[]): State {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const shown = (fields.get("shown") ?? "").split("|").filter((key) => profiles.some((profile) => profile.key === key));
  const figures = (fields.get("figures") ?? "").split(",").filter(figureOf);
  const file = fields.get("file") ?? "";
  const view = views.find((name) => name === fields.get("view"));
  return {
    view: view ?? state.view,
    shown: shown.length ? shown : state.shown,
    figures: figures.length ? figures : state.figures,
    heat: figureOf(fields.get("heat") ?? "")?.id ?? state.heat,
    file: files.includes(file) ? file : state.file,
    line: Math.max(1, Number(fields.get("line")) || state.line),
    code: codeOrders.find((order) => order === fields.get("code")),
  };
}
