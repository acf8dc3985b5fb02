// A bar for each resource: how busy it is, or how much of its work one access causes.
import { percent } from "../format";
import { resources, type ByResource, type Resource } from "../result";
import { ShareBars } from "./share_bars";

export const resourceNames: Record<Resource | "latency", string> = {
  issue: "instruction issue", fp32_pipe: "FP32 pipe", fp64_pipe: "FP64 pipe", fp16_pipe: "FP16 pipe", integer_pipe: "integer pipe",
  special_function_pipe: "special functions (XU)", tensor_pipe: "tensor pipe", memory_pipeline: "memory pipeline", shared_banks: "shared memory banks", constant_pipe: "constant cache",
  l2_port: "L2 port", l2_slices: "L2 slices", atomics: "L2 atomics", fabric: "L2 fabric", dram: "DRAM", latency: "latency",
};

/** Below this share of the busiest one's time, the mean of all is shown as well. */
const uneven = 0.6;

interface Props {
  shares: ByResource;
  /** The means over all of a kind, where the shares are those of the busiest one. */
  means?: ByResource;
  /** The bar of what bounds the kernel stands out. */
  bound?: Resource | "latency";
  label: string;
}

export function ResourceBars({ shares, means, bound, label }: Props) {
  const used = resources.filter((resource) => shares[resource] !== undefined);
  // The passes of the banks are among the memory pipeline's; an access has its own share of each.
  const nameOf = (resource: Resource) => bound && resource === "shared_banks" ? "of it shared banks" : resourceNames[resource];
  const meanOf = (resource: Resource) => {
    const mean = means?.[resource] ?? shares[resource]!;
    return mean < uneven * shares[resource]! ? ` (all: ${percent(mean)} %)` : "";
  };
  return (
    <ShareBars
      of="resources"
      label={label}
      bars={used.map((resource) => ({ name: nameOf(resource), share: shares[resource]!, note: meanOf(resource), marked: resource === bound ? "bounds the kernel's time" : undefined }))}
    />
  );
}
