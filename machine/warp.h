// The state of warps and blocks while they run, for the component's own files.
#pragma once

#include "machine/code.h"
#include "machine/execute.h"
#include "machine/tensor_memory.h"

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace warplens::machine {

struct Block;

/// Lanes of a warp that go on together.
struct Split {
  std::uint32_t pc = 0;
  Mask lanes = 0;
  bool has_yielded = false;
};

/// Lanes that wait for others.
struct Waiting {
  enum class For : std::uint8_t { convergence_barrier, warpsync, collective };
  std::uint32_t pc = 0; ///< of the instruction that waits
  Mask lanes = 0;
  For what = For::convergence_barrier;
  std::uint8_t barrier = 0;
  Mask needed = 0; ///< of WARPSYNC
};

struct Warp {
  /// `at_phase`: all its lanes that could go on wait for phases of barriers in shared memory.
  enum class State : std::uint8_t { ready, at_barrier, at_cluster_barrier, at_phase, done, stuck };

  const std::byte* bases[2] = {nullptr, nullptr}; ///< by RowPlace::Base
  std::byte* rows = nullptr;
  std::array<Mask, 18> predicates{};
  Mask active = 0, alive = 0;
  std::uint32_t pc = 0;
  std::uint64_t executed = 0, lanes_executed = 0;
  /// The executed instructions after which it may be waiting for what other blocks write (Memory::refresh).
  std::uint64_t refresh_at = 1u << 17;
  std::uint64_t last_answer = 0; ///< a hash of what it last read of what others may write
  State state = State::ready;
  bool phases_time_out = false; ///< nothing else can go on: its next check of a phase does not wait
  std::vector<Split> ready;
  std::vector<Waiting> waiting;
  std::array<std::array<Mask, lane_count>, 16> participants{}; ///< of each convergence barrier, by lane
  std::array<std::uint32_t, lane_count> resume_at{};           ///< after a collective
  std::uint32_t barrier_result = 0;
  Block* block = nullptr;
  std::uint32_t index = 0;        ///< in the block
  std::uint32_t* local = nullptr; ///< local memory: the words of all lanes beside each other
  std::uint32_t local_bytes = 0;  ///< per lane

  // Why the warp had to stop.
  bool is_stopped = false;
  Outcome::Kind stop_kind = Outcome::Kind::finished;
  std::string stop_reason;
  std::uint64_t stop_address = 0;

  const std::uint32_t* row(RowPlace place) const {
    return reinterpret_cast<const std::uint32_t*>(bases[place.base] + place.offset);
  }
  std::uint32_t* destination(const Operation& operation) {
    return reinterpret_cast<std::uint32_t*>(rows + operation.destination);
  }
  Mask predicate_in(const Operation& operation, unsigned which) const {
    return predicates[operation.in[which]] ^ operation.in_negation[which];
  }
  void set_predicate(std::uint8_t predicate, Mask value, Mask lanes) {
    predicates[predicate] = (predicates[predicate] & ~lanes) | (value & lanes);
  }
  void stop(Outcome::Kind kind, std::string reason, std::uint64_t address = 0) {
    if (is_stopped)
      return;
    is_stopped = true;
    stop_kind = kind;
    stop_reason = std::move(reason);
    stop_address = address;
  }
};

struct NamedBarrier {
  std::uint32_t arrived = 0, expected = 0;
  std::uint32_t count = 0; ///< of true predicates
  bool all = true, any = false;
  std::uint8_t reduction = 0;
  std::uint32_t times = 0;                 ///< that all have arrived
  std::vector<std::uint32_t> waiting = {}; ///< warps
};

struct LaunchState;

struct Block {
  LaunchState* launch = nullptr;
  std::uint64_t index = 0;
  std::array<std::uint32_t, 3> id{};
  std::uint32_t rank = 0; ///< in its cluster
  std::span<Block> cluster;
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  static constexpr std::uint32_t named_barriers = 16, warp_groups = 8;
  std::array<NamedBarrier, named_barriers + warp_groups> barriers;
  std::vector<Warp> warps;
  /// How many phases of each barrier in its shared memory are over, by the barrier's offset. It counts on
  /// where a program makes a new barrier in the place of another one.
  std::unordered_map<std::uint32_t, std::uint32_t> phases_over;
  TensorMemory tensor_memory;
  // Storage that blocks that run later use again.
  std::vector<Row> rows;
  std::vector<std::byte> shared_storage;
  std::vector<std::uint32_t> local_storage;
};

/// The state that all blocks of a launch share.
struct LaunchState {
  const Program* program = nullptr;
  const Code* code = nullptr;
  const Launch* launch = nullptr;
  Memory* memory = nullptr;
  Sink* sink = nullptr;
  std::vector<Row> constant_rows;
  std::vector<std::byte> bank0, bank1, bank3, bank4;
  std::vector<std::vector<std::byte>> bank2; ///< by the code's sections
  std::uint32_t cluster_blocks = 1;
  std::uint32_t local_bytes = 0; ///< per thread
  /// A variable of bank 3 that lies in the memory of the launch.
  struct BoundConstant {
    std::uint64_t offset = 0, bytes = 0, address = 0;
  };
  std::vector<BoundConstant> bound_constants;
  /// Launches whose parameters threads are writing, by the address of these.
  std::unordered_map<std::uint64_t, NestedLaunch> nested;

  /// Returns the address in memory of an offset in bank 3; 0 if it has none.
  std::uint64_t address_of_constant(std::uint64_t offset) const {
    for (const BoundConstant& constant : bound_constants)
      if (offset - constant.offset < constant.bytes)
        return constant.address + (offset - constant.offset);
    return 0;
  }
  std::span<const std::byte> bank(std::uint32_t number, std::uint32_t section) const {
    switch (number) {
    case 0: return bank0;
    case 1: return bank1;
    case 2:
      return section < bank2.size() ? std::span<const std::byte>(bank2[section])
                                    : std::span<const std::byte>();
    case 3: return bank3;
    case 4: return bank4;
    default: return {};
    }
  }
};

/// Writes a memory operation's addresses: in its space, or generic ones. Those of inactive lanes are
/// arbitrary.
void compute_addresses(const Warp& warp, const Operation& operation,
                       std::array<std::uint64_t, lane_count>& addresses);

/// Returns the bytes of shared memory at an address of the shared window: 24 bits, and the block's rank in
/// its cluster above. Null if they are outside, or the access is misaligned.
std::byte* shared_bytes_at(Warp& warp, std::uint64_t address, std::uint32_t bytes);

/// An address in shared memory is the block's rank in its cluster above 24 bits of an offset.
inline constexpr std::uint32_t shared_offset_mask = 0xffffff;

/// Returns the block of the warp's cluster that has an address of the shared window; null if there is none.
Block* block_of_shared(Warp& warp, std::uint64_t address);

/// Returns the phase that a barrier is in, by its address in shared memory.
BarrierPhase current_phase(Warp& warp, std::uint32_t barrier);

/// Gives the phases that barriers are in at which a multicast copy or arrival is noted, of each block of the
/// mask; without multicast that of the barrier itself.
void put_phases(Warp& warp, std::uint32_t barrier, bool is_multicast, std::uint32_t blocks,
                std::optional<BarrierPhase>& phase, std::vector<BarrierPhase>& further);

/// Gives the phases that the bytes of a copy by the tensor memory accelerator belong to.
void put_phases_of_copy(Warp& warp, const Operation& copy, std::optional<BarrierPhase>& phase,
                        std::vector<BarrierPhase>& further);

/// Returns whether a check finds all these lanes' phases over. Addresses outside of memory count as such.
bool finds_phases_over(Warp& warp, const Operation& check, Mask lanes);

/// Ends an access that is outside of memory or misaligned.
void fault(Warp& warp, const Operation& operation, std::uint64_t address);

inline std::uint32_t first_lane(Mask lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

/// Returns a loaded value of 8 or 16 bits as one of 32, as the operation extends it.
inline std::uint32_t extended(const sass::Operands& x, std::uint32_t value) {
  if (!x.sign_extends)
    return value;
  return x.bytes == 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                      : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

/// Returns whether it accesses a texture or a surface.
inline bool is_image(sass::Opcode opcode) {
  return opcode >= sass::Opcode::texture && opcode <= sass::Opcode::sust;
}

/// Returns whether it copies a box of a tensor.
inline bool is_tensor_copy(sass::Opcode opcode) {
  return opcode >= sass::Opcode::utmaldg && opcode <= sass::Opcode::utmaredg;
}

/// Completes bytes of a transaction at a barrier in shared memory; ends the warp if there is none.
void complete_bytes(Warp& warp, const Operation& operation, std::uint32_t barrier_at, std::uint32_t bytes);

/// Arrives once at a barrier in shared memory; ends the warp if there is none.
void arrive_at(Warp& warp, const Operation& operation, std::uint32_t barrier_at);

/// Returns the function of an operation on tensor memory; null if it is none.
Handler select_tensor_memory_operation(sass::Opcode opcode);

/// Returns the function of an operation on barriers in shared memory; null if it is none.
Handler select_barrier_operation(sass::Opcode opcode);

/// Returns the function of a copy of many bytes at once; null if it is none.
Handler select_bulk_operation(sass::Opcode opcode);

/// Returns the function of an operation on images. It tells the sink which texels it accesses.
Handler select_image_operation(sass::Opcode opcode);

/// Returns whether it is a product of matrices.
bool is_product(sass::Opcode opcode);
/// Returns what computes one; null: it is not supported.
Handler select_product(sass::Opcode opcode);

// The operations that look at several lanes or at memory, one lane after the other. All engines have them.
Handler select_warp_operation(const sass::Operands& operands);

// The engines' own operations; null where they have none.
namespace portable {
Handler select(const sass::Operands& operands);
}
namespace x86_64_v3 {
Handler select(const sass::Operands& operands);
}

// Control: what the warp does next. `taken` are lanes of the active ones.
void branch(Warp& warp, std::uint32_t target, Mask taken, BranchOrder order);
/// Sends lanes to targets of their own; the others of the active ones go on behind the instruction.
void branch_by_lane(Warp& warp, Mask taken, const std::array<std::uint32_t, lane_count>& targets);
/// Makes the warp run its most recent split; false if it has none.
bool run_next_split(Warp& warp);
void rotate_splits(Warp& warp, bool has_yielded);
void wait_for(Warp& warp, Waiting waiting);
/// Lets lanes go on that wait for none that is alive any more.
void release_waiting(Warp& warp);
/// The active lanes yield: barriers that wait for them alone let their lanes go on.
void yield_lanes(Warp& warp);
void exit_lanes(Warp& warp, Mask lanes);

} // namespace warplens::machine
