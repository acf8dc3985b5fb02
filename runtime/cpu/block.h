// A running block: its lanes, its barriers, its shared memory. One OS thread runs all of it.
#pragma once

#include "runtime/cpu/barrier.h"
#include "runtime/cpu/block_checks.h"
#include "runtime/cpu/low_memory.h"
#include "runtime/cpu/warp.h"
#include "runtime/cpu/warp_access_sink.h"
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

/// A launch, as blocks need to know it.
struct Grid {
  const KernelRecord* kernel;
  trace::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes;
  void** arguments;
  void* workspace = nullptr; ///< of a cooperative launch, all of whose blocks run at the same time
  const std::atomic<bool>* stopped = nullptr; ///< another block has failed: nobody waits for it any more
};

enum class BlockStatus {
  ok,
  failed,     ///< trap, a failed assertion, …
  faulted,    ///< a signal: memory that is not there
  bad_access, ///< --memcheck has found it
  deadlocked,
  interrupted, ///< by the user
  no_memory,   ///< for all that run at the same time
};

/// "thread (x, y, z)"
std::string name_of(const LaneContext& lane);

/// Runs blocks, one after the other; keeps stacks, logs and shared memory between them. The OS thread that
/// starts a block runs all of it.
class Block {
public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// One that the calling OS thread keeps, for blocks that run to their end.
  static Block& of_this_thread();
  /// The one that the calling OS thread runs; null: it runs none.
  static Block* current() { return current_; }
  /// The same, for what only a running lane calls.
  static Block& running_here() { return *current_; }
  /// The one that a lane is of.
  static Block& of(const LaneContext& lane) { return *static_cast<Block*>(lane.block->scheduler); }

  /// Runs block number `id` (x fastest) to its end. With a sink: in its traced form.
  BlockStatus run(const Grid& grid, std::uint64_t id, WarpAccessSink* sink);

  // The same in steps, where blocks wait for each other.

  enum class Stage {
    ended,
    waits, ///< for what another block must do
  };
  /// The sink must live until the block has ended or was abandoned.
  void start(const Grid& grid, std::uint64_t id, WarpAccessSink* sink);
  /// Runs the block until it has ended or only waits.
  Stage advance();
  /// Ends it where it is, because another block has failed.
  void abandon();

  BlockStatus status() const { return status_; }
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
  /// Ends the kernel where the lane that runs has no room on its stack for so many bytes more.
  void check_stack(std::uint64_t bytes);
  /// Barrier `id` for `threads` threads, counted by whole warps; 0: all that have not exited. The reduction
  /// of the predicates.
  std::uint32_t wait_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, Reduction operation,
                                bool predicate);
  /// Waits until all of the lane's warp have come, which then counts for the threads that barrier `id` waits
  /// for.
  void arrive_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads);
  /// What the lane, which is at a barrier, waits for; for messages.
  std::string describe_barrier(const Lane& lane) const;
  void lane_exited(const Lane& lane);
  const StackPool& stacks() const { return stacks_; }
  BlockContext& context() { return context_; }
  /// Does the address lie in local memory of the threads that run? Asked by one of them.
  bool is_local(std::uint64_t address) const;

  BlockChecks& checks() { return checks_; }

  // What checks ask.

  std::uint32_t alive() const { return alive_; }

  AddressRange shared_range() const;
  /// Is the address in what the kernel was given as its arguments?
  bool in_parameters(std::uint64_t address) const;

private:
  void begin(const Grid& grid, std::uint64_t id);
  bool runs_as_loop() const;
  void run_as_loop();
  void start_lanes(WarpAccessSink* sink);
  Stage run_lanes();
  void end_lanes();
  void find_faulting_lane();
  void come_to_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, bool waits, bool predicate);
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
  std::vector<std::max_align_t> frames_;
  StackPool stacks_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<LogMerger>> mergers_;
  AddressMap addresses_;
  BlockChecks checks_;
  std::array<Barrier, cluster_barrier + 1> barriers_;
  std::uint32_t used_barriers_ = 0; ///< bit n for barrier n
  LaneContext* running_ = nullptr;
  std::uint64_t id_ = 0;
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
