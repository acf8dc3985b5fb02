// The recorder's settings in the environment; recorder.h lists the variables.
#pragma once

#include "support/expected.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>

namespace warplens::runtime {

/// Returns the whole number in an environment variable; absent if it is unset or empty. The error names the
/// variable, its value and the expected form.
Expected<std::optional<std::uint64_t>> count_in_environment(const char* name);

struct Settings {
  std::filesystem::path trace; ///< empty: tracing is off
  std::optional<std::regex> kernel;
  std::uint64_t launches = 1;
  /// Four times the threads that the largest GPU has in flight (132 SMs of 2048): the depth of the snapshots
  /// in Baghsorkhi et al., PPoPP 2012.
  std::uint64_t snapshot_threads = 4 * 132 * 2048;
  /// If blocks can be left out while the kernel runs (on the CPU back end), snapshots continue beyond
  /// snapshot_threads up to this number of threads, until there are enough accesses.
  std::uint64_t snapshot_max_threads = 32 * 132 * 2048;
  std::uint64_t snapshot_enough_accesses = 1 << 20;
  std::optional<std::uint64_t> snapshot_blocks; ///< exactly this number, instead of all of the above
  std::uint64_t snapshot_accesses =
      1 << 26; ///< warp accesses of one launch after which its snapshot is cut off
  std::optional<std::chrono::seconds> stall; ///< absent: the back end's default

  /// Reads the process's environment. The error names the variable, its value and the expected form.
  static Expected<Settings> from_environment();
};

} // namespace warplens::runtime
