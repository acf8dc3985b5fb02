// The findings of --racecheck, --initcheck and --synccheck: each pair of places is printed once, a summary
// follows at the program's end, and the exit code becomes 1.
#pragma once

#include "runtime/abi/checks.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::cpu {

class Findings {
public:
  static Findings& instance();

  /// Returns the count of a finding. The first time it prints `text` to stderr; `kernel` and `places`
  /// distinguish findings. `kind` is for the summary. At most two notes are printed for a kernel: they are no
  /// errors, and a scan in lock step has two for each step.
  std::atomic<std::uint64_t>& add(Check check, const std::string& kind, const std::string& kernel,
                                  const std::string& places, const std::string& text);

  /// Prints the summary, a line for each check with findings; returns whether there is any.
  bool summarise();

private:
  struct Finding {
    Check check;
    std::string kind;
    std::atomic<std::uint64_t> times = 0;
  };
  void print(Check check, const std::string& kernel, const std::string& text);

  std::mutex mutex_;
  std::map<std::string, unsigned> notes_; ///< keyed by kernel
  std::map<std::string, std::unique_ptr<Finding>> all_;
};

} // namespace warplens::cpu

extern "C" {
/// Enables the checks that an object file was built with (Checks::bits()); called once per object, before
/// main.
void __warplens_cpu_enable_checks(std::uint32_t checks);
}
