// The host compiler's options on the CPU back end, whose host half Clang compiles: which of them Clang gets,
// for which half, and which it cannot obey.
#pragma once

#include <string>
#include <vector>

namespace warplens::toolchain {

struct HostOptions {
  /// Options that decide what the text means or how objects are laid out: both halves must agree on them, and
  /// the rewriter must see the same program.
  std::vector<std::string> both_halves;
  std::vector<std::string> host_half; ///< options for code that runs on the host
  std::vector<std::string> refused;   ///< options that change what code does, and that Clang lacks
};

/// Sorts g++'s options by the table in the source file. Options that change nothing of what the code computes
/// and that Clang lacks (optimisation passes, diagnostics, dumps) are in none of the lists. An option that is
/// not in the table goes to the host half, where Clang names it if it does not know it.
HostOptions sort_host_options(const std::vector<std::string>& options);

} // namespace warplens::toolchain
