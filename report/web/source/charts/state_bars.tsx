// A bar for each of the states that warps are in, the longest first.
import { warpStates, type ByState } from "../result";
import { ShareBars } from "./share_bars";

/** A smaller share of the time of all warps is not worth a bar. */
const notable = 0.005;

export function StateBars({ shares, label }: { shares: ByState; label: string }) {
  const bars = warpStates.map((state) => ({ name: state, share: shares[state] ?? 0, marked: state === "selected" ? "the warp issues an instruction" : undefined }));
  return <ShareBars of="states" label={label} bars={bars.filter(({ share }) => share >= notable).sort((a, b) => b.share - a.share)} />;
}
