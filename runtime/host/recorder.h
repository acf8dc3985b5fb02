// The host's half of tracing, the same for both back ends: which launches are traced, the snapshot, the
// snooper thread that empties the rings while the kernel runs, and the trace file.
//
// Steered by environment variables, which `warplens profile` and `warplens run` set:
//   WARPLENS_TRACE              path of the trace to write; unset: nothing is traced and nothing costs. The
//   first instrumented process
//                               takes it out of its environment, so that the programs it starts do not write
//                               to the same file
//   WARPLENS_KERNEL             ECMAScript regex that a traced kernel's demangled name must contain a match
//   of WARPLENS_LAUNCHES           trace the first N launches of each kernel (default 1)
//   WARPLENS_SNAPSHOT_THREADS   cover at least this many threads of a launch (default: see settings.h)
//   WARPLENS_SNAPSHOT_MOST_THREADS, WARPLENS_SNAPSHOT_ENOUGH   on the CPU back end more, up to so many
//   threads, until
//                               there are enough accesses (see settings.h)
//   WARPLENS_SNAPSHOT_BLOCKS    exactly this many blocks instead
//   WARPLENS_SNAPSHOT_ACCESSES  cut the snapshot of a launch off after this many warp accesses (default 2^26)
//   WARPLENS_STALL_SECONDS      end the tracing of a launch of which no access has come for so long (default:
//   10 on a GPU, where the
//                               program may itself be waiting; 60 on the CPU back end)
//
// With or without a trace, for the CPU back end:
//   WARPLENS_FAILED_KERNELS     a file that gets a line for each kernel that failed (failed_kernels.h)
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

namespace warplens::runtime {

/// Memory for a channel where it is not this process's own: a GPU's. See ring.h.
struct ChannelPlacement {
  void* local = nullptr; ///< the caller zero-fills it between begin_launch() and the kernel
  std::size_t local_bytes = 0;
  void* shared = nullptr; ///< pinned host memory, the same address on both sides
  std::size_t shared_bytes = 0;
};

/// When a snapshot is deep enough: at least so many blocks, and then once so many accesses to the memory
/// hierarchy (not to shared or constant memory) are in it.
struct SnapshotGoal {
  std::uint64_t least_blocks = 0, enough_accesses = 0;
};

class Recorder {
public:
  /// The process's recorder; reads the environment on first use.
  static Recorder& instance();

  /// Is a trace wanted at all?
  bool enabled() const;

  /// Adds sites to the trace's table. The error tells of two places with one id.
  Expected<void> register_sites(std::span<const SiteRecord> records);

  /// What the trace says of the program's device: "cpu" or "gpu", and the device's name. To be called before
  /// the first launch.
  void set_device(const std::string& backend, const std::string& device);

  /// Would begin_launch() trace it? Cheap, for what has to be found out about such a launch only.
  bool wants(const trace::Launch& launch) const;

  /// Counts the launch. Where it is to be traced, fills in id, kernel, first_block and blocks, starts the
  /// snooper and returns the channel for its blocks to write to; else null. One launch is traced at a time:
  /// others meanwhile run untraced. The caller fills in the rest of `launch`, of which `symbol` gives the
  /// kernel's name.
  ///
  /// Its blocks run on a GPU:
  ring::Channel* begin_launch(trace::Launch& launch, const ChannelPlacement& placement);
  /// So many of this process's threads run them, one block at a time, and call drain_rings():
  ring::Channel* begin_launch(trace::Launch& launch, unsigned threads);

  /// Of a launch that begin_launch() has taken. Who can leave out blocks while the kernel runs may end with
  /// fewer blocks than the launch was given; end_launch() is told how many (LaunchEnd::blocks).
  SnapshotGoal goal(const trace::Launch& launch) const;

  /// Counts a launch that cannot be traced.
  void count_launch(const trace::Launch& launch);

  /// Has the tracing of the running launch ended early? Nobody waits for the host then.
  bool launch_stopped() const;

  /// Does the snooper's work for once. For a block of this process that finds a ring of its buffer full.
  void drain_rings(std::uint32_t buffer);

  /// The kernel has ended: drains what is left, stops the snooper, writes the launch's end. `end.complete`
  /// says whether the back end ran every block; the trace then says whether all of it was collected, too.
  void end_launch(const trace::LaunchEnd& end);

  /// The kernel may still be running and is not waited for: the launch stays incomplete in the trace.
  void abandon_launch();

  void note_allocation(std::uint64_t address, std::uint64_t bytes, const std::string& label);

  /// The program read or wrote device memory by other means than a kernel. From any thread; where nothing is
  /// traced it costs nothing. `use.launch` is filled in.
  void note_memory_use(const trace::MemoryUse& use);
  /// From now on it is not known what lies in the device's caches, because of this: "a launch of f() without
  /// tracing".
  void note_unseen(const std::string& what);

  /// At exit: launch counts, footer, close. Safe to call twice.
  void finish();

private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  ~Recorder();
  std::unique_ptr<State> state_;
};

} // namespace warplens::runtime
