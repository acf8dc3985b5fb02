// How far off the GPU's model was, in words.
import { duration } from "./format";
import type { Accuracy, Kernel, LaunchKind } from "./result";

const wholePercent = (fraction: number) => `${(100 * fraction).toFixed(0)} %`;

/** Returns all that is known of it, as the text report says it. */
export function accuracyOf({ accuracy, gpu }: Kernel): string {
  if (!accuracy) return "held against no measurements";
  return accuracy.gpu === gpu ? errors(accuracy)
    : `nothing was measured on this GPU; on its nearest relative, ${accuracy.gpu}: ${errors(accuracy)}`;
}

/** Returns the note beside a time. */
export function besideTime({ accuracy, time }: Kernel): string {
  const like = time?.kind && accuracy?.time_by_kind?.[time.kind];
  if (time?.likely && time.kind && like)
    return `hardware: ${duration(time.likely.low, 0)} to ${duration(time.likely.high, 0)} in nine cases of ten, by ${like.launches} ${like.of_any_kind ? "launches" : kinds[time.kind]} measured on ${like.measured_on}`;
  return accuracy?.time ? `times of ${accuracy.gpu} are ${wholePercent(accuracy.time.mean_error)} off in the mean` : "held against no measured time";
}

const kinds: Record<LaunchKind, string> = {
  small: "short launches",
  dram: "launches bound by DRAM",
  l2: "launches bound by the L2",
  sm: "launches bound by the SMs",
  latency: "launches bound by latency",
};

function errors({ time, launches, kernels, l1_read_hit_rate, l2_read_hit_rate, without }: Accuracy): string {
  const rates = [["L1", l1_read_hit_rate], ["L2", l2_read_hit_rate]] as const;
  return [
    `${time ? `time ${wholePercent(time.mean_error)} off in the mean and ${wholePercent(time.worst_error)} at worst` : "time not compared"} over ${counted(launches, "launch", "es")} of ${counted(kernels, "kernel", "s")}`,
    rates.flatMap(([level, error]) => error ? [`${level} hits ${(100 * error.mean_error).toFixed(1)} points`] : []).join(", "),
    without.length > 0 ? `no kernel with ${alternatives(without)} among them` : "",
  ].filter((part) => part !== "").join("; ");
}

function counted(count: number, what: string, ending: string): string {
  return `${count} ${what}${count === 1 ? "" : ending}`;
}

function alternatives(texts: string[]): string {
  return [texts.slice(0, -1).join(", "), texts.at(-1)!].filter((text) => text !== "").join(" or ");
}
