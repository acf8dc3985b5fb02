// A warp's instruction as the clock sees it: its pipe, registers and passes, which decide when it issues.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace warplens::model {

/// Cycles of the SM's clock, from the launch on.
using Cycle = std::uint64_t;
inline constexpr Cycle never = Cycle(std::numeric_limits<std::int64_t>::max());

struct Instruction {
  static constexpr std::int16_t none = -1;
  std::int16_t pipe = 0;      ///< index into SmFigures::pipes; none: a barrier
  std::int16_t result = none; ///< the register that it writes
  /// The registers that it reads; `none` behind the last one.
  std::array<std::int16_t, 7> sources{none, none, none, none, none, none, none};
  std::uint16_t passes = 1; ///< through its pipe: bank conflicts, lines of a request
  std::uint16_t delay = 1;  ///< cycles until the warp's next instruction can issue, whatever its operands
};

/// Why a resident warp does not issue in a cycle; the first that holds counts. `barrier`: it waits for other
/// warps; `ended`: its block has not; `delay`: its last instruction's is not over; `data`: an operand is not
/// there; `structural`: its pipe, the queue of the memory pipeline or the miss entries are taken;
/// `not_selected`: the scheduler issues from another warp.
enum class Stall : std::uint8_t { barrier, ended, delay, data, structural, not_selected };
inline constexpr std::size_t stall_reasons = 6;

} // namespace warplens::model
