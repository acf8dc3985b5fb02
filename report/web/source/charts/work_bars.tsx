// A bar for each kind of instructions that the warps execute, the commonest first.
import type { ByWork } from "../result";
import { ShareBars } from "./share_bars";

const kindNames: Record<string, string> = {
  fp32: "FP32", fp64: "FP64", fp16: "FP16", integer: "integer", multiply_add: "integer multiply-add", special_function: "special function", tensor: "tensor", memory: "memory", control: "control",
};

/** A smaller share of all instructions is not worth a bar. */
const notable = 0.005;

export function WorkBars({ work }: { work: ByWork }) {
  const all = Object.values(work).reduce((sum, { warps }) => sum + warps, 0);
  if (all === 0) return null;
  const bars = Object.entries(work).map(([kind, { warps, lanes }]) => ({
    name: kindNames[kind] ?? kind, share: warps / all, note: warps > 0 && lanes < 31.5 * warps ? ` (${(lanes / warps).toFixed(0)} lanes)` : undefined,
  }));
  return <ShareBars of="work" label="Share of each kind in the instructions of warps" bars={bars.filter(({ share }) => share >= notable).sort((a, b) => b.share - a.share)} />;
}
