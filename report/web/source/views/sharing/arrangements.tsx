// Several ways to share a GPU: what each gains over one kernel after the other.
import type { CorunArrangements } from "../../sharing";

export function Arrangements({ report }: { report: CorunArrangements }) {
  const gains = report.arrangements.map((one) => ("impossible" in one ? 0 : one.speed_up.mean - 1));
  const largest = Math.max(0.1, ...gains.map(Math.abs));
  return (
    <section aria-label="Arrangements">
      <h2>{report.kernels.map((kernel) => kernel.name).join(" + ")}: the gain over one after the other</h2>
      <table class="arrangements">
        <thead><tr><th>arrangement</th><th>gain</th><td />{report.kernels.map((kernel, index) => <th key={index} title={kernel.name}>slow-down of {kernel.name}</th>)}</tr></thead>
        <tbody>
          {report.arrangements.map((one, index) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              {"impossible" in one ? <td colSpan={2 + report.kernels.length}>{one.impossible}</td> : (
                <>
                  <td class="number"><b>{gains[index] >= 0 ? "+" : "−"}{Math.abs(100 * gains[index]).toFixed(1)} %</b></td>
                  <td><span class={`gain-bar ${gains[index] < 0 ? "loss" : ""}`} role="img" aria-label={`${(100 * gains[index]).toFixed(1)} %`}><i style={{ width: `${(50 * Math.abs(gains[index])) / largest}%` }} /></span></td>
                  {one.kernels.map((kernel, number) => <td key={number} class="number">{kernel.slow_down.mean.toFixed(2)} ×{kernel.max_per_sm !== undefined && `, ${kernel.max_per_sm} blocks`}</td>)}
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">All but streams and inter are on machines that do not exist.</p>
    </section>
  );
}
