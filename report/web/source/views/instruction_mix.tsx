// All instructions of a kernel: where its warps are in the code, and for how many lanes they execute.
import type { ViewProps } from "../view_props";
import { PcHistogram } from "../charts/pc_histogram";
import { ShareBars, type ShareBar } from "../charts/share_bars";
import { isTimed, sharesByLanes } from "../code";
import type { Kernel } from "../result";

/** A smaller share is not worth a bar. */
const notable = 0.0005;

/** Returns the share of each number of lanes in the issue slots of the SMs (in the instructions, where their cycles are not known), and of the empty slots. */
export function divergenceOf(kernel: Kernel): ShareBar[] | undefined {
  const byLanes = kernel.code && sharesByLanes(kernel.code);
  if (!byLanes) return undefined;
  const schedulers = kernel.machine?.schedulers;
  const used = kernel.executed && schedulers ? Math.min(1, kernel.executed.per_cycle.mean / schedulers) : undefined;
  const bars: ShareBar[] = byLanes.map((share, row) => ({ name: `${4 * row + 1}–${4 * row + 4} lanes`, share: share * (used ?? 1) }));
  if (used !== undefined) bars.unshift({ name: "no instruction", share: 1 - used, marked: "no warp can issue, or the SM has none" });
  return bars.filter(({ share }) => share >= notable);
}

export function InstructionMix({ shown, change }: ViewProps) {
  const known = shown.filter(({ kernel }) => kernel.code);
  if (known.length === 0) return null;
  return (
    <section class="instruction-mix">
      <h2>All instructions</h2>
      <p class="note">Of the machine code as it was executed, arithmetic and barriers too: where warps wait to issue an instruction or issue it; and the issue slots by the lanes that an instruction is executed for, each instruction with its mean. Instructions are always there to be issued: the model has no instruction cache, so that no slot is empty for a fetch.</p>
      {known.map(({ key, label, kernel }) => {
        const bars = divergenceOf(kernel);
        const name = `${label} · ${kernel.gpu}`;
        return (
          <div key={key}>
            <h3 title={kernel.name}>{name}</h3>
            {isTimed(kernel.code!) && <PcHistogram code={kernel.code!} label={`Where the warps of ${name} are`} show={(file, line) => change({ view: "source", file, line })} />}
            {bars && <ShareBars of="work" label={`Issue slots of ${name} by active lanes`} bars={bars} />}
          </div>
        );
      })}
    </section>
  );
}
