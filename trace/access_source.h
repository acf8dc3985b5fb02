// The input of the model: the launches of a program with their accesses. A trace file is one (reader.h); a
// trace with arrays placed elsewhere is another (changed_source.h).
#pragma once

#include "support/expected.h"
#include "trace/executed.h"
#include "trace/record_lists.h"

#include <functional>
#include <optional>

namespace warplens::trace {

struct Alteration;

class AccessSource {
public:
  virtual ~AccessSource() = default;

  virtual bool truncated() const = 0;
  virtual const Program& program() const = 0;
  virtual const std::vector<Site>& sites() const = 0;
  virtual const std::vector<Launch>& launches() const = 0;
  virtual std::optional<LaunchEnd> end_of(std::uint32_t launch) const = 0;
  /// Returns all records, as the program's run left them; a changed trace has other ones for the functions
  /// above.
  virtual const RecordLists& records() const = 0;
  const std::vector<Allocation>& allocations() const { return records().allocations; }
  /// Returns the memory uses of all launches, in order; each comes before the launch with the same number.
  const std::vector<MemoryUse>& memory_uses() const { return records().memory_uses; }
  const std::vector<KernelLaunches>& kernel_launches() const { return records().kernel_launches; }

  using Visit = std::function<void(std::uint64_t block, std::uint32_t warp, const WarpAccess&)>;
  /// Calls `visit` for each access of the launch, in program order within each (block, warp); blocks and
  /// warps interleave. Memory use does not grow with the trace. An error may come after accesses were
  /// visited.
  virtual Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const = 0;

  /// Returns how the launch's machine code for this capability was executed; null: it was not.
  virtual const Execution* execution_of(std::uint32_t /*launch*/, std::uint32_t /*capability*/) const {
    return nullptr;
  }
  using VisitRuns = ExecutedDecoder::VisitRuns;
  /// Calls `visit_runs` for what each warp executed, and `visit_access` for each access, whose sites are
  /// those of executed.h; each in order within a warp. An error may come after some were visited.
  virtual Expected<void> for_each_executed(std::uint32_t /*launch*/, std::uint32_t /*capability*/,
                                           const VisitRuns& /*visit_runs*/,
                                           const Visit& /*visit_access*/) const {
    return {};
  }

  /// Returns what the code and the launches do not say, as the trace was changed (changed_source.h); null: it
  /// is as it was recorded.
  virtual const Alteration* alteration() const { return nullptr; }
};

} // namespace warplens::trace
