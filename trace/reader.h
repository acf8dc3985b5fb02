// Reads a trace file, whole or cut short; refuses damage with one clear line.
#pragma once

#include "support/expected.h"
#include "trace/access_source.h"

#include <filesystem>
#include <memory>
#include <optional>

namespace warplens::trace {

class Reader final : public AccessSource {
public:
  /// Reads everything but the accesses. A file without a footer (its program was killed) is scanned chunk by
  /// chunk up to the last complete one; `truncated()` then says so.
  static Expected<Reader> open(const std::filesystem::path& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader() override;

  bool truncated() const override;
  const Program& program() const override;
  const std::vector<Site>& sites() const override;
  const std::vector<Launch>& launches() const override;
  const RecordLists& records() const override;
  std::optional<LaunchEnd> end_of(std::uint32_t launch) const override;
  /// Returns the number of the launch's warp accesses in the file.
  std::uint64_t access_count(std::uint32_t launch) const;
  std::uint64_t file_bytes() const;

  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override;
  const Execution* execution_of(std::uint32_t launch, std::uint32_t capability) const override;
  Expected<void> for_each_executed(std::uint32_t launch, std::uint32_t capability,
                                   const VisitRuns& visit_runs, const Visit& visit_access) const override;

private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::trace
