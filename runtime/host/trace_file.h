// The trace during the program's run: a Writer that any thread may call, and that reports one failure only.
#pragma once

#include "trace/writer.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace warplens::runtime {

/// Prints a line to stderr that is recognisably not the program's.
void warn(const std::string& message);

class TraceFile {
public:
  /// Creates the file. A failure counts as a failed write.
  void create(const std::filesystem::path& path, const trace::Program& program);

  /// Calls `use(writer)` unless there is no file, or a call has failed. The first failure is reported on
  /// stderr; the program continues untraced. Returns false if nothing was written.
  template <class Use> bool with_writer(Use&& use) {
    if (!take_turn())
      return false;
    const bool written = succeeded(use(*writer_));
    end_turn();
    return written;
  }

  bool is_open() const { return open_; }
  bool failed() const { return failed_; }
  /// Counts as a failed write, which the caller has reported: another thread's write may never return.
  void give_up();
  /// Writes the footer and closes.
  void finish(std::span<const trace::KernelLaunches> counts);

private:
  bool succeeded(const Expected<void>& result);
  bool take_turn();
  void end_turn();

  std::mutex mutex_;
  std::condition_variable turn_ended_;
  bool in_use_ = false; ///< the writer is in use by one thread; a write that never returns leaves this set
  std::optional<trace::Writer> writer_;
  std::atomic<bool> open_ = false, failed_ = false;
};

} // namespace warplens::runtime
