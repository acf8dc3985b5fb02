// Finds the path that a warp took through its kernel's code, from its accesses in program order.
#pragma once

#include "model/code/code.h"
#include "model/code/marked_paths.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

/// An access as the walk sees it.
struct WalkedAccess {
  std::uint32_t label = 0;
  std::uint32_t site = 0;
  std::uint8_t bytes = 0; ///< of each lane
  bool continues = false; ///< Access::continues

  bool operator==(const WalkedAccess&) const = default;
};

/// Says that the warp executed a marked body before the access of that number.
struct WalkedMark {
  std::uint32_t before = 0;
  std::uint32_t mark = 0; ///< by Code::mark_of_block
  std::uint64_t count = 0;

  bool operator==(const WalkedMark&) const = default;
};

struct Walk {
  Path path;
  /// The accesses in the order of the path's slots and unmatched ones: for each slot that makes one, the
  /// numbers of those that it makes together, which a wide instruction does.
  std::vector<std::uint32_t> order;
  std::vector<std::uint8_t> joined;   ///< how many of `order` each access of the path is
  std::vector<std::uint32_t> removed; ///< accesses that the compiler removed, for a register has their value
  std::uint32_t unmatched = 0;        ///< accesses of which no instruction is known
  std::uint32_t jumps = 0;            ///< blocks that do not follow the one before them: lanes that diverged
};

/// Walks paths through one kernel's code. A compiler keeps the accesses of a block together but reorders
/// them, so a block fits where its accesses are the next ones in any order. Of the blocks that can follow,
/// through others without accesses, the walk takes the one that leaves the fewest accesses behind it
/// unexplained, then that with the most accesses (an unrolled loop before its remainder), then the closest.
/// A warp whose lanes diverge executes both sides of a branch one after the other: the other side of an
/// earlier branch may come next, too, and where nothing fits, any block. Blocks without accesses lie on ways
/// that the marks tell, or on the shortest one. Compilers load a constant before a loop and keep it in a
/// register: of the source's accesses to constants, those to which no block that can follow leads were
/// removed.
class Walker {
public:
  explicit Walker(const Code& code);

  /// `marks`: in the order of `before`.
  Walk walk(std::span<const WalkedAccess> accesses, std::span<const WalkedMark> marks = {}) const;

private:
  /// The accesses of one label that a block makes.
  struct Demand {
    std::uint32_t label = 0;
    std::uint32_t bytes = 0, optional_bytes = 0;
    std::uint32_t slots = 0;
  };
  /// A block with accesses that can follow, and the instructions on the shortest way there.
  struct Next {
    std::uint32_t block = 0;
    std::uint32_t instructions = 0;
  };
  using Nexts = std::vector<Next>;
  struct Progress;
  class Between;
  class Joining;
  /// A block that may come next.
  struct Choice;

  Nexts find_next(std::span<const std::uint32_t> from) const;
  bool is_passable(std::uint32_t block) const;
  bool has_slots(std::uint32_t label) const {
    return label < blocks_with_label_.size() && !blocks_with_label_[label].empty();
  }
  bool was_removed(std::uint32_t label, const Nexts& next) const;
  Choice choose(const Progress& progress, std::span<const Nexts* const> recent) const;
  void enter(std::uint32_t block, Progress& progress, Walk& walk) const;
  static void put_loose(std::uint32_t access, Walk& walk);

  const Code& code_;
  std::vector<std::vector<Demand>> demands_; ///< by block
  std::vector<std::vector<std::uint32_t>> blocks_with_label_;
  std::vector<bool> is_constant_;            ///< by label: its instructions load constants
  mutable std::optional<MarkedPaths> paths_; ///< it remembers
  Nexts start_;
  std::vector<Nexts> next_; ///< behind each block with accesses
};

} // namespace warplens::model
