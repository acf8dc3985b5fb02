#include "model/clock/warp_program.h"

#include <algorithm>

namespace warplens::model {

InstructionStreams::InstructionStreams(const Snapshot& snapshot, const TimedCode* code,
                                       const ClockFigures& figures)
    : snapshot_(snapshot), code_(code),
      unmatched_(code == nullptr ? Unmatched{.delay = figures.delay, .waits_for_bulk = true}
                                 : Unmatched{.scoreboard = unmatched_scoreboard}),
      is_matched_(code != nullptr),
      first_site_(code == nullptr ? 0 : std::uint32_t(code->code().kernel.instructions.size())),
      idle_pc_(first_site_ + Pc(snapshot.sites.size())) {
  if (code != nullptr)
    return;
  std::size_t longest = 0;
  for (const Warp& warp : snapshot.warps)
    longest = std::max(longest, warp.accesses.size());
  unmatched_path_.resize(longest, Path::unmatched);
}

std::optional<WarpProgram> InstructionStreams::program_of(const Warp& warp, const BlockPart& part) const {
  const WarpPart of = part_of(warp, snapshot_, part);
  if (of.bulks == 0)
    return std::nullopt;
  if (code_ == nullptr) {
    const std::uint32_t* const path = unmatched_path_.data();
    return WarpProgram{.access = of.begin,
                       .transactions = of.transactions,
                       .block = path,
                       .last_block = path + (of.end - of.begin),
                       .accesses_left = std::uint32_t(of.end - of.begin),
                       .last = idle_pc_};
  }
  const PathPlace begin = place_at(code_->code(), warp, of.begin),
                  end = place_at(code_->code(), warp, of.end);
  WarpProgram program{.access = begin.access,
                      .transactions = begin.transactions,
                      .block = begin.block,
                      .last_block = end.block,
                      .makes_access = begin.makes_access,
                      .accesses_left = std::uint32_t(end.access - begin.access),
                      .last = idle_pc_};
  enter_block(program);
  return program;
}

} // namespace warplens::model
