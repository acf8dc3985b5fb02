// Finds paths through blocks without accesses, as the marks tell them.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace warplens::model {

/// How often a warp executed marked bodies between two of its accesses; keys are those of
/// Code::mark_of_block.
using ExecutedMarks = std::map<std::uint32_t, std::uint64_t>;

/// Not for several threads at once: it remembers the paths that it found.
class MarkedPaths {
public:
  struct BlockPath {
    std::vector<std::uint32_t> blocks;
    ExecutedMarks left; ///< executions that the path does not have
  };

  /// `is_passable`: for each block, whether a warp may execute it without an access.
  MarkedPaths(const Code& code, std::vector<bool> is_passable);

  /// Returns the blocks on a path from behind block `last`, or from the kernel's begin, to block `to`,
  /// without that, or to the kernel's end: the shortest of those that execute the bodies as often as
  /// `executed` says. Where no path does, a body too often is better than one that is missing. The path has
  /// no blocks if the code has none.
  const BlockPath& find(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                        const ExecutedMarks& executed);

private:
  using Wanted = std::vector<std::pair<std::uint32_t, std::uint64_t>>; ///< mark and executions

  Wanted wanted_of(const ExecutedMarks& executed) const;
  std::optional<BlockPath> path_with(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                                     const ExecutedMarks& executed) const;
  void add_other_sides(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                       BlockPath& path) const;
  std::optional<BlockPath> search(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                                  const Wanted& wanted) const;
  /// Consecutive blocks of a path that end where they begin.
  struct Cycle {
    std::size_t begin = 0, end = 0; ///< indices into BlockPath::blocks
    std::uint64_t executions = 0;
  };
  std::optional<Cycle> cycle_in(const BlockPath& path, std::uint32_t mark) const;

  const Code& code_;
  std::vector<bool> is_passable_;
  std::vector<std::uint32_t> executions_;                 ///< by block
  std::map<std::uint32_t, std::uint64_t> max_executions_; ///< of one block, by mark
  std::map<std::tuple<std::optional<std::uint32_t>, std::optional<std::uint32_t>, ExecutedMarks>, BlockPath>
      found_;
};

} // namespace warplens::model
