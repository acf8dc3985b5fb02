// A warp's instructions: their pipes, registers and passes, which decide when they issue.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::model {

struct Instruction {
  static constexpr std::int16_t none = -1;
  std::int16_t pipe = 0;      ///< index into SmFigures::pipes; none: a barrier
  std::int16_t result = none; ///< the register that it writes
  std::array<std::int16_t, 3> sources{none, none, none};
  std::uint32_t passes = 1; ///< through its pipe: bank conflicts, lines of a request
};

/// The instructions of a warp, and those of a block's warps.
using WarpProgram = std::vector<Instruction>;
using BlockProgram = std::vector<WarpProgram>;

/// Why a resident warp does not issue in a cycle; the first that holds counts. `barrier`: it waits for other
/// warps; `ended`: its block has not; `data`: an operand is not there; `structural`: its pipe, the LSU's
/// queue or the miss entries are taken; `not_selected`: the scheduler issues from another warp.
enum class Stall : std::uint8_t { barrier, ended, data, structural, not_selected };
inline constexpr std::size_t stall_reasons = 5;

} // namespace warplens::model
