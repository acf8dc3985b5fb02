// The page of an analysis of many runs: the view Why, under a head of its own.
import { useSignal } from "./signal";
import type { Significance } from "./significance";
import { theme, toggleTheme } from "./theme";
import { Why } from "./views/why/why";

export function WhyPage({ found }: { found: Significance }) {
  const now = useSignal(theme);
  return (
    <>
      <header>
        <div class="bar why-bar">
          <h1>Warplens</h1>
          <span class="program"><b>Why</b>: {found.regions.length} kernel{found.regions.length === 1 ? "" : "s"}</span>
          <button class="plain" onClick={toggleTheme} aria-label={`Switch to ${now === "dark" ? "light" : "dark"} colours`}>{now === "dark" ? "☀ light" : "☾ dark"}</button>
        </div>
      </header>
      <main><Why found={found} /></main>
    </>
  );
}
