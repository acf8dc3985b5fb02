// A running block: its lanes, its barriers, its shared memory. One OS thread runs all of it.
#pragma once

#include "runtime/cpu/execution/barrier.h"
#include "runtime/cpu/execution/block_checks.h"
#include "runtime/cpu/execution/warp.h"
#include "runtime/cpu/execution/warp_access_sink.h"
#include "runtime/cpu/memory/low_memory.h"
#include "trace/records.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::cpu {

/// The properties of a launch that its blocks need.
struct Grid {
  const KernelRecord* kernel;
  trace::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes;
  void** arguments;
  void* workspace = nullptr; ///< a cooperative launch's memory; all its blocks run at the same time
  const std::atomic<bool>* stopped =
      nullptr; ///< set once another block has failed: waiting for it is useless
};

enum class BlockStatus {
  ok,
  failed,     ///< trap, a failed assertion, …
  faulted,    ///< a signal: access to unmapped memory
  bad_access, ///< found by --memcheck
  deadlocked,
  interrupted, ///< the user has interrupted the program
  no_memory,   ///< too little memory for all that run at the same time
};

/// Returns "thread (x, y, z)".
std::string name_of(const LaneContext& lane);

/// Runs blocks, one after the other; keeps stacks, logs and shared memory between them. The OS thread that
/// starts a block runs all of it.
class Block {
public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Returns the block that the calling OS thread keeps for blocks that run to their end.
  static Block& of_this_thread();
  /// Returns the block that the calling OS thread runs; null if it runs none.
  static Block* current() { return current_; }
  /// Returns the same block, for functions that only a running lane calls.
  static Block& running_here() { return *current_; }
  /// Returns the lane's block.
  static Block& of(const LaneContext& lane) { return *static_cast<Block*>(lane.block->scheduler); }

  /// Runs block number `id` (x fastest) to its end; with a sink, in its traced variant.
  BlockStatus run(const Grid& grid, std::uint64_t id, WarpAccessSink* sink);

  // The same in steps, for blocks that wait for each other.

  enum class Stage {
    ended,
    waits, ///< needs an action of another block
  };
  /// Starts a block. The sink must live until the block has ended or was abandoned.
  void start(const Grid& grid, std::uint64_t id, WarpAccessSink* sink);
  /// Runs the block until it has ended or can only wait.
  Stage advance();
  /// Stops the block where it is, because another block has failed.
  void abandon();

  BlockStatus status() const { return status_; }
  /// Returns why the last block failed or deadlocked, in one line.
  const std::string& message() const { return message_; }
  /// Return sums over the last block's lanes if it was traced.
  std::uint64_t executed_accesses() const { return executed_; }
  std::uint64_t probed_accesses() const { return probed_; }

  // The rest is for the running lanes.

  /// Returns the running lane; null in code that runs without fibers and has not entered one.
  LaneContext* running() const { return running_; }
  void enter(LaneContext* lane) { running_ = lane; }
  void resume(Lane& lane);
  bool failed() const { return status_ != BlockStatus::ok; }
  /// Ends the kernel with an error. No destructor in the lane's frames runs, except that of `message`.
  [[noreturn]] void fail(std::string message, BlockStatus status = BlockStatus::failed);
  /// Ends the kernel after a signal in lowered code; runs on a stack of its own.
  [[noreturn]] void fail_by_fault(int signal, std::uint64_t address);
  /// Returns whether this OS thread is executing a lane.
  bool in_kernel() const { return running_ || escape_; }
  /// Ends the kernel if the running lane has less than `bytes` bytes of its stack left.
  void check_stack(std::uint64_t bytes);
  /// Waits at barrier `id` for `threads` threads, counted by whole warps; 0: all that have not exited.
  /// Returns the reduction of the predicates.
  std::uint32_t wait_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, Reduction operation,
                                bool predicate);
  /// Waits until all of the lane's warp have arrived, and then counts the warp among the threads that barrier
  /// `id` waits for.
  void arrive_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads);
  /// Describes what a lane at a barrier waits for, for messages.
  std::string describe_barrier(const Lane& lane) const;
  void lane_exited(const Lane& lane);
  const StackPool& stacks() const { return stacks_; }
  BlockContext& context() { return context_; }
  /// Returns whether the address lies in local memory of the running threads. Called by one of them.
  bool is_local(std::uint64_t address) const;

  BlockChecks& checks() { return checks_; }

  // The rest is for checks.

  std::uint32_t alive() const { return alive_; }

  AddressRange shared_range() const;
  /// Returns whether the address lies in the kernel's arguments.
  bool in_parameters(std::uint64_t address) const;

private:
  void begin(const Grid& grid, std::uint64_t id);
  bool runs_as_loop() const;
  void run_as_loop();
  void start_lanes(WarpAccessSink* sink);
  Stage run_lanes();
  void end_lanes();
  void find_faulting_lane();
  void enter_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, bool waits, bool predicate);
  void arrive(std::uint32_t id, const Warp& warp);
  void release(Barrier& barrier);
  std::string place() const;
  std::string fault_message(int signal, std::uint64_t address) const;
  std::string describe_waiting() const;

  static inline constinit thread_local Block* current_ = nullptr;

  Grid grid_{};
  WarpAccessSink* sink_ = nullptr;
  BlockContext context_{};
  LaneFunction function_ = nullptr;
  LowMemory shared_memory_;
  std::vector<std::max_align_t> region_frames_;
  StackPool stacks_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<LogMerger>> mergers_;
  AddressMap addresses_;
  BlockChecks checks_;
  std::array<Barrier, cluster_barrier + 1> barriers_;
  std::uint32_t used_barriers_ = 0; ///< bit n for barrier n
  LaneContext* running_ = nullptr;
  std::uint32_t thread_count_ = 0, alive_ = 0;
  std::uint32_t alive_warps_ = 0; ///< bit n for warp n
  std::uint64_t executed_ = 0, probed_ = 0;
  void* escape_ = nullptr; ///< jmp_buf of run_as_loop, which is above the loop's locals on the stack
  BlockStatus status_ = BlockStatus::ok;
  std::string message_;
  std::optional<std::chrono::steady_clock::time_point> polling_since_;

  static void lane_entry(void* lane);
};

} // namespace warplens::cpu
