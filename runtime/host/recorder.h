// The host's half of tracing, the same for both back ends: the choice of launches, the snapshot, the snooper
// thread that empties the rings while the kernel runs, and the trace file.
// It is configured by environment variables (settings.h).
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <warplens/ring.h>
#include <warplens/site_record.h>

namespace warplens::trace {
struct PackedPayload;
}

namespace warplens::runtime {

/// Memory for a channel outside this process: a GPU's. See ring.h.
struct ChannelPlacement {
  void* local = nullptr; ///< the caller zero-fills it between begin_launch() and the kernel
  std::size_t local_bytes = 0;
  void* shared = nullptr; ///< pinned host memory, the same address on both sides
  std::size_t shared_bytes = 0;
};

/// The goal of a snapshot's depth: at least `min_blocks` blocks, and `enough_accesses` accesses to the memory
/// hierarchy (not to shared or constant memory), but no more than `max_blocks` blocks.
struct SnapshotGoal {
  std::uint64_t min_blocks = 0, max_blocks = 0, enough_accesses = 0;
  bool is_exact = false; ///< exactly the first `max_blocks` blocks were asked for
  /// The first window of the snapshot ends with the block that brings its records, accesses of any kind, to
  /// this number, and the further ones together with no more.
  std::uint64_t max_records = ~std::uint64_t{0};
  /// The same for blocks that are recorded whole, and run at the same time: else iterations of loops are left
  /// out, where they can be.
  std::uint64_t max_whole_records = ~std::uint64_t{0};
  std::uint64_t wave_blocks = 0; ///< enough where iterations of their loops are left out
};

class Recorder {
public:
  /// Returns the process's recorder; reads the environment on first use.
  static Recorder& instance();

  /// Returns whether a trace is wanted at all.
  bool enabled() const;
  /// Returns whether the times of traced launches are wanted on stderr.
  bool logs_times() const;

  /// Adds sites to the trace's table. It is an error if two places have one id.
  Expected<void> register_sites(std::span<const SiteRecord> records);

  /// Sets the trace's description of the program's device: "cpu" or "gpu", and the device's name. Must be
  /// called before the first launch.
  void set_device(const std::string& backend, const std::string& device);

  /// Returns whether begin_launch() would trace the launch. It is cheap, and avoids costly queries for other
  /// launches.
  bool wants(const trace::Launch& launch) const;

  /// If the launch is to be traced, fills in id, kernel, first_block and blocks, starts the snooper and
  /// returns the channel for its blocks to write to; else returns null, and the caller counts the launch when
  /// it has ended. One launch is traced at a time: others meanwhile run untraced. The caller fills in the
  /// rest of `launch`, of which `symbol` determines the kernel's name.
  ///
  /// This overload is for blocks that run on a GPU:
  ring::Channel* begin_launch(trace::Launch& launch, const ChannelPlacement& placement);
  /// This overload is for blocks that run on `threads` threads of this process, one block at a time each,
  /// which call drain_rings():
  ring::Channel* begin_launch(trace::Launch& launch, unsigned threads);

  /// Returns the goal of a launch that begin_launch() has accepted. A back end that can leave out blocks
  /// while the kernel runs may end with fewer blocks than the launch has; it passes their number to
  /// end_launch() (LaunchEnd::blocks). It obeys SnapshotGoal::max_records, which the recorder does not
  /// enforce there.
  SnapshotGoal goal(const trace::Launch& launch) const;

  /// Returns whether the program is to end once the launches so far have been traced: no launch of the
  /// kernels with these symbols would be.
  bool ends_when_traced(std::span<const std::string> symbols) const;
  /// Ends such a program: completes the trace, says so, and exits with code 0 without running its
  /// destructors, which must not see half-done work.
  [[noreturn]] void end_program();

  /// Counts a launch that was not traced, and what it did as far as that is known.
  void count_launch(const trace::Launch& launch, const trace::LaunchWork& work);

  /// The launches of one kernel and shape, none of which will be traced any more.
  struct UntracedLaunches;
  /// Counts a launch that was not traced, for a caller that never knows what launches did. Returns the
  /// launches like it if none of them will be traced from now on; else null.
  UntracedLaunches* count_launch(const trace::Launch& launch);
  /// Counts one more of these launches. It is cheap, so that programs hardly slow down once all is traced.
  void count_launch(UntracedLaunches& launches);

  /// Returns whether the tracing of the running launch has ended early. No producer waits for the host then.
  bool launch_stopped() const;

  /// Does one round of the snooper's work, for a block of this process whose ring is full.
  void drain_rings(std::uint32_t buffer);

  /// Returns the compute capabilities whose machine codes are to be executed beside traced launches.
  std::span<const std::uint32_t> executed_capabilities() const;
  /// Writes a chunk of what the launch's machine code executed; nothing if packing has failed. From any
  /// thread.
  void write_executed(std::uint32_t launch, const Expected<trace::PackedPayload>& executed);
  void write_execution(const trace::Execution& execution);

  /// Ends a launch after its kernel: drains the rest, stops the snooper, writes the launch's end.
  /// `end.complete` is whether the back end ran every block; the trace then records whether all of it was
  /// collected, too.
  void end_launch(const trace::LaunchEnd& end);

  /// Ends a launch whose kernel may still be running, without waiting: the launch stays incomplete in the
  /// trace.
  void abandon_launch();

  void note_allocation(std::uint64_t address, std::uint64_t bytes, const std::string& label);

  /// Records that the program read or wrote device memory by other means than a kernel. From any thread; free
  /// if tracing is off. Fills in `use.launch`.
  void note_memory_use(const trace::MemoryUse& use);
  /// Records that the contents of the device's caches are unknown from now on, and why: "a launch of f()
  /// without tracing".
  void note_unseen(const std::string& what);

  /// Completes the file at exit: launch counts, footer, close. May be called twice.
  void finish();

  /// Makes the recorder that of a child of fork(), which has a copy of the memory but no other thread. The
  /// child gets a trace of its own if its parent had traced nothing so far; else its kernels are not
  /// recorded, which the first of them says.
  void go_on_in_child();

private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  ~Recorder();
  std::unique_ptr<State> state_;
};

} // namespace warplens::runtime
