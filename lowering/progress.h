// The lowering's progress messages: which step takes long and, on request, the time of each step.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace warplens::lowering {

/// Prints a line after 10 s, after 20, 40 and then every minute, so that no lowering runs for minutes in
/// silence.
class Progress {
public:
  /// `subject` names the lowered source. With `times`, a table of the steps goes to stderr in the end. Tests
  /// pass another stream and less patience.
  Progress(std::string subject, bool times, std::FILE* out = stdout, double patience_seconds = 10);
  ~Progress();
  Progress(const Progress&) = delete;

  /// Sets the number of kernels to compile.
  void expect(std::size_t kernels);

  /// The consecutive steps of one thread.
  class Track {
  public:
    Track(Progress& progress, std::string item, std::size_t kernels = 0);
    ~Track(); ///< ends the last step; its kernels are done
    Track(const Track&) = delete;
    /// Ends the step before and starts one. `instructions` is the size of its module.
    void next(const char* step, std::uint64_t instructions);

  private:
    friend class Progress;
    void end();

    Progress& progress_;
    std::string item_; ///< a kernel's mangled name; empty: all kernels
    std::size_t kernels_;
    const char* step_ = nullptr;
    std::uint64_t instructions_ = 0;
    double cpu_begin_ = 0;
    std::chrono::steady_clock::time_point begin_;
  };

private:
  struct Row {
    std::string item;
    const char* step;
    std::uint64_t instructions;
    double wall, cpu; ///< seconds; `cpu` is that of the step's own thread
  };

  void watch();
  std::string status(double seconds) const;
  void print_times() const;

  std::string subject_;
  bool times_;
  std::FILE* out_;
  double patience_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable ended_condition_;
  bool ended_ = false;
  std::size_t expected_ = 0, done_ = 0;
  std::list<const Track*> running_;
  std::vector<Row> rows_;
  std::thread watcher_;
};

} // namespace warplens::lowering
