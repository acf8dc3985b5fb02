// The page: at the top the reader chooses what is shown; below it is one of four views.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { Header } from "./header";
import { profilesOf } from "./profile";
import type { PageData } from "./result";
import { filesOf, fromAddress, initialState, toAddress, views, type State } from "./state";
import { Breakdown } from "./views/breakdown";
import { Objects } from "./views/objects";
import { Program, isProgram } from "./views/program";
import { SourceView } from "./views/source";
import { TimeLapse } from "./views/time_lapse";
import type { ViewProps } from "./view_props";

const titles = { source: "Source", time: "Time-lapse", breakdown: "Breakdown", objects: "Data objects", program: "Program" };

export function App({ data }: { data: PageData }) {
  const profiles = useMemo(() => profilesOf(data), [data]);
  const files = useMemo(() => filesOf(data, profiles), [data, profiles]);
  const [state, setState] = useState<State>(() => fromAddress(location.hash, initialState(profiles), profiles, files));
  const change = useCallback((part: Partial<State>) => setState((old) => ({ ...old, ...part })), []);

  useEffect(() => {
    const address = toAddress(state);
    if (address === location.hash) return;
    // A new view becomes a place to go back to; a moved line does not.
    const sameView = new URLSearchParams(location.hash.slice(1)).get("view") === state.view;
    if (sameView || !location.hash) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }, [state]);
  useEffect(() => {
    const follow = () => setState((old) => fromAddress(location.hash, old, profiles, files));
    window.addEventListener("popstate", follow);
    return () => window.removeEventListener("popstate", follow);
  }, [profiles, files]);

  if (profiles.length === 0) return <p class="empty">No kernel was profiled: the result holds none.</p>;
  const offered = views.filter((view) => view !== "program" || isProgram(profiles));
  const shown = profiles.filter((profile) => state.shown.includes(profile.key));
  const common: ViewProps = { data, profiles, shown, files, state, change };

  const turn = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = offered[(offered.indexOf(state.view) + step + offered.length) % offered.length];
    change({ view: next });
    document.getElementById(`tab-${next}`)?.focus();
  };

  return (
    <>
      <Header {...common}>
        <div class="tabs" role="tablist" aria-label="Views" onKeyDown={turn}>
          {offered.map((view) => (
            <button key={view} id={`tab-${view}`} role="tab" aria-selected={state.view === view} aria-controls="view"
              tabIndex={state.view === view ? 0 : -1} onClick={() => change({ view })}>
              {titles[view]}
            </button>
          ))}
        </div>
      </Header>
      <main>
        <div id="view" role="tabpanel" aria-labelledby={`tab-${state.view}`} class={`view view-${state.view}`}>
          {state.view === "source" && <SourceView {...common} />}
          {state.view === "time" && <TimeLapse {...common} />}
          {state.view === "breakdown" && <Breakdown {...common} />}
          {state.view === "objects" && <Objects {...common} />}
          {state.view === "program" && <Program {...common} />}
        </div>
      </main>
    </>
  );
}
