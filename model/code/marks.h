// Which blocks of a kernel's code a warp executes where it accesses nothing: a trace *marks* the bodies of
// loops and the sides of branches without accesses, and says how often a warp executed each.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::model {

/// The lines of a body without accesses.
struct MarkedLines {
  std::string file;
  std::uint32_t first = 0, last = 0;
};

/// How often a warp executed marked bodies between two of its accesses; keys are those of
/// Code::mark_of_block.
using ExecutedMarks = std::map<std::uint32_t, std::uint64_t>;

/// Sets Code::mark_of_block: a block belongs to the innermost body that holds most of its instructions, by
/// their lines or those of the calls that they are inlined at.
void find_marked_blocks(const sass::CodeTable& table, std::span<const MarkedLines> marks, Code& code);

/// Finds ways through blocks without accesses, as the marks tell them.
class MarkedWays {
public:
  /// `is_passable`: for each block, whether a warp may execute it without an access.
  MarkedWays(const Code& code, std::vector<bool> is_passable);

  /// Returns the blocks on a way from one of `from` to `to`, without that, or to the kernel's end: one that
  /// leads through the bodies that were executed, as often as that, and around the others, and is otherwise
  /// short. Erases from `executed` what it leads through. Returns nothing if there is no way.
  std::optional<std::vector<std::uint32_t>>
  find(std::span<const std::uint32_t> from, std::optional<std::uint32_t> to, ExecutedMarks& executed) const;

private:
  /// A cycle of blocks without accesses through a marked one.
  struct Loop {
    std::uint32_t mark = 0;
    std::vector<std::uint32_t> blocks; ///< in the order of execution
    std::uint32_t instructions = 0;
    std::uint32_t unrolled = 1; ///< iterations of the source in each of its passes
  };
  using Passes = std::vector<std::uint64_t>; ///< by index into loops_

  void find_loops();
  std::optional<Loop> loop_at(std::uint32_t block) const;
  std::uint32_t copies_in(const Loop& loop) const;
  Passes passes_of(const ExecutedMarks& executed) const;
  std::optional<std::vector<std::uint32_t>> short_way(std::span<const std::uint32_t> from,
                                                      std::optional<std::uint32_t> to,
                                                      const std::vector<bool>& is_wanted) const;

  const Code& code_;
  std::vector<bool> is_passable_;
  std::vector<Loop> loops_;
  std::vector<std::uint32_t> loop_of_; ///< by block: index into loops_, or sass::none
};

} // namespace warplens::model
