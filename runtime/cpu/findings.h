// What --racecheck, --initcheck and --synccheck find: each pair of places once, a summary at the program's
// end, and then exit code 1.
#pragma once

#include "runtime/cpu/checks.h"

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

  /// How often it was found. The first time, `text` says on stderr what it is; `kernel` and `places` tell it
  /// from others. `kind` is for the summary. At most two notes are printed for a kernel: they are no errors,
  /// and a scan in lock step has two for each step.
  std::atomic<std::uint64_t>& add(Check check, const std::string& kind, const std::string& kernel,
                                  const std::string& places, const std::string& text);

  /// The summary, a line for each check that found something. Did one?
  bool summarise();

private:
  struct Finding {
    Check check;
    std::string kind;
    std::atomic<std::uint64_t> times = 0;
  };
  void print(Check check, const std::string& kernel, const std::string& text);

  std::mutex mutex_;
  std::map<std::string, unsigned> notes_; ///< by kernel
  std::map<std::string, std::unique_ptr<Finding>> all_;
};

} // namespace warplens::cpu

extern "C" {
/// Once per object file that was built with checks (Checks::bits()), before main.
void __warplens_cpu_enable_checks(std::uint32_t checks);
}
