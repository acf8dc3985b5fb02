#include "model/snapshot/executed_paths.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

ExecutedPaths::ExecutedPaths(const sass::Kernel& kernel,
                             const std::vector<trace::Execution::Section>& sections)
    : makes_access_(kernel.instructions.size()), is_split_(kernel.instructions.size()) {
  for (const trace::Execution::Section& section : sections) {
    const auto function = std::ranges::find_if(kernel.functions, [&](const sass::Function& candidate) {
      return candidate.name == section.name && kernel.instructions[candidate.begin].address == 0;
    });
    index_of_.resize(std::max<std::size_t>(index_of_.size(), section.end), sass::none);
    if (function == kernel.functions.end())
      continue; // a function that the kernel need not call
    for (std::uint32_t i = 0;
         i < section.end - section.begin && function->begin + i < kernel.instructions.size(); ++i)
      index_of_[section.begin + i] = function->begin + i;
  }
}

bool ExecutedPaths::add_runs(std::uint64_t block, std::uint32_t warp,
                             std::span<const trace::ExecutedRun> runs) {
  Runs own(runs.begin(), runs.end());
  for (trace::ExecutedRun& run : own) {
    const std::uint32_t first = index_of(run.first),
                        last = index_of(std::uint64_t{run.first} + run.count - 1);
    if (first == sass::none || last == sass::none || last - first != run.count - 1)
      return false;
    run.first = first;
  }
  const auto [found, is_new] = known_.emplace(std::move(own), std::uint32_t(pieces_.size()));
  if (is_new)
    pieces_.push_back(&found->first);
  warps_[{block, warp}].pieces.push_back(found->second);
  return true;
}

void ExecutedPaths::add_access(std::uint64_t block, std::uint32_t warp, MadeAccess access) {
  std::vector<std::uint32_t>& made = warps_[{block, warp}].made;
  if (access.is_operand)
    return made.push_back(access.instruction | operand);
  made.push_back(access.instruction | (access.continues ? further_part : 0));
  makes_access_[access.instruction] = 1;
  if (access.continues)
    is_split_[access.instruction] = 1;
}

/// Gives the code blocks of which each run is made up: lanes go on apart within a block, too, and what is
/// left of a large access is made at its end.
void ExecutedPaths::split_blocks(Code& code) const {
  std::vector<std::uint8_t> begins(code.kernel.instructions.size() + 1);
  for (const Runs* const runs : pieces_)
    for (const trace::ExecutedRun& run : *runs)
      begins[run.first] = begins[run.first + run.count] = 1;
  for (std::size_t i = 0; i < is_split_.size(); ++i)
    begins[i + 1] |= is_split_[i];
  const std::vector<sass::Block> old = std::move(code.kernel.blocks);
  const std::vector<std::uint32_t> old_successors = std::move(code.kernel.successors);
  code.kernel.blocks.clear();
  code.kernel.successors.clear();
  std::vector<std::uint32_t> first_of; // the new block that an old one begins with
  for (const sass::Block& block : old) {
    first_of.push_back(std::uint32_t(code.kernel.blocks.size()));
    std::uint32_t begin = block.begin;
    for (std::uint32_t i = begin + 1; i < block.end; ++i)
      if (begins[i] != 0) {
        code.kernel.blocks.push_back({begin, i, 0, 1, sass::BlockEnd::falls_through});
        begin = i;
      }
    code.kernel.blocks.push_back({begin, block.end, block.first_successor, block.successor_count, block.how});
  }
  for (std::uint32_t i = 0, next_old = 0; i < code.kernel.blocks.size(); ++i) {
    sass::Block& block = code.kernel.blocks[i];
    const auto first = std::uint32_t(code.kernel.successors.size());
    if (block.end != old[next_old].end) {
      code.kernel.successors.push_back(i + 1);
    } else {
      for (const std::uint32_t successor :
           std::span(old_successors).subspan(old[next_old].first_successor, old[next_old].successor_count))
        code.kernel.successors.push_back(first_of[successor]);
      ++next_old;
    }
    block.first_successor = first;
  }
}

