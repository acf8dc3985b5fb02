// The findings of --racecheck, --initcheck and --synccheck: each pair of places is printed once, a summary
// follows at the program's end, and the exit code becomes 1. The summary also says how much each check has
// looked at, so that a check that saw nothing is not taken for one that found nothing.
#pragma once

#include "runtime/abi/checks.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::cpu {

/// The kinds of events that the checks count.
enum class LookedAt : std::uint8_t {
  memory,           ///< accesses, by --memcheck
  shared_accesses,  ///< by --racecheck
  global_accesses,  ///< likewise
  initialisations,  ///< accesses, by --initcheck
  synchronisations, ///< barriers and warp operations of threads, by --synccheck
};
inline constexpr std::size_t looked_at_kinds = 5;

/// Counts of one OS thread, which alone adds to them.
class LookedAtCounts {
public:
  void add(LookedAt what) {
    std::atomic<std::uint64_t>& count = counts_[static_cast<std::size_t>(what)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::uint64_t of(LookedAt what) const {
    return counts_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<std::uint64_t>, looked_at_kinds> counts_{};
};

class Findings {
public:
  static Findings& instance();

  /// Enables the summary of these checks.
  void enable(Checks checks);
  /// Returns counts that the summary includes; they live as long as the process.
  LookedAtCounts& new_counts();

  /// Returns the count of a finding. The first time it prints `text` to stderr; `kernel` and `places`
  /// distinguish findings. `kind` is for the summary. At most two notes are printed for a kernel: they are no
  /// errors, and a scan in lock step has two for each step.
  std::atomic<std::uint64_t>& add(Check check, const std::string& kind, const std::string& kernel,
                                  const std::string& places, const std::string& text);

  /// Prints the summary, a line for each enabled check; returns whether there is any finding.
  bool summarise();

private:
  struct Finding {
    Check check;
    std::string kind;
    std::atomic<std::uint64_t> times = 0;
  };
  void print(Check check, const std::string& kernel, const std::string& text);
  std::string looked_at(Check check) const;

  std::mutex mutex_;
  std::map<std::string, unsigned> notes_; ///< keyed by kernel
  std::map<std::string, std::unique_ptr<Finding>> all_;
  Checks enabled_;
  std::vector<std::unique_ptr<LookedAtCounts>> counts_;
};

} // namespace warplens::cpu

extern "C" {
/// Enables the checks that an object file was built with (Checks::bits()); called once per object, before
/// main.
void __warplens_cpu_enable_checks(std::uint32_t checks);
}
