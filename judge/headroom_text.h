// The lines that open a kernel's report: what its launch moves and computes, at which rates, and how soon
// that could be done at best.
#pragma once

#include "judge/kernel_findings.h"

#include <string>
#include <utility>
#include <vector>

namespace warplens::judge {

/// A label and what stands beside it, not yet wrapped.
struct LabelledText {
  std::string_view label;
  std::string text;
};

/// Returns the lines "roofline", "DRAM", "pipes" and "waves"; empty if the kernel has no headroom.
std::vector<LabelledText> headroom_text(const KernelResult& kernel);

/// Returns "8 blocks, 64 warps per SM of 64, limited by registers"; "at most" where registers are not known.
std::string occupancy_text(const KernelResult& kernel);

} // namespace warplens::judge
