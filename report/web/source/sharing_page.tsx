// The page of a report of `warplens corun`, `power` or `clocks`, under a head of its own.
import type { SourceEntry } from "./result";
import type { Sharing } from "./sharing";
import { useSignal } from "./signal";
import { theme, toggleTheme } from "./theme";
import { Arrangements } from "./views/sharing/arrangements";
import { Clocks } from "./views/sharing/clocks";
import { Pair } from "./views/sharing/pair";
import { Pairs } from "./views/sharing/pairs";
import { Power } from "./views/sharing/power";

export function titleOf(report: Sharing): string {
  if (report.schema === "warplens-power/1") return "Power";
  return report.schema === "warplens-clocks/1" ? "Clocks" : "Beside each other";
}

export function SharingPage({ report, sources }: { report: Sharing; sources: SourceEntry[] }) {
  const now = useSignal(theme);
  const gpu = report.schema === "warplens-power/1" ? report.kernels[0]?.gpu : report.gpu;
  return (
    <>
      <header>
        <div class="bar why-bar">
          <h1>Warplens</h1>
          <span class="program"><b>{titleOf(report)}</b> on {gpu}</span>
          <button class="plain" onClick={toggleTheme} aria-label={`Switch to ${now === "dark" ? "light" : "dark"} colours`}>{now === "dark" ? "☀ light" : "☾ dark"}</button>
        </div>
      </header>
      <main>
        <div class="page sharing">
          {report.schema === "warplens-power/1" && <Power report={report} sources={sources} />}
          {report.schema === "warplens-clocks/1" && <Clocks report={report} />}
          {report.schema === "warplens-corun/1" && report.method === "trial" && <Pair report={report} />}
          {report.schema === "warplens-corun/1" && report.method === "arrangements" && <Arrangements report={report} />}
          {report.schema === "warplens-corun/1" && report.method === "camp" && <Pairs report={report} />}
        </div>
      </main>
    </>
  );
}
