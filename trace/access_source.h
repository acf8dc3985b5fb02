// What the model replays: the launches of a program with their accesses. A trace file is one (reader.h); a
// trace with arrays placed elsewhere is another (placement/changed_trace.h).
#pragma once

#include "support/expected.h"
#include "trace/executed.h"
#include "trace/records.h"

#include <functional>
#include <optional>
#include <span>

namespace warplens::trace {

/// A site whose accesses are not those of the kernel's machine code, as the trace was changed and the code
/// was not.
struct MovedSite {
  std::uint64_t site = 0; ///< Site::id
  /// The memory that the code's instruction accesses; none: the code has no instruction for the site.
  std::optional<Space> space_in_code;
  /// The instructions that compute an address there less those in the code, per address.
  double address_instructions = 0;
};

/// Threads that do the work of several: of those that are the block's threads divided by `threads` apart, or
/// of neighbours, whose accesses then are wide ones.
struct Coarsening {
  std::uint32_t threads = 1;
  bool neighbours = false;
};

/// Device memory of which the L2 keeps lines in a part that is set aside for them: an access policy window
/// whose hits persist.
struct PersistingWindow {
  std::uint64_t begin = 0, end = 0; ///< addresses
  double hit_ratio = 1;             ///< the share of its lines that persist
  double set_aside = 0;             ///< the share of the L2
};

class AccessSource {
public:
  virtual ~AccessSource() = default;

  virtual bool truncated() const = 0;
  virtual const Program& program() const = 0;
  virtual const std::vector<Site>& sites() const = 0;
  virtual const std::vector<Allocation>& allocations() const = 0;
  virtual const std::vector<Launch>& launches() const = 0;
  /// Returns the memory uses of all launches, in order; each comes before the launch with the same number.
  virtual const std::vector<MemoryUse>& memory_uses() const = 0;
  virtual std::optional<LaunchEnd> end_of(std::uint32_t launch) const = 0;
  virtual const std::vector<KernelLaunches>& kernel_launches() const = 0;

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

  /// Returns the sites that were moved; none of a trace as it was recorded.
  virtual std::span<const MovedSite> moved_sites() const { return {}; }
  /// Returns how the threads that the launches have are to be merged; none: they are as they were.
  virtual std::optional<Coarsening> coarsening() const { return std::nullopt; }
  /// Returns the launches' access policy window; none: they have none.
  virtual std::optional<PersistingWindow> persisting() const { return std::nullopt; }
};

/// A trace that was changed: all that a derived class does not override is the trace's, which must outlive
/// it.
class ChangedSource : public AccessSource {
public:
  bool truncated() const override { return trace_.truncated(); }
  const Program& program() const override { return trace_.program(); }
  const std::vector<Site>& sites() const override { return trace_.sites(); }
  const std::vector<Allocation>& allocations() const override { return trace_.allocations(); }
  const std::vector<Launch>& launches() const override { return trace_.launches(); }
  const std::vector<MemoryUse>& memory_uses() const override { return trace_.memory_uses(); }
  std::optional<LaunchEnd> end_of(std::uint32_t launch) const override { return trace_.end_of(launch); }
  const std::vector<KernelLaunches>& kernel_launches() const override { return trace_.kernel_launches(); }

protected:
  explicit ChangedSource(const AccessSource& trace) : trace_(trace) {}
  const AccessSource& trace_;
};

} // namespace warplens::trace
