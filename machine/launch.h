// How a kernel is launched for execution: its shape, its parameters, and what the outside world answers.
#pragma once

#include "machine/images.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::machine {

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;

  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Where generic addresses of shared and of local memory lie, for 2^56 bytes each: no program has memory
/// there.
inline constexpr std::uint64_t shared_window = 0x7000'0000'0000'0000;
inline constexpr std::uint64_t local_window = 0x7100'0000'0000'0000;
/// Returns the window of a generic address: that of memory which the host has, too, is another one.
constexpr std::uint64_t window_of(std::uint64_t address) {
  return address >> 56 << 56;
}
/// A kernel's parameters lie here for generic addresses.
inline constexpr std::uint64_t parameter_window = 0x7200'0000'0000'0000;

/// Which side of a branch runs first where the lanes of a warp part. Hardware's order is not documented.
enum class BranchOrder : std::uint8_t { fall_through_first, taken_first };

/// A kernel that a thread launches (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
struct NestedLaunch {
  struct Place {
    std::uint32_t offset = 0, bytes = 0;
  };
  std::string kernel; ///< mangled
  Dimensions grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint64_t stream = 0;          ///< as device code has it
  std::vector<std::byte> parameters; ///< as device code has them
  std::vector<Place> places;         ///< of each of them
};

/// The functions that device code calls but the cubin does not have. A call of one that is empty is refused
/// by name.
struct Builtins {
  /// Returns the text at a generic address of the thread that calls.
  using TextAt = std::function<std::string(std::uint64_t address)>;
  /// Prints: the format's address, and the buffer with the arguments and what lies behind them. Returns what
  /// vprintf returns.
  std::function<std::int32_t(std::uint64_t format, std::span<const std::byte> arguments,
                             const TextAt& text_at)>
      vprintf;
  std::function<std::uint64_t(std::uint64_t bytes)> malloc;
  /// Returns false if malloc has not returned the address.
  std::function<bool(std::uint64_t address)> free;
  std::function<void(std::uint64_t message, std::uint64_t file, std::uint32_t line, std::uint64_t function)>
      assert_fail;
  /// Launches a kernel once the grid that launches has ended. Returns CUDA's error, 0 for none.
  std::function<std::uint32_t(NestedLaunch launch)> launch;
};

struct Launch {
  Dimensions grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  /// Returns the address of a variable by its mangled name; none leaves it in the program's own image. A
  /// `__constant__` variable is read there when the launch begins.
  std::function<std::optional<std::uint64_t>(std::string_view name)> address_of;
  Builtins builtins;
  const Images* images = nullptr; ///< null: the launch uses neither textures nor surfaces
  BranchOrder branch_order = BranchOrder::fall_through_first;
  std::uint64_t instruction_limit = 20'000'000; ///< per warp
  std::uint32_t quantum = 2000;  ///< instructions after which another warp runs, and another part of a warp
  std::uint32_t local_bytes = 0; ///< of the stack of each thread; at least the kernel's own
  bool runs_blocks_together = false; ///< all blocks at once, for those that wait for each other
  std::uint64_t workspace = 0; ///< the address of a cooperative launch's, with the barrier of its grid; or 0
};

} // namespace warplens::machine
