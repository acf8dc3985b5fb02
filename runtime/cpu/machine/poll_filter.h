// Leaves out what warps execute while they wait for other blocks: how long that is depends on this machine,
// and not on the GPU.
#pragma once

#include "machine/execute.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace warplens::cpu {

/// A sink before another one. A warp polls where a load that others may write, or an atomic operation,
/// returns the same from the same addresses twice in a row, and the warp writes nothing in between. What it
/// does from then on is held back: it is left out when the answer changes, and told whole, in order, if it
/// never does, as in a loop that only counts. What other lanes of the warp do is handed on at once.
class PollFilter : public machine::Sink {
public:
  PollFilter(machine::Sink& sink, std::uint32_t warps_per_block) : sink_(sink), polls_(warps_per_block) {}

  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override;
  void on_access(machine::WarpId warp, const machine::Access& access) override;
  void on_answer(machine::WarpId warp, std::uint32_t instruction, machine::Mask active,
                 std::uint64_t answer) override;
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override;

  /// Tells what is held back: the block has ended.
  void end_block(std::uint64_t block);

private:
  /// An access, or a run.
  struct Event {
    std::uint32_t first = 0, count = 0;
    machine::Mask active = 0;
    std::optional<machine::Access> access = {}; ///< whose addresses are:
    std::array<std::uint64_t, 32> addresses = {};
  };
  struct Poll {
    std::uint32_t instruction = 0;
    machine::Mask active = 0; ///< the lanes that wait together
    std::uint64_t answer = 0;
    bool holds = false;                ///< the answer came twice
    std::uint64_t times = 0;           ///< that `iteration` was left out
    std::vector<Event> iteration, now; ///< the events from one answer to the next, and those since the last
  };

  void tell(machine::WarpId warp, const std::vector<Event>& events);
  void end(machine::WarpId warp, Poll& poll);
  void end_where_lanes_meet(machine::WarpId warp, Poll& poll, machine::Mask lanes);
  bool holds(const Poll& poll, machine::Mask lanes) const {
    return poll.holds && (lanes & ~poll.active) == 0;
  }

  machine::Sink& sink_;
  std::vector<Poll> polls_; ///< by warp
};

} // namespace warplens::cpu
