// The events of a launch that cost energy: the instructions of its snapshot's warps, which are the same in
// each trial, and what they do to the memory hierarchy, mean over trials.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/gpu/gpu.h"
#include "model/snapshot/snapshot.h"
#include "result/result.h"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warplens::model {

/// Returns the kind of an instruction.
InstructionKind kind_of(sass::InstructionClass instruction);

/// Returns how often each block of the code is executed, by index, and for how many lanes. The trace has the
/// lanes of accesses only: a block without any has those of the accesses around it, the more of both.
/// `threads` are those of a block of the launch.
std::vector<Instructions> executions_of_blocks(const Snapshot& snapshot, std::uint64_t threads);

/// Instructions by kind, of all and by file and line of the user's source.
struct ExecutedInstructions {
  ByInstructionKind all{};
  FloatingPointOperations operations;
  std::map<std::pair<std::string, std::uint32_t>, ByInstructionKind> lines;
};
/// Returns the instructions that the snapshot's warps execute; it has its code.
ExecutedInstructions executed_instructions(const Snapshot& snapshot, std::uint64_t threads);

/// Returns the events of all sites in the memory hierarchy.
ByMemoryEvent memory_events(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu);
/// Returns those of one site, without DRAM's, of which SiteTime::occupied says its share.
ByMemoryEvent memory_events(const SiteSummary& summary, std::size_t index,
                            std::span<const TrialCounts> trials, const Gpu& gpu);

} // namespace warplens::model
