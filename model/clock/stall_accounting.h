// The states in which an SM's warps spend their cycles, by instruction and by site.
#pragma once

#include "model/clock/scoreboards.h"
#include "model/clock/warp_program.h"
#include "model/clock/warp_states.h"

#include <cstdint>
#include <vector>

namespace warplens::model {

/// Warp-cycles of one site in one SM.
struct SiteStalls {
  Cycle awaited = 0;   ///< for the results of its accesses, or at its barrier
  Cycle throttled = 0; ///< for the memory pipeline or an MSHR, before its accesses
};

class StallAccounting {
public:
  StallAccounting(std::size_t sites, const InstructionStreams& streams, const Scoreboards& scoreboards,
                  WarpStates& states)
      : streams_(streams), scoreboards_(scoreboards), states_(states), sites_(sites) {}
  StallAccounting(const StallAccounting&) = delete;

  void resize(std::size_t warps) { warps_.resize(warps); }
  void prefetch(WarpNumber warp) const { __builtin_prefetch(&warps_[warp], 1); }

  /// Notes an issue. `leaves`: when the instruction leaves the queue before its pipe, or `now`.
  [[gnu::always_inline]] void issued(WarpNumber number, const Issued& issued, bool is_barrier, Cycle now,
                                     Cycle leaves) {
    PerWarp& warp = warps_[number];
    warp.issued = now;
    warp.left = std::max(warp.left, leaves);
    if (is_barrier) [[unlikely]]
      warp.barrier = issued.access == nullptr ? Scoreboards::no_site : issued.access->site;
    states_.issued(issued.pc);
  }
  /// Notes that a warp waited before its next instruction, or for its block's end.
  void waited(WarpNumber number, const WarpProgram& program, Stall why, Cycle cycles);

  const std::vector<SiteStalls>& sites() const { return sites_; } ///< in the order of Snapshot::sites

private:
  struct PerWarp {
    Cycle issued = 0;                             ///< when the warp issued last
    Cycle left = 0;                               ///< when its last instruction left its queue
    std::uint32_t barrier = Scoreboards::no_site; ///< its last one; no_site: the trace does not have that
  };
  void await(const Scoreboards::Entry& scoreboard, Cycle cycles);
  void await_end(const PerWarp& warp, const Scoreboards::WarpEntries& scoreboards, Pc last, Cycle cycles);

  const InstructionStreams& streams_;
  const Scoreboards& scoreboards_;
  WarpStates& states_; ///< of the trial
  std::vector<SiteStalls> sites_;
  std::vector<PerWarp> warps_; ///< by WarpNumber
};

inline void StallAccounting::waited(WarpNumber number, const WarpProgram& program, Stall why, Cycle cycles) {
  const PerWarp& warp = warps_[number];
  const Scoreboards::WarpEntries& scoreboards = scoreboards_[number];
  if (why == Stall::ended)
    return await_end(warp, scoreboards, program.last, cycles);
  if (why == Stall::barrier) { // which the warp issued last, if the trace has it
    states_.waited(program.last, WarpState::barrier, cycles);
    states_.awaited(program.last, cycles);
    if (warp.barrier != Scoreboards::no_site)
      sites_[warp.barrier].awaited += cycles;
    return;
  }
  const Pc pc = streams_.next_pc(program);
  switch (why) {
  case Stall::delay: {
    const Cycle resolves = std::min<Cycle>(cycles, program.resolves);
    states_.waited(pc, WarpState::branch_resolving, resolves);
    return states_.waited(pc, WarpState::wait, cycles - resolves);
  }
  case Stall::not_selected: return states_.waited(pc, WarpState::not_selected, cycles);
  case Stall::structural:
    if (const Access* const access = streams_.access_of_next(program))
      sites_[access->site].throttled += cycles;
    return states_.waited(pc, states_.for_pipe_of(pc), cycles);
  default: break;
  }
  const Instruction instruction = streams_.next(program);
  const Scoreboards::Entry* last = &scoreboards[std::size_t(instruction.sources[0])];
  for (const std::int16_t source : instruction.sources)
    if (source != Instruction::none && scoreboards[std::size_t(source)].until > last->until)
      last = &scoreboards[std::size_t(source)];
  states_.waited(pc, states_.for_result_of(last->pc), cycles);
  await(*last, cycles);
}

inline void StallAccounting::await(const Scoreboards::Entry& scoreboard, Cycle cycles) {
  states_.awaited(scoreboard.pc, cycles);
  if (scoreboard.site != Scoreboards::no_site)
    sites_[scoreboard.site].awaited += cycles;
}

/// Accounts for a warp that has ended: it still waits for results that no instruction needs, and for its
/// stores to leave the memory pipeline, before its block can end.
inline void StallAccounting::await_end(const PerWarp& warp, const Scoreboards::WarpEntries& scoreboards,
                                       Pc last, Cycle cycles) {
  const auto until = [&, since = warp.issued + 1](Cycle end) {
    return last != streams_.idle_pc() && end > since ? std::min(cycles, end - since) : 0;
  };
  const Scoreboards::Entry& slowest = *std::ranges::max_element(scoreboards, {}, &Scoreboards::Entry::until);
  if (const Cycle for_result = until(slowest.until); for_result != 0)
    await(slowest, for_result);
  const Cycle drains = until(std::max(slowest.until, warp.left));
  states_.waited(last, WarpState::drain, drains);
  states_.waited(streams_.idle_pc(), WarpState::ended, cycles - drains);
}

} // namespace warplens::model
