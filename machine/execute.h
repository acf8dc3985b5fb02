// This is the main entry point of the component: it executes blocks of a kernel, warp by warp.
#pragma once

#include "machine/launch.h"
#include "machine/memory.h"
#include "machine/operation.h"
#include "machine/program.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::machine {

/// Which warp does something: its block's index in the grid, and its own in the block.
struct WarpId {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
};

/// A phase of a barrier: one in shared memory (PTX ISA, "mbarrier"), whose phase is over when all have
/// arrived and all bytes are there, or one of a block's for a part of its warps.
struct BarrierPhase {
  static constexpr std::uint32_t of_block = 1u << 31; ///< and a number: no address in shared memory has it
  std::uint32_t barrier = 0;                          ///< its offset in the block's shared memory
  std::uint32_t number = 0; ///< of the phases that any barrier at that address had, from 0 on
  std::uint64_t block = 0;  ///< whose barrier it is: of a cluster, another one's perhaps
  std::uint32_t bytes = 0;  ///< of a copy within the shared memory of a cluster

  friend bool operator==(const BarrierPhase&, const BarrierPhase&) = default;
};

/// An access to memory by the lanes of a warp.
struct Access {
  std::uint32_t instruction = 0; ///< its index in the kernel
  Mask lanes = 0;                ///< that make an access
  sass::Space space = sass::Space::global;
  std::uint8_t bytes = 0; ///< per lane
  bool is_store = false;
  bool is_atomic = false;
  bool stores_copy = false;     ///< it is the store of a copy to shared memory, whose load came before
  bool is_further = false;      ///< of an instruction that has just made one: a texture's next texels
  bool is_constant = false;     ///< it reads a `__constant__` variable; addresses that none has are 0
  std::uint32_t bulk_bytes = 0; ///< of a copy of many bytes: how many, from the first lane's address on
  /// The phase that it has found to be over, that it arrives in, or that its bytes belong to.
  std::optional<BarrierPhase> phase = {};
  std::vector<BarrierPhase> further_phases = {}; ///< those of further blocks that a copy goes to
  /// The lanes' addresses: in their space, of local memory within each thread's. Generic addresses of shared
  /// and local memory keep their windows.
  std::span<const std::uint64_t, lane_count> addresses;
};

/// Lanes of a warp arrive at a barrier of their block.
struct Arrival {
  std::uint32_t instruction = 0; ///< the last one of the run before
  Mask lanes = 0;
  std::optional<BarrierPhase> phase = {}; ///< none: all of the block's threads meet there
  bool waits = true;                      ///< the warp does, until all that the barrier expects have arrived
  std::vector<BarrierPhase> further_phases = {}; ///< of further blocks, which it arrives in, too
};

/// The shape of a product of tensor memory, of which the instruction's own bits say little.
struct TensorProduct {
  std::uint32_t rows = 0, columns = 0, depth = 0; ///< of both blocks of a pair
  std::uint32_t bits = 0;                         ///< of an element
  bool is_float = true, sums_singles = true;
  bool reads_shared_a = false; ///< else A is in tensor memory
  bool of_two_blocks = false;

  friend bool operator==(const TensorProduct&, const TensorProduct&) = default;
};

/// Observes the execution. A warp's calls come in the order of its execution; those of several warps mix.
class Sink {
public:
  virtual ~Sink() = default;
  /// A warp has executed `count` instructions, one after the other, with these lanes active.
  virtual void on_run(WarpId warp, std::uint32_t first, std::uint32_t count, Mask active) = 0;
  virtual void on_access(WarpId warp, const Access& access) = 0;
  /// The access before, a load that others may write meanwhile or an atomic operation, has returned its
  /// result: `answer` is a hash of its addresses and of that.
  virtual void on_answer(WarpId /*warp*/, std::uint32_t /*instruction*/, Mask /*active*/,
                         std::uint64_t /*answer*/) {}
  virtual void on_barrier(WarpId /*warp*/, const Arrival& /*arrival*/) {}
  /// A warp executes a product of tensor memory.
  virtual void on_product(WarpId /*warp*/, std::uint32_t /*instruction*/, const TensorProduct& /*product*/) {}
};

struct Outcome {
  enum class Kind : std::uint8_t {
    finished,
    refused,       ///< an instruction or a call is not supported
    limit_reached, ///< a warp executed more instructions than it may
    deadlock,      ///< no warp can go on
    trap,          ///< the program stopped itself, or an assertion failed
    fault,         ///< an access outside of memory, or a misaligned one
  };
  Kind kind = Kind::finished;
  std::string reason;            ///< one line; empty if finished
  std::uint32_t instruction = 0; ///< in the kernel, where it ended
  std::uint64_t block = 0;
  std::uint64_t address = 0;             ///< of a fault
  std::uint64_t warp_instructions = 0;   ///< executed
  std::uint64_t thread_instructions = 0; ///< lanes that were active, summed; only with a sink

  bool is_finished() const { return kind == Kind::finished; }
};

/// Returns the bytes of each thread's local memory.
std::uint32_t stack_bytes(const Kernel& kernel, const Launch& launch);

/// Returns the blocks of a block's cluster, in the order of their ranks.
std::vector<std::uint64_t> cluster_of(const Launch& launch, std::uint64_t block);

/// Executes blocks, by their index in the grid (x first), in this order. Each sees what those before it wrote
/// to the memory. Without a sink nothing is observed, at no cost.
Outcome execute(const Program& program, const Kernel& kernel, const Launch& launch,
                std::span<const std::uint64_t> blocks, Memory& memory, Sink* sink = nullptr);

/// Executes all blocks.
Outcome execute(const Program& program, const Kernel& kernel, const Launch& launch, Memory& memory,
                Sink* sink = nullptr);

} // namespace warplens::machine
