// The steps of a traced launch and their times, for WARPLENS_LOG_TIMES.
#pragma once

#include "runtime/host/trace_file.h"

#include <chrono>
#include <ctime>
#include <string>

namespace warplens::gpu {

/// Measures consecutive steps from its construction on.
class StepTimes {
public:
  /// Ends a step, which began where the one before ended. The process's CPU time shows how many threads had
  /// work meanwhile.
  void end_of(const char* step) {
    const Times now;
    text_ += fmt::format("{}{} {:.2f} (CPU {:.2f})", text_.empty() ? "" : ", ", step,
                         std::chrono::duration<double, std::milli>(now.wall - before_.wall).count(),
                         double(now.cpu - before_.cpu) * 1000 / CLOCKS_PER_SEC);
    before_ = now;
  }

  void print(const std::string& kernel) const {
    runtime::warn("milliseconds of a traced launch of " + kernel + ": " + text_);
  }

private:
  struct Times {
    std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
    std::clock_t cpu = std::clock();
  };
  Times before_;
  std::string text_;
};

} // namespace warplens::gpu
