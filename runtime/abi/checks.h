// The checks that device code can be built with, and other changes of its behaviour: one list for the command
// line, the compiler, the environment and the runtime.
#pragma once

#include <array>
#include <cstdint>

namespace warplens::cpu {

/// Bits of KernelRecord::checks.
enum class Check : std::uint32_t {
  memory = 1,          ///< accesses are to allocated memory, and aligned
  races = 2,           ///< threads of a block access shared memory only with synchronisation
  initialisation = 4,  ///< memory that is read was written before
  synchronisation = 8, ///< the threads that a barrier or a warp operation names are present
  lock_step = 16,      ///< no check: lanes of a warp do each access together
};

struct CheckName {
  Check check;
  const char* name;     ///< the option is --NAME
  const char* variable; ///< the environment variable's
};

inline constexpr std::array check_names = {
    CheckName{Check::memory, "memcheck", "WARPLENS_MEMCHECK"},
    CheckName{Check::races, "racecheck", "WARPLENS_RACECHECK"},
    CheckName{Check::initialisation, "initcheck", "WARPLENS_INITCHECK"},
    CheckName{Check::synchronisation, "synccheck", "WARPLENS_SYNCCHECK"},
    CheckName{Check::lock_step, "lockstep", "WARPLENS_LOCKSTEP"},
};

/// A set of checks.
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
