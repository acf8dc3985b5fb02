// Writes a trace file, chunk by chunk, so that a killed program leaves a readable trace up to its last
// complete chunk.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <filesystem>
#include <memory>
#include <span>

namespace warplens::trace {

struct PackedPayload;

/// Not thread-safe: one thread at a time calls it. Any failed write is remembered and returned by every later
/// call.
class Writer {
public:
  static Expected<Writer> create(const std::filesystem::path& path, const Program& program);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer(); ///< closes without a footer if finish() was not called

  /// Adds records of one kind, which no other function adds, at any time.
  template <class Record> Expected<void> add(std::span<const Record> records);
  Expected<void> add_sites(std::span<const Site> sites) { return add(sites); }
  Expected<void> add_allocation(const Allocation& allocation);
  /// Adds the memory uses before the launch that begins next, in order.
  Expected<void> add_memory_uses(std::span<const MemoryUse> uses) { return add(uses); }
  Expected<void> begin_launch(const Launch& launch);
  /// Appends a whole chunk of accesses, from an AccessStream.
  Expected<void> append_chunk(std::uint32_t launch, const PackedPayload& accesses);
  /// Appends a whole chunk of what a launch's machine code executed, from an ExecutedEncoder.
  Expected<void> append_executed(std::uint32_t launch, const PackedPayload& executed);
  Expected<void> add_execution(const Execution& execution);
  Expected<void> end_launch(const LaunchEnd& end);
  /// Writes the allocations that were added, so that everything so far stays readable after a kill.
  Expected<void> flush();
  /// Writes the launch counts and the footer index, and closes.
  Expected<void> finish(std::span<const KernelLaunches> counts);

private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::trace
