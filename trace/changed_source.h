// A trace that was changed before it is modelled: what would be if the program were another one.
#pragma once

#include "trace/access_source.h"

#include <optional>
#include <vector>

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

/// The changes of a trace that its accesses do not show.
struct Alteration {
  std::vector<MovedSite> moved_sites;
  std::optional<Coarsening> coarsening;       ///< how the threads that the launches have are to be merged
  std::optional<PersistingWindow> persisting; ///< the launches' access policy window
};

/// A trace that was changed: all that a derived class does not override is the trace's, which must outlive
/// it.
class ChangedSource : public AccessSource {
public:
  bool truncated() const override { return trace_.truncated(); }
  const Program& program() const override { return trace_.program(); }
  const std::vector<Site>& sites() const override { return trace_.sites(); }
  const std::vector<Launch>& launches() const override { return trace_.launches(); }
  const RecordLists& records() const override { return trace_.records(); }
  std::optional<LaunchEnd> end_of(std::uint32_t launch) const override { return trace_.end_of(launch); }
  const Alteration* alteration() const override { return &alteration_; }

protected:
  explicit ChangedSource(const AccessSource& trace) : trace_(trace) {}
  const AccessSource& trace_;
  Alteration alteration_;
};

} // namespace warplens::trace
