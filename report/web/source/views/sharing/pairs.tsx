// All pairs of a list, estimated from what each kernel does alone.
import type { CorunEstimates } from "../../sharing";

export function Pairs({ report }: { report: CorunEstimates }) {
  const name = (kernel: number) => report.kernels[kernel].name;
  const isBest = (pair: [number, number]) => report.best_pairs.some(([first, second]) => first === pair[0] && second === pair[1]);
  const ratio = ([first, second]: number[]) => `${first.toFixed(2)} × and ${second.toFixed(2)} ×`;
  return (
    <section aria-label="Pairs">
      <h2>{report.pairs.length} pairs that share the L2 and memory, the least slowed down first</h2>
      <p class="note">Estimates from what each kernel does alone; none was measured. ★: the pairs to run, for the least slow-downs in sum.</p>
      <table class="pairs">
        <thead><tr><td /><th>kernels</th><th>slow-downs</th><th>by the L2 alone</th><th>ways of the L2</th><th>on one SM</th></tr></thead>
        <tbody>
          {report.pairs.map((pair) => (
            <tr key={pair.kernels.join()} class={isBest(pair.kernels) ? "marked" : ""}>
              <td>{isBest(pair.kernels) && <span title="one of the pairs to run">★</span>}</td>
              <th scope="row">{name(pair.kernels[0])} + {name(pair.kernels[1])}</th>
              <td class="number"><b>{ratio(pair.slow_down)}</b></td>
              <td class="number">{ratio(pair.camp.map((one) => one.slow_down))}</td>
              <td class="number">{pair.camp.map((one) => one.ways.toFixed(1)).join(" and ")}</td>
              <td class="number">{ratio(pair.same_sm)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
