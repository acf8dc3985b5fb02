// Reads a trace file, whole or cut short; refuses damage with one clear line.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace warplens::trace {

class Reader {
public:
  /// Reads everything but the accesses. A file without a footer (its program was killed) is scanned chunk by
  /// chunk up to the last complete one; `truncated()` then says so.
  static Expected<Reader> open(const std::filesystem::path& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  bool truncated() const;
  const Program& program() const;
  const std::vector<Site>& sites() const;
  const std::vector<Allocation>& allocations() const;
  const std::vector<Launch>& launches() const;
  /// Returns the memory uses of all launches, in order; each comes before the launch with the same number.
  const std::vector<MemoryUse>& memory_uses() const;
  std::optional<LaunchEnd> end_of(std::uint32_t launch) const;
  const std::vector<KernelLaunches>& kernel_launches() const;
  /// Returns the number of the launch's warp accesses in the file.
  std::uint64_t access_count(std::uint32_t launch) const;
  std::uint64_t file_bytes() const;

  using Visit = std::function<void(std::uint64_t block, std::uint32_t warp, const WarpAccess&)>;
  /// Calls `visit` for each access of the launch, in program order within each (block, warp); blocks and
  /// warps interleave as they were written. Memory use does not grow with the trace. An error may come after
  /// accesses were visited.
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const;

private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::trace
