// Which accesses of a kernel share an index: those of one scheduling sequence whose indices into their arrays
// differ by one constant in all lanes, in each execution.
#pragma once

#include "placement/arrays.h"
#include "placement/change/transformation.h"
#include "placement/paper/addressing.h"
#include "trace/access_source.h"

#include <set>
#include <span>
#include <vector>

namespace warplens::placement {

/// The accesses of one scheduling sequence.
struct IndexGroup {
  std::vector<IndexedAccess> accesses; ///< the space is that of the trace
  std::vector<double> executions;      ///< of each access
};

class IndexGroups {
public:
  /// Reads the accesses of the launch's first `blocks` blocks. `wide_sites` have indices of 64 bits, by
  /// Site::id. The error reports a damaged trace.
  static Expected<IndexGroups> find(const trace::AccessSource& trace, const trace::Launch& launch,
                                    std::uint64_t blocks, const Arrays& arrays,
                                    const std::set<std::uint64_t>& wide_sites);

  /// Returns the instructions that the moves add to those of all warps. `literal`: of each access on its own.
  double added_instructions(std::span<const Move> moves, const Addressing& of, Reading reading) const;

  const std::vector<IndexGroup>& all() const { return groups_; }

private:
  std::vector<IndexGroup> groups_;
};

} // namespace warplens::placement
