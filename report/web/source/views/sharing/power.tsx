// Where a board's power goes: by part, and by line of the source.
import { category } from "../../color";
import { duration, significant } from "../../format";
import { baseName } from "../../profile";
import type { SourceEntry } from "../../result";
import type { PowerKernel, PowerLine, PowerReport } from "../../sharing";
import { useSignal } from "../../signal";
import { theme } from "../../theme";

export function joules(value: number): string {
  const [factor, unit] = value >= 1 ? [1, "J"] : value >= 1e-3 ? [1e3, "mJ"] : value >= 1e-6 ? [1e6, "µJ"] : [1e9, "nJ"];
  return `${significant(value * factor)} ${unit}`;
}

export function Power({ report, sources }: { report: PowerReport; sources: SourceEntry[] }) {
  return <>{report.kernels.map((kernel, index) => <KernelPower key={index} kernel={kernel} sources={sources} />)}</>;
}

function KernelPower({ kernel, sources }: { kernel: PowerKernel; sources: SourceEntry[] }) {
  const look = useSignal(theme);
  const parts = Object.entries(kernel.parts).filter(([, watts]) => watts > 0);
  const [low, high] = kernel.watts.interval95;
  const files = [...new Set(kernel.lines.map((line) => line.file))];
  return (
    <section aria-label={`Power of ${kernel.name}`}>
      <h2 title={kernel.name}>{kernel.name}{kernel.sm_clock_mhz !== undefined && ` at ${kernel.sm_clock_mhz.toFixed(0)} MHz`}</h2>
      <p><b>{kernel.watts.value.toFixed(0)} W</b> ({low.toFixed(0)} to {high.toFixed(0)}), <b>{joules(kernel.joules.value)}</b> for a launch of {duration(1e6 * kernel.seconds, 0)}</p>
      <span class="power-parts" role="img" aria-label={`Power by part: ${parts.map(([name, watts]) => `${name} ${watts.toFixed(1)} W`).join(", ")}`}>
        {parts.map(([name, watts], index) => <i key={name} title={`${name} ${watts.toFixed(1)} W`} style={{ width: `${(100 * watts) / kernel.watts.value}%`, background: category(look, index) }} />)}
      </span>
      <p class="legend">{parts.map(([name, watts], index) => <span key={name}><i style={{ background: category(look, index) }} /> {name} {watts.toFixed(watts < 9.95 ? 1 : 0)} W</span>)}</p>
      {files.map((file) => <Lines key={file} kernel={kernel} lines={kernel.lines.filter((line) => line.file === file)} source={sources.find((source) => source.file === file)} file={file} />)}
    </section>
  );
}

const around = 2; // lines shown before and behind those with energy

function Lines({ kernel, lines, source, file }: { kernel: PowerKernel; lines: PowerLine[]; source?: SourceEntry; file: string }) {
  const most = Math.max(...kernel.lines.map((line) => line.joules));
  const text = source?.text?.split("\n");
  const of = new Map(lines.map((line) => [line.line, line]));
  const shown = text
    ? text.map((_, index) => index + 1).filter((number) => lines.some(({ line }) => Math.abs(line - number) <= around))
    : lines.map(({ line }) => line);
  return (
    <table class="power-lines">
      <caption>{baseName(file)}{source?.missing && `: the source was ${source.missing}`}</caption>
      <thead><tr><th>line</th><th>energy</th><th>of all</th><th><span class="power-key"><i class="events" /> events <i class="rest" /> share of the rest</span></th><th>source</th></tr></thead>
      <tbody>
        {shown.map((number, index) => {
          const line = of.get(number);
          return (
            <tr key={number} class={index > 0 && shown[index - 1] !== number - 1 ? "gap" : ""}>
              <td class="number">{number}</td>
              <td class="number">{line ? joules(line.joules) : ""}</td>
              <td class="number">{line ? `${((100 * line.joules) / kernel.joules.value).toFixed(1)} %` : ""}</td>
              <td>{line && <PowerBar line={line} most={most} />}</td>
              <td><code>{text?.[number - 1] ?? ""}</code></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function PowerBar({ line, most }: { line: PowerLine; most: number }) {
  const text = `events ${joules(line.events_joules)}, share of the rest ${joules(line.rest_joules)}`;
  return (
    <span class="power-bar" role="img" aria-label={text} title={text}>
      <i class="events" style={{ width: `${(100 * line.events_joules) / most}%` }} />
      <i class="rest" style={{ width: `${(100 * line.rest_joules) / most}%` }} />
    </span>
  );
}
