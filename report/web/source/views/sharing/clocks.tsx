// A plan of SM clocks: what it costs in time and saves in energy, and what each kernel could do.
import { EnergyPlot, type EnergyPoint } from "../../charts/energy_plot";
import type { ClockPlan, ClocksReport } from "../../sharing";
import { joules } from "./power";
import { duration } from "../../format";

const change = (value: number, before: number) => `${value >= before ? "+" : "−"}${Math.abs(100 * (value / before - 1)).toFixed(1)} %`;

export function Clocks({ report }: { report: ClocksReport }) {
  const { fastest, plan, slot_by_slot: each } = report;
  const point = (one: ClockPlan, label: string, kind?: EnergyPoint["kind"]): EnergyPoint => ({ time: one.seconds / fastest.seconds, energy: one.joules / fastest.joules, label, kind });
  const plans = [
    ...report.front.filter((one) => one.slow_down !== 0 && one.seconds !== plan.seconds).filter((one, index, all) => index === 0 || one.seconds !== all[index - 1].seconds)
      .map((one) => point(one, `${(100 * one.slow_down).toFixed(0)} %`)),
    point(fastest, "fastest"), point(each, "each by itself (F-DVFS)", "other"), point(plan, `plan for ${(100 * report.slow_down).toFixed(0)} %`, "chosen"),
  ];
  return (
    <>
      <section aria-label="Plan">
        <h2>The least energy for at most {(100 * report.slow_down).toFixed(0)} % more time</h2>
        <p>All together: <b>{change(plan.seconds, fastest.seconds)}</b> time, <b>{change(plan.joules, fastest.joules)}</b> energy; each kernel by itself (F-DVFS): {change(each.seconds, fastest.seconds)} time, {change(each.joules, fastest.joules)} energy.
          {!plan.within_limit && " No plan is that fast."} <span class="note">A plan of the model: no board was measured with it.</span></p>
        <table>
          <thead><tr><th>kernel</th><th>launches</th><th>clock</th><th>time</th><th>energy</th><th>power</th></tr></thead>
          <tbody>
            {report.kernels.map((kernel, index) => {
              const at = (one: ClockPlan) => kernel.choices.find((choice) => choice.sm_clock_mhz === one.sm_clock_mhz[index])!;
              const [chosen, quick] = [at(plan), at(fastest)];
              return (
                <tr key={index}>
                  <th scope="row" title={kernel.name}>{kernel.name}</th>
                  <td class="number">{kernel.launches}</td>
                  <td class="number">{chosen.sm_clock_mhz.toFixed(0)} MHz</td>
                  <td class="number">{duration(1e6 * chosen.seconds, 0)} ({change(chosen.seconds, quick.seconds)})</td>
                  <td class="number">{joules(chosen.joules)} ({change(chosen.joules, quick.joules)})</td>
                  <td class="number">{(chosen.joules / chosen.seconds).toFixed(0)} W</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <section class="energy-plots" aria-label="Time and energy">
        <EnergyPlot title="All kernels: plans for several slow-downs" points={plans} limit={1 + report.slow_down} />
        {report.kernels.map((kernel, index) => {
          const quick = kernel.choices.find((choice) => choice.sm_clock_mhz === fastest.sm_clock_mhz[index])!;
          return (
            <EnergyPlot key={index} title={`${kernel.name}: its clocks in MHz`} points={kernel.choices.map((choice) => ({
              time: choice.seconds / quick.seconds, energy: choice.joules / quick.joules, label: choice.sm_clock_mhz.toFixed(0),
              kind: choice.sm_clock_mhz === plan.sm_clock_mhz[index] ? "chosen" : undefined,
            }))} />
          );
        })}
      </section>
    </>
  );
}