void ExecutedPaths::set_slots(Code& code) const {
  code.slots.clear();
  code.first_slot.clear();
  for (const sass::Block& block : code.kernel.blocks) {
    code.first_slot.push_back(std::uint32_t(code.slots.size()));
    for (std::uint32_t i = block.begin; i < block.end; ++i)
      if (makes_access_[i] != 0)
        code.slots.push_back({i, 0, std::max<std::uint8_t>(code.kernel.instructions[i].access_bytes, 1),
                              !code.kernel.instructions[i].guard.is_always()});
  }
  code.first_slot.push_back(std::uint32_t(code.slots.size()));
}

void ExecutedPaths::set_lanes(Code& code) const {
  std::vector<std::uint64_t> uses(pieces_.size());
  for (const auto& [place, warp] : warps_)
    for (const std::uint32_t piece : warp.pieces)
      ++uses[piece];
  // These are differences to the instruction before, so that a long run costs no more than a short one.
  std::vector<std::int64_t> executions(code.kernel.instructions.size() + 1), lanes(executions.size());
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece)
    for (const trace::ExecutedRun& run : *pieces_[piece]) {
      const auto times = std::int64_t(uses[piece]);
      const std::int64_t lane_executions = times * std::popcount(run.lanes);
      executions[run.first] += times;
      executions[run.first + run.count] -= times;
      lanes[run.first] += lane_executions;
      lanes[run.first + run.count] -= lane_executions;
    }
  code.active_lanes.assign(code.kernel.instructions.size(), 0);
  std::int64_t all_executions = 0, all_lanes = 0;
  for (std::size_t i = 0; i < code.active_lanes.size(); ++i) {
    all_executions += executions[i];
    all_lanes += lanes[i];
    if (all_executions != 0)
      code.active_lanes[i] = double(all_lanes) / double(all_executions);
  }
}

Expected<Path> ExecutedPaths::make_path(const Code& code, const RecordedWarp& warp) const {
  Path path;
  auto made = warp.made.begin();
  for (const std::uint32_t piece : warp.pieces)
    for (const trace::ExecutedRun& run : *pieces_[piece]) {
      auto block = std::ranges::upper_bound(code.kernel.blocks, run.first, {}, &sass::Block::begin) -
                   code.kernel.blocks.begin() - 1;
      for (std::uint32_t at = run.first; at < run.first + run.count;) {
        path.blocks.push_back(std::uint32_t(block));
        std::size_t parts = 0;
        for (const MemorySlot& slot : code.slots_of(std::uint32_t(block))) {
          const bool makes = made != warp.made.end() && *made == slot.instruction;
          path.makes_access.push_back(makes);
          if (!makes)
            continue;
          for (++made; made != warp.made.end() && (*made & further_part) != 0; ++made)
            ++parts;
        }
        path.blocks.insert(path.blocks.end(), parts, Path::unmatched);
        at = code.kernel.blocks[std::size_t(block++)].end;
      }
      for (; made != warp.made.end() && (*made & operand) != 0; ++made)
        path.blocks.push_back(Path::unmatched);
    }
  if (made != warp.made.end())
    return fail("the trace has an access of instruction {}, which its warp did not execute there",
                *made & ~(further_part | operand));
  return path;
}

Expected<void> ExecutedPaths::finish(Code& code) {
  split_blocks(code);
  set_slots(code);
  set_lanes(code);
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, std::uint32_t> known;
  for (auto& [place, warp] : warps_) {
    const auto [found, is_new] =
        known.emplace(std::pair(warp.pieces, warp.made), std::uint32_t(code.paths.size()));
    if (is_new) {
      TRY_LET(path, make_path(code, warp));
      code.paths.push_back(std::move(*path));
    }
    path_of_.emplace(place, found->second);
    warp.made = {};
  }
  return {};
}

} // namespace warplens::model
