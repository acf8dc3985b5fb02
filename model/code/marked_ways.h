// Finds ways through blocks without accesses, as the marks tell them.
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

/// Not for several threads at once: it remembers the ways that it found.
class MarkedWays {
public:
  struct Way {
    std::vector<std::uint32_t> blocks;
    ExecutedMarks left; ///< executions that the way does not have
  };

  /// `is_passable`: for each block, whether a warp may execute it without an access.
  MarkedWays(const Code& code, std::vector<bool> is_passable);

  /// Returns the blocks on a way from behind block `last`, or from the kernel's begin, to block `to`, without
  /// that, or to the kernel's end: the shortest of those that execute the bodies as often as `executed` says.
  /// Where no way does, a body too often is better than one that is missing. The way has no blocks if the
  /// code has none.
  const Way& find(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                  const ExecutedMarks& executed);

private:
  using Wanted = std::vector<std::pair<std::uint32_t, std::uint64_t>>; ///< mark and executions

  Wanted wanted_of(const ExecutedMarks& executed) const;
  std::optional<Way> way_with(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                              const ExecutedMarks& executed) const;
  void add_other_sides(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to, Way& way) const;
  std::optional<Way> search(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                            const Wanted& wanted) const;
  /// Consecutive blocks of a way that end where they begin.
  struct Cycle {
    std::size_t begin = 0, end = 0; ///< indices into Way::blocks
    std::uint64_t executions = 0;
  };
  std::optional<Cycle> cycle_in(const Way& way, std::uint32_t mark) const;

  const Code& code_;
  std::vector<bool> is_passable_;
  std::vector<std::uint32_t> executions_;                 ///< by block
  std::map<std::uint32_t, std::uint64_t> max_executions_; ///< of one block, by mark
  std::map<std::tuple<std::optional<std::uint32_t>, std::optional<std::uint32_t>, ExecutedMarks>, Way> found_;
};

} // namespace warplens::model
