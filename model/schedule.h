// The order in which one SM issues its warps' accesses, in one trial.
#pragma once

#include "model/random.h"
#include "model/snapshot.h"

namespace warplens::model {

/// The method is that of Baghsorkhi et al., PPoPP 2012:
/// - as many blocks as the occupancy allows are resident; when one ends, the next of this SM takes its place;
/// - each block that is resident at the start is found at a random point of its trace (schedule deviation).
/// What lies before that
///   point is replayed in the same place after the SM's last block, so that no site vanishes;
/// - warps take turns; in its turn a warp issues one bulk, which is a run of accesses of one scheduling
/// sequence that do not depend on
///   each other. The warps' weights, which the paper leaves open, are their shares of their block's longest
///   warp: warps with fewer accesses are passed over now and then, so that the warps of a block end together,
///   as its barriers and its end make them.
class SmSchedule {
public:
  /// `blocks`: indices into snapshot.blocks, in the order in which they come to this SM.
  SmSchedule(const Snapshot& snapshot, const std::vector<std::uint32_t>& blocks, std::uint32_t resident,
             Random& random);

  struct Bulk {
    std::span<const Access> accesses;
    const Transaction* transactions = nullptr; ///< of the warp
  };
  /// The next bulk; empty at the end.
  Bulk next();

  std::uint64_t transactions_left() const { return transactions_left_; }

private:
  /// A block, or the part of each of its warps that lies before or after a cut.
  struct Item {
    std::uint32_t block = 0;
    double from = 0, to = 1; ///< fractions of each warp's accesses
  };
  struct Turn {
    const Access* next = nullptr;
    const Access* end = nullptr;
    const Transaction* transactions = nullptr;
    float weight = 1, credit = 0;
    std::uint32_t slot = 0;
  };
  void admit(std::uint32_t slot);
  void start(std::uint32_t slot, const Item& item);

  const Snapshot& snapshot_;
  Random& random_;
  struct Slot {
    std::uint32_t warps = 0;       ///< still under way
    std::vector<Item> first, last; ///< its own block from the cut on; up to the cut
  };
  std::vector<Item> waiting_; ///< whole blocks, the next one at the back
  std::vector<Slot> slots_;
  std::vector<Turn> turns_;
  std::size_t at_ = 0;
  std::uint64_t transactions_left_ = 0;
};

} // namespace warplens::model
