// The events of a kernel that cost energy, and the kinds of instructions among them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace warplens {

/// Kinds of instructions, by the unit of an SM that executes them: `multiply_add` are integer products and
/// sums, `special_function` conversions as well, `memory` loads, stores, atomics and shuffles, `control`
/// branches, barriers and all that needs the issue only, the uniform datapath included.
enum class InstructionKind : std::uint8_t {
  fp32,
  fp64,
  fp16,
  integer,
  multiply_add,
  special_function,
  tensor,
  memory,
  control
};
inline constexpr std::size_t instruction_kind_count = 9;

/// Instructions of one kind: of warps, and summed over the lanes that they executed for.
struct Instructions {
  double warps = 0, lanes = 0;

  Instructions& operator+=(const Instructions& more) {
    warps += more.warps;
    lanes += more.lanes;
    return *this;
  }
};
using ByInstructionKind = std::array<Instructions, instruction_kind_count>;

/// Events of the memory hierarchy. Those of the L1, the L2 and DRAM are sectors of 32 bytes, but
/// `row_activation`: a bank of DRAM opens a row. Atomics and write-backs of local memory are writes.
/// `l1_write` has no hits and misses apart, as most L1s write through. `shared_pass`: a pass over the banks
/// of shared memory. `constant_access`: an address in a constant cache.
enum class MemoryEvent : std::uint8_t {
  l1_read_hit,
  l1_read_miss,
  l1_write,
  l2_read_hit,
  l2_read_miss,
  l2_write_hit,
  l2_write_miss,
  dram_read,
  dram_write,
  row_activation,
  shared_pass,
  constant_access
};
inline constexpr std::size_t memory_event_count = 12;
using ByMemoryEvent = std::array<double, memory_event_count>;

/// Floating-point operations of lanes by precision, of which a fused multiplication and addition are two;
/// those of tensor cores on floats apart.
struct FloatingPointOperations {
  double fp64 = 0, fp32 = 0, fp16 = 0;
  double tensor = 0;
};

/// A kernel's events: in the blocks of its snapshot, mean over trials.
struct Events {
  ByInstructionKind instructions{};
  ByMemoryEvent memory{};
  std::optional<FloatingPointOperations> operations; ///< absent in results of older versions
};

/// The events in a GPU in some time, from which its power follows.
struct Activity {
  ByInstructionKind instructions{};
  ByMemoryEvent memory{};
  double seconds = 0;
  double relative_deviation = 0; ///< standard deviation of these, of trials
  double sms_in_use = 0, sms_idle = 0;
};

} // namespace warplens
