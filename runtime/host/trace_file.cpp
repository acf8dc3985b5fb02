#include "runtime/host/trace_file.h"

#include <cstdio>

namespace warplens::runtime {

void warn(const std::string& message) {
  fmt::print(stderr, "warplens: {}\n", message);
}

void TraceFile::create(const std::filesystem::path& path, const trace::Program& program) {
  const std::scoped_lock lock(mutex_);
  auto writer = trace::Writer::create(path, program);
  if (!writer) {
    succeeded(tl::unexpected(writer.error()));
    return;
  }
  writer_.emplace(std::move(*writer));
  open_ = true;
}

void TraceFile::finish(std::span<const trace::KernelLaunches> counts) {
  with_writer([&](trace::Writer& writer) { return writer.finish(counts); });
  const std::scoped_lock lock(mutex_);
  if (!in_use_) // otherwise a write never returned
    writer_.reset();
  open_ = false;
}

void TraceFile::give_up() {
  failed_ = true;
  const std::scoped_lock lock(mutex_);
  turn_ended_.notify_all();
}

bool TraceFile::take_turn() {
  std::unique_lock lock(mutex_);
  turn_ended_.wait(lock, [&] { return !in_use_ || failed_; });
  if (failed_ || !writer_)
    return false;
  return in_use_ = true;
}

void TraceFile::end_turn() {
  const std::scoped_lock lock(mutex_);
  in_use_ = false;
  turn_ended_.notify_all(); // all: if the file has failed, none of the woken threads takes a turn
}

bool TraceFile::succeeded(const Expected<void>& result) {
  if (!result && !failed_.exchange(true))
    warn(fmt::format("{}; tracing ends here, the program goes on", result.error().message));
  return result.has_value();
}

} // namespace warplens::runtime
