// A warp's instruction as the clock sees it: its pipe, registers and passes, which decide when it issues.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace warplens::model {

/// Registers of a warp, with -1 behind the last one.
class Registers {
public:
  static constexpr std::size_t capacity = 7;

  constexpr Registers(std::initializer_list<std::int16_t> numbers = {}) {
    all_.fill(-1);
    std::ranges::copy(numbers, all_.begin());
  }
  constexpr const std::int16_t* begin() const { return all_.data(); }
  constexpr const std::int16_t* end() const { return all_.data() + capacity; }
  constexpr std::int16_t* begin() { return all_.data(); }
  constexpr std::int16_t* end() { return all_.data() + capacity; }
  constexpr std::int16_t& operator[](std::size_t index) { return all_[index]; }
  constexpr std::int16_t operator[](std::size_t index) const { return all_[index]; }

private:
  std::array<std::int16_t, capacity> all_{};
};

struct Instruction {
  static constexpr std::int16_t none = -1;
  std::int16_t pipe = 0;      ///< index into SmFigures::pipes; none: a barrier
  std::int16_t result = none; ///< the register that it writes
  Registers sources;          ///< the registers that it reads
  std::uint16_t passes = 1;   ///< through its pipe: bank conflicts, lines of a request
  std::uint16_t delay = 1;    ///< cycles until the warp's next instruction can issue, whatever its operands
};

/// Why a resident warp does not issue in a cycle; the first that holds counts. `barrier`: it waits for other
/// warps; `ended`: its block has not; `delay`: its last instruction's is not over; `data`: an operand is not
/// there; `structural`: its pipe, the queue of the memory pipeline or the miss entries are taken;
/// `not_selected`: the scheduler issues from another warp.
enum class Stall : std::uint8_t { barrier, ended, delay, data, structural, not_selected };
inline constexpr std::size_t stall_reasons = 6;

} // namespace warplens::model
