// The order in which one SM issues its warps' accesses, in one trial.
#pragma once

#include "model/gpu.h"
#include "model/random.h"
#include "model/snapshot.h"

namespace warplens::model {

/// The snapshot's blocks, as indices, by SM and in the order in which they come to it.
std::vector<std::vector<std::uint32_t>> place_blocks(const Snapshot& snapshot, const Gpu& gpu,
                                                     Random& random);

/// As many blocks as the occupancy allows are resident; when one ends, the next of this SM takes its place.
/// What a warp can issue before it has to wait is a bulk: accesses of one scheduling sequence that do not
/// depend on each other (Baghsorkhi et al., PPoPP 2012). Which warp is next, and how the first blocks are
/// moved against each other, are the GPU file's choices (Gpu::Schedule).
class SmSchedule {
public:
  /// `blocks`: indices into snapshot.blocks, in the order in which they come to this SM.
  SmSchedule(const Snapshot& snapshot, const std::vector<std::uint32_t>& blocks, std::uint32_t resident,
             const Gpu& gpu, Random& random);

  /// A warp's accesses that are left, and when it may issue them.
  struct Turn {
    const Access* next = nullptr;
    const Access* end = nullptr;
    const Transaction* transactions = nullptr; ///< of the next one on
    float weight = 1, credit = 0;
    std::uint64_t ready_at = 0; ///< greedy then oldest: when the data of its last bulk is there
    std::uint32_t slot = 0;
  };

  /// Whose turn it is; null at the end. It issues a bulk, or in loose round robin a single access: its next
  /// access, and those after it that do not start a turn; then comes issued().
  const Turn* choose() {
    if (warps_ == WarpOrder::greedy_then_oldest)
      return choose_oldest();
    return choose_in_turn();
  }
  /// Is the access the first one of its warp's turn?
  bool starts_turn(const Access& access) const {
    return access.starts_bulk || warps_ == WarpOrder::loose_round_robin;
  }
  /// Whose turn it was has issued all before `next`, so many transactions.
  void issued(const Access* next, std::uint32_t transactions) {
    Turn& turn = *at_;
    turn.next = next;
    turn.transactions += transactions;
    transactions_left_ -= transactions;
    if (warps_ == WarpOrder::greedy_then_oldest)
      wait(turn, transactions);
    if (next != turn.end)
      ++at_;
    else
      end_turn();
  }

  std::uint64_t transactions_left() const { return transactions_left_; }

private:
  /// A block, or the part of each of its warps that lies before or after a cut.
  struct Item {
    std::uint32_t block = 0;
    double from = 0, to = 1; ///< fractions of each warp's bulks
  };
  struct Slot {
    std::uint32_t warps = 0; ///< still under way
    std::uint64_t delay = 0;
    std::vector<Item> first, last; ///< its own block from the cut on; up to the cut
  };
  double bulk_time() const { return warps_ == WarpOrder::greedy_then_oldest ? double(wait_) : 1; }
  Slot first_slot(std::uint32_t block, std::size_t blocks, std::uint32_t resident, BlockStart start);
  std::uint64_t random_delay(std::uint32_t block, std::size_t blocks, std::uint32_t resident);
  void admit(std::uint32_t slot);
  void start(std::uint32_t slot, const Item& item);
  void wake();
  bool begin_round();
  const Turn* choose_oldest();
  void wait(Turn& turn, std::uint32_t transactions);
  void end_turn();

  /// Warps take turns; a turn is passed over until its credit is whole. In loose round robin all weigh 1.
  const Turn* choose_in_turn() {
    for (;; ++at_) {
      if (at_ == turns_end_ && !begin_round())
        return nullptr;
      // The host's own caches do not hold what all warps will need next.
      constexpr std::ptrdiff_t ahead = 8;
      if (turns_end_ - at_ > ahead) {
        __builtin_prefetch(at_[ahead].transactions);
        __builtin_prefetch(at_[ahead].next);
      }
      at_->credit += at_->weight;
      if (at_->credit >= 1) {
        at_->credit -= 1;
        return at_;
      }
    }
  }

  const Snapshot& snapshot_;
  Random& random_;
  WarpOrder warps_;
  std::uint64_t wait_;        ///< greedy then oldest: SM cycles from a bulk to the warp's next one
  std::vector<Item> waiting_; ///< whole blocks, the next one at the back
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> delayed_; ///< slots that have not begun, the first to begin at the back
  std::vector<Turn> turns_;            ///< the oldest first
  Turn *at_ = nullptr, *turns_end_ = nullptr;
  std::uint64_t now_ = 0; ///< rounds over the warps; greedy then oldest: cycles
  std::uint64_t transactions_left_ = 0;
};

} // namespace warplens::model
