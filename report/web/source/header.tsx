// The page's head: the program's name, the choice of kernels and GPUs, the views, dark or light.
import type { ComponentChildren } from "preact";
import type { ViewProps } from "./view_props";
import { baseName, hotLines, unique } from "./profile";
import { useSignal } from "./signal";
import { theme, toggleTheme } from "./theme";

/** Buttons of which one or more are on. A click shows one alone; with Ctrl, ⌘ or Shift it adds or removes one. */
function Choice(props: { label: string; names: string[]; on: string[]; possible: string[]; choose(names: string[]): void; full?(name: string): string }) {
  const { label, names, on, possible, choose, full = (name: string) => name } = props;
  if (names.length < 2) return <span class="choice"><span class="choice-label">{label}</span> <b title={full(names[0])}>{names[0]}</b></span>;
  const toggle = (name: string) => {
    const next = on.includes(name) ? on.filter((other) => other !== name) : names.filter((other) => other === name || on.includes(other));
    if (next.length) choose(next);
  };
  return (
    <span class="choice" role="group" aria-label={`${label}, several side by side with Ctrl or Shift`}>
      <span class="choice-label">{label}</span>
      {names.map((name) => (
        <button key={name} class="chip" aria-pressed={on.includes(name)} disabled={!possible.includes(name)}
          title={`Show ${full(name)}; with Ctrl or Shift: side by side`}
          onClick={(event) => (event.ctrlKey || event.metaKey || event.shiftKey ? toggle(name) : choose([name]))}>
          {name}
        </button>
      ))}
      <button class="chip all" aria-pressed={on.length === names.length} onClick={() => choose(names)}>all</button>
    </span>
  );
}

export function Header({ data, profiles, shown, change, children }: ViewProps & { children: ComponentChildren }) {
  const now = useSignal(theme);
  const kernels = unique(profiles.map((profile) => profile.label));
  const gpus = unique(profiles.map((profile) => profile.kernel.gpu));
  const shownKernels = unique(shown.map((profile) => profile.label));
  const fullName = (label: string) => profiles.find((profile) => profile.label === label)?.kernel.name ?? label;
  const shownGpus = unique(shown.map((profile) => profile.kernel.gpu));
  const show = (names: string[], onGpus: string[]) => {
    const fitting = profiles.filter((profile) => names.includes(profile.label) && onGpus.includes(profile.kernel.gpu));
    const some = fitting.length ? fitting : profiles.filter((profile) => names.includes(profile.label));
    if (some.length === 0) return;
    // A newly shown kernel is shown at its hottest line.
    const anew = some.find((profile) => !shownKernels.includes(profile.label));
    const hottest = anew && hotLines(anew)[0];
    change({ shown: some.map((profile) => profile.key), ...(hottest ? { file: hottest.file, line: hottest.line } : {}) });
  };
  const [first, second] = data.results;
  const sameBaseName = second && baseName(first.label) === baseName(second.label);
  const nameOf = (label: string) => (sameBaseName ? label : baseName(label));
  return (
    <header>
      <div class="bar">
        <h1>Warplens</h1>
        <span class="program" title={data.results.map((entry) => entry.label).join(" → ")}>
          {second ? <><span class="was">{nameOf(first.label)}</span> → <b>{nameOf(second.label)}</b></> : <b>{nameOf(first.label)}</b>}
        </span>
        {children}
        <button class="plain" onClick={toggleTheme} aria-label={`Switch to ${now === "dark" ? "light" : "dark"} colours`}>
          {now === "dark" ? "☀ light" : "☾ dark"}
        </button>
      </div>
      <div class="bar choices">
        <Choice label="Kernel" names={kernels} on={shownKernels} possible={kernels} choose={(names) => show(names, shownGpus)} full={fullName} />
        <Choice label="GPU" names={gpus} on={shownGpus} possible={gpus} choose={(names) => show(shownKernels, names)} />
      </div>
    </header>
  );
}
