// A running block: its lanes, its barriers, its shared memory. One OS thread runs all of it.
#pragma once

#include "runtime/cpu/low_memory.h"
#include "runtime/cpu/signals.h"
#include "runtime/cpu/turns.h"
#include "runtime/cpu/warp.h"
#include "runtime/cpu/warp_access_sink.h"
#include "trace/records.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warplens::cpu {

/// A launch, as blocks need to know it.
struct Grid {
  const KernelRecord* kernel;
  trace::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes;
  void** arguments;
  void* workspace = nullptr; ///< of a cooperative launch, all of whose blocks run at the same time
  Turns* turns = nullptr;    ///< null: they run side by side
  const std::atomic<bool>* stopped = nullptr; ///< another block has failed: nobody waits for it any more
};

enum class BlockStatus {
  ok,
  failed,     ///< trap, a failed assertion, …
  faulted,    ///< a signal: memory that is not there
  bad_access, ///< --memcheck has found it
  deadlocked,
  interrupted, ///< by the user
};

/// "thread (x, y, z)"
std::string name_of(const LaneContext& lane);

/// Runs blocks, one after the other; keeps stacks, logs and shared memory between them. One per OS thread.
class Block {
public:
  /// The calling OS thread's.
  static Block& of_this_thread();
  /// The one that a lane is of.
  static Block& of(const LaneContext& lane) { return *static_cast<Block*>(lane.block->scheduler); }

  /// Runs block number `id` (x fastest) to its end. With a sink: in its traced form.
  BlockStatus run(const Grid& grid, std::uint64_t id, WarpAccessSink* sink);

  /// Why the last block failed or deadlocked, in one line.
  const std::string& message() const { return message_; }
  /// Sums over the last block's lanes, where it was traced.
  std::uint64_t executed_accesses() const { return executed_; }
  std::uint64_t probed_accesses() const { return probed_; }

  // What the running lanes call.

  /// The lane that runs: null in code that runs without fibers and has not entered one.
  LaneContext* running() const { return running_; }
  void enter(LaneContext* lane) { running_ = lane; }
  void resume(Lane& lane);
  bool failed() const { return status_ != BlockStatus::ok; }
  /// Nothing in the lane's frames is destroyed, but for `message`.
  [[noreturn]] void fail(std::string message, BlockStatus status = BlockStatus::failed);
  /// Called for a signal in lowered code, on a stack of its own.
  [[noreturn]] void fail_by_fault(int signal, std::uint64_t address);
  /// Does this OS thread execute a lane right now?
  bool in_kernel() const { return running_ || escape_; }
  /// Barrier `id` for `threads` threads, 0: all that have not exited. The reduction of the predicates.
  std::uint32_t wait_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, Reduction operation,
                                bool predicate);
  /// Counts as one of the threads that barrier `id` waits for.
  void arrive_at_barrier(std::uint32_t id, std::uint32_t threads);
  void lane_exited();
  const StackPool& stacks() const { return stacks_; }
  BlockContext& context() { return context_; }
  /// Does the address lie in local memory of the threads that run? Asked by one of them.
  bool is_local(std::uint64_t address) const;

  // What --memcheck asks.

  AddressRange shared_range() const;
  /// Is the address in what the kernel was given as its arguments?
  bool in_parameters(std::uint64_t address) const;

private:
  struct Barrier {
    std::vector<Lane*> waiting;
    std::uint32_t passed = 0;  ///< those that have arrived and gone on
    std::uint32_t threads = 0; ///< 0: all
    std::uint32_t predicates = 0;
  };

  void begin(const Grid& grid, std::uint64_t id);
  void run_as_loop(const Grid& grid);
  void start_lanes(const Grid& grid, WarpAccessSink* sink);
  void run_lanes(const Grid& grid);
  void find_faulting_lane(const Grid& grid);
  Barrier& barrier(std::uint32_t id, std::uint32_t threads);
  void release(Barrier& barrier);
  bool is_complete(const Barrier& barrier) const;
  std::string place() const;
  std::string fault_message(int signal, std::uint64_t address) const;
  std::string describe_waiting() const;

  BlockContext context_{};
  LaneFunction function_ = nullptr;
  void** arguments_ = nullptr;
  const KernelRecord* kernel_ = nullptr;
  LowMemory shared_memory_;
  std::vector<std::max_align_t> frames_;
  StackPool stacks_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<LogMerger>> mergers_;
  AddressMap addresses_;
  std::array<Barrier, cluster_barrier + 1> barriers_;
  LaneContext* running_ = nullptr;
  std::uint64_t id_ = 0;
  std::uint32_t thread_count_ = 0, alive_ = 0;
  std::uint64_t executed_ = 0, probed_ = 0;
  void* escape_ = nullptr; ///< jmp_buf of run_as_loop, which is above the loop's locals on the stack
  BlockStatus status_ = BlockStatus::ok;
  std::string message_;
  SignalStack signal_stack_;

  static void lane_entry(void* lane);
};

} // namespace warplens::cpu
