// The recorder's settings. Each is an environment variable, which `warplens profile` and `warplens run` set.
// They also set WARPLENS_FAILED_KERNELS (failed_kernels.h).
#pragma once

#include "support/expected.h"
#include "support/pattern.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace warplens::runtime {

/// Returns the whole number in an environment variable; absent if it is unset or empty. The error names the
/// variable, its value and the expected form.
Expected<std::optional<std::uint64_t>> count_in_environment(const char* name);

struct Settings {
  /// WARPLENS_TRACE: the trace to write; empty: tracing is off and free. The first instrumented process
  /// removes the variable from its environment, so that programs that it starts do not write to the same
  /// file.
  std::filesystem::path trace;
  /// WARPLENS_TRACE_FOLDER: each process that runs kernels writes a trace of its own into this folder,
  /// "PID-N.wlt": the programs that a script, mpirun or another program starts, and children of fork(). It
  /// comes before WARPLENS_TRACE.
  std::filesystem::path trace_folder;
  /// WARPLENS_KERNEL: an ECMAScript regex that must match a part of a traced kernel's demangled name.
  std::optional<Pattern> kernel;
  /// WARPLENS_LAUNCHES: the number of launches of each kernel that are traced, from the first on. By default
  /// those are that differ from the ones before them.
  std::optional<std::uint64_t> launches;
  /// WARPLENS_SNAPSHOT_THREADS: a snapshot covers at least this number of threads of a launch. The default is
  /// four times the threads that the largest GPU has in flight (132 SMs of 2048): the depth of the snapshots
  /// in Baghsorkhi et al., PPoPP 2012.
  std::uint64_t snapshot_threads = 4 * 132 * 2048;
  /// WARPLENS_SNAPSHOT_WAVE: the threads that run at once, at most. A snapshot whose blocks are too long to
  /// be recorded whole covers as many (on the CPU back end).
  std::uint64_t snapshot_wave_threads = 132 * 2048;
  /// WARPLENS_SNAPSHOT_SMS: the SMs on which they run, which may have room for fewer.
  std::uint64_t snapshot_sms = 132;
  /// WARPLENS_SNAPSHOT_MOST_THREADS, WARPLENS_SNAPSHOT_ENOUGH: if blocks can be left out while the kernel
  /// runs (on the CPU back end), snapshots continue beyond snapshot_threads up to this number of threads,
  /// until there are enough accesses.
  std::uint64_t snapshot_max_threads = 32 * 132 * 2048;
  std::uint64_t snapshot_enough_accesses = 1 << 20;
  /// WARPLENS_SNAPSHOT_BLOCKS: a snapshot covers exactly this number of blocks, instead of all of the above.
  std::optional<std::uint64_t> snapshot_blocks;
  /// WARPLENS_SNAPSHOT_ACCESSES: the snapshot of a launch ends with the block that brings it to this number
  /// of warp accesses (on the CPU back end), or is cut off after them (on a GPU).
  std::uint64_t snapshot_accesses = 1 << 26;
  /// WARPLENS_SNAPSHOT_WHOLE: where the blocks that run at the same time would have more warp accesses than
  /// this, loops that repeat are not recorded whole (on the CPU back end).
  std::uint64_t snapshot_whole_accesses = 1 << 26;
  /// WARPLENS_STOP_WHEN_TRACED: a file that the program creates before it ends, which it does as soon as no
  /// launch is left to be traced; empty: it runs to its own end.
  std::filesystem::path stop_when_traced;
  /// WARPLENS_STALL_SECONDS: the tracing of a launch ends if the trace cannot be written for this time, and
  /// on a GPU, where the program may be waiting for it, after this time without accesses. The default is ten
  /// seconds on a GPU, and sixty on the CPU back end.
  std::optional<std::chrono::seconds> stall;
  /// WARPLENS_EXECUTE: the compute capabilities of GPUs, "80,90": the machine codes that stand for these are
  /// executed beside traced launches, on the CPU back end; "none".
  std::vector<std::uint32_t> execute;
  /// WARPLENS_LOG_TIMES: if it is set, the steps of each traced launch on a GPU and their times go to stderr.
  bool log_times = false;

  /// Reads the process's environment. The error names the variable, its value and the expected form.
  static Expected<Settings> from_environment();
};

} // namespace warplens::runtime
