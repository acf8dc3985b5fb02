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
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
    writer_.reset(); // else a write never returned
  open_ = false;
}

bool TraceFile::succeeded(const Expected<void>& result) {
  if (!result && !failed_.exchange(true))
    warn(fmt::format("{}; tracing ends here, the program goes on", result.error().message));
  return result.has_value();
}

} // namespace warplens::runtime
