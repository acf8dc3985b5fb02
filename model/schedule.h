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

  /// Warps take their turns until at least so many transactions are issued, or all are: a turn is a bulk, or
  /// in loose round robin a single access. Calls issue(access, transactions) for each access, in order. How
  /// many transactions they were.
  template <class Issue> std::uint64_t take_turns(std::uint64_t transactions, Issue&& issue) {
    const std::uint64_t issued = warps_ == WarpOrder::greedy_then_oldest ? take_oldest(transactions, issue)
                                 : each_starts_turn() ? take_in_turn<true>(transactions, issue)
                                                      : take_in_turn<false>(transactions, issue);
    transactions_left_ -= issued;
    return issued;
  }
  /// Is each access a turn of its own, and not only those that start a bulk?
  bool each_starts_turn() const { return warps_ == WarpOrder::loose_round_robin; }

  std::uint64_t transactions_left() const { return transactions_left_; }

private:
  /// A warp's accesses that are left, and when it may issue them.
  struct Turn {
    const Access* next = nullptr;
    const Access* end = nullptr;
    const Transaction* transactions = nullptr; ///< of the next one on
    /// It is passed over whenever their sum comes to 2^32.
    std::uint32_t passed_over = 0, debt = 0;
    std::uint64_t ready_at = 0; ///< greedy then oldest: when the data of its last bulk is there
    std::uint32_t slot = 0;
  };
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
  bool choose_oldest();
  void end_warp();

  /// What a warp issues in its turn, or `one` access of it: how many transactions.
  template <bool one, class Issue> std::uint64_t issue_turn(Turn& turn, Issue& issue) const {
    const Access *access = turn.next, *const end = turn.end;
    const Transaction* const first = turn.transactions;
    const Transaction* transactions = first;
    do {
      issue(*access, transactions);
      transactions += access->transactions;
    } while (++access != end && !one && !access->starts_bulk);
    turn.next = access;
    turn.transactions = transactions;
    return std::uint64_t(transactions - first);
  }

  /// Each warp after the other; one that has less to do than the others is passed over now and then.
  template <bool one, class Issue> std::uint64_t take_in_turn(std::uint64_t transactions, Issue& issue) {
    std::uint64_t issued = 0;
    Turn *turn = at_, *end = turns_end_; // the members may be what is written in between
    while (issued < transactions) {
      if (turn == end) {
        if (!begin_round())
          break;
        turn = at_;
        end = turns_end_;
      }
      turn->debt += turn->passed_over;
      if (turn->debt >= turn->passed_over) {
        issued += issue_turn<one>(*turn, issue);
        // The host's own caches do not hold what all warps will need next.
        __builtin_prefetch(turn->transactions);
        __builtin_prefetch(turn->next);
        if (turn->next == turn->end) {
          at_ = turn;
          end_warp();
          turn = at_;
          end = turns_end_;
          continue;
        }
      }
      ++turn;
    }
    at_ = turn;
    return issued;
  }

  /// The oldest warp whose data is there; it keeps its turn until it has to wait itself.
  template <class Issue> std::uint64_t take_oldest(std::uint64_t transactions, Issue& issue) {
    std::uint64_t issued = 0;
    while (issued < transactions && choose_oldest()) {
      const std::uint64_t of_turn = issue_turn<false>(*at_, issue);
      now_ += of_turn; // the L1 looks up one line in a cycle
      at_->ready_at = now_ + wait_;
      if (at_->next == at_->end)
        end_warp();
      issued += of_turn;
    }
    return issued;
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
