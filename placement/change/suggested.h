// The input of a change's words and of its edit of the source: a move that was modelled.
#pragma once

#include "placement/change/transformation.h"
#include "result/result.h"

#include <optional>

namespace warplens::placement {

/// A kernel as its trace has it, and as its trials show it.
struct TracedKernel {
  const trace::AccessSource& trace;
  const trace::Launch& launch;
  const Arrays& arrays;
  const model::Gpu& gpu;
  const KernelResult& sample; ///< without any change
};

/// A move of an array, with the kernel as it was modelled with it.
struct Suggested {
  const Move& move;
  const Array& array; ///< of a rewrite of the launch as a whole: the array that speaks for it
  const KernelResult& result;
  const std::optional<trace::PersistingWindow>& persisting;
};

/// A counter that a rule of a profiler looks at.
enum class RuleCounter : std::uint8_t { excess_sectors, bank_conflicts, occupancy };

} // namespace warplens::placement

template <>
inline constexpr std::array<std::string_view, 3> warplens::names_of<warplens::placement::RuleCounter>{
    "excess sectors", "bank conflicts", "occupancy"};
