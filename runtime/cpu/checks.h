// What device code can be built to check while it runs, or to do differently: one list for the command line,
// the compiler, the environment and the runtime.
#pragma once

#include <array>
#include <cstdint>

namespace warplens::cpu {

/// Bits of KernelRecord::checks.
enum class Check : std::uint32_t {
  memory = 1,          ///< is what is accessed allocated, and aligned?
  races = 2,           ///< do threads of a block access the same shared memory without a synchronisation?
  initialisation = 4,  ///< was what is read ever written?
  synchronisation = 8, ///< are the threads there that a barrier or a warp operation names?
  lock_step = 16,      ///< no check: lanes of a warp do each access together
};

struct CheckName {
  Check check;
  const char* name;     ///< the option is --NAME
  const char* variable; ///< of the environment
};

inline constexpr std::array check_names = {
    CheckName{Check::memory, "memcheck", "WARPLENS_MEMCHECK"},
    CheckName{Check::races, "racecheck", "WARPLENS_RACECHECK"},
    CheckName{Check::initialisation, "initcheck", "WARPLENS_INITCHECK"},
    CheckName{Check::synchronisation, "synccheck", "WARPLENS_SYNCCHECK"},
    CheckName{Check::lock_step, "lockstep", "WARPLENS_LOCKSTEP"},
};

/// A set of them.
class Checks {
public:
  constexpr Checks() = default;
  constexpr explicit Checks(std::uint32_t bits) : bits_(bits) {}
  constexpr bool has(Check check) const { return (bits_ & static_cast<std::uint32_t>(check)) != 0; }
  constexpr void add(Check check) { bits_ |= static_cast<std::uint32_t>(check); }
  constexpr bool any() const { return bits_ != 0; }
  constexpr std::uint32_t bits() const { return bits_; }

private:
  std::uint32_t bits_ = 0;
};

} // namespace warplens::cpu
