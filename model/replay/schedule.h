// The schedule of one SM in one trial: the order in which it issues its warps' accesses.
#pragma once

#include "model/gpu/gpu.h"
#include "model/snapshot/block_parts.h"
#include "numeric/random.h"

namespace warplens::model {

/// Returns the indices of the snapshot's blocks by SM, in the order in which the SM runs them.
std::vector<std::vector<std::uint32_t>> place_blocks(const Snapshot& snapshot, const Gpu& gpu,
                                                     Random& random);

/// Issues the accesses of one SM's blocks. As many blocks as the occupancy allows are resident; when one
/// ends, the next of this SM takes its place. A bulk is what a warp can issue before it must wait: accesses
/// of one scheduling sequence that do not depend on each other (Baghsorkhi et al., PPoPP 2012). The GPU file
/// chooses the next warp and the offsets between the first blocks (Gpu::Schedule).
class SmSchedule {
public:
  /// `blocks` are indices into snapshot.blocks, in the order in which this SM runs them.
  SmSchedule(const Snapshot& snapshot, const std::vector<std::uint32_t>& blocks, std::uint32_t resident,
             const Gpu& gpu, Random& random);

  /// Lets warps take turns of a bulk each until at least `transactions` are issued, or all are. Calls
  /// issue(access, transactions) for each access, in order. Returns the number of transactions.
  template <class Issue> std::uint64_t issue_round(std::uint64_t transactions, Issue&& issue) {
    const std::uint64_t issued = issue_in_turn(transactions, issue);
    transactions_left_ -= issued;
    return issued;
  }

  std::uint64_t transactions_left() const { return transactions_left_; }

private:
  /// A resident warp: its remaining accesses, and when it may issue them.
  struct ResidentWarp {
    const Access* next = nullptr;
    const Access* end = nullptr;
    const Transaction* transactions = nullptr; ///< of `next` and the accesses behind it
    /// Each turn adds `skip` to `debt`; the warp skips the turns in which that overflows.
    std::uint32_t skip = 0, debt = 0;
    std::uint32_t slot = 0;
  };
  /// The place of a resident block.
  struct Slot {
    std::uint32_t warps = 0; ///< that have not ended
    std::uint64_t delay = 0;
    std::vector<BlockPart> first, last; ///< the parts of its first block from the cut on and up to the cut
  };
  Slot first_slot(std::uint32_t block, std::size_t blocks, std::uint32_t resident, BlockStart start);
  std::uint64_t random_delay(std::uint32_t block, std::size_t blocks, std::uint32_t resident);
  void dispatch(std::uint32_t slot);
  void start(std::uint32_t slot, const BlockPart& item);
  void wake();
  bool begin_round();
  void end_warp();

  /// Issues the warp's next bulk. Returns the number of transactions.
  template <class Issue> std::uint64_t issue_turn(ResidentWarp& warp, Issue& issue) const {
    const Access *access = warp.next, *const end = warp.end;
    const Transaction* const first = warp.transactions;
    const Transaction* transactions = first;
    do {
      issue(*access, transactions);
      transactions += access->transactions;
    } while (++access != end && !access->starts_bulk);
    warp.next = access;
    warp.transactions = transactions;
    return std::uint64_t(transactions - first);
  }

  /// Lets one warp after the other issue; warps with fewer bulks skip some of their turns.
  template <class Issue> std::uint64_t issue_in_turn(std::uint64_t transactions, Issue& issue) {
    std::uint64_t issued = 0;
    ResidentWarp *warp = at_, *end = resident_end_; // copies, which the compiler knows that no store changes
    while (issued < transactions) {
      if (warp == end) {
        if (!begin_round())
          break;
        warp = at_;
        end = resident_end_;
      }
      warp->debt += warp->skip;
      if (warp->debt >= warp->skip) {
        issued += issue_turn(*warp, issue);
        // The next accesses of all warps do not fit the host's caches.
        __builtin_prefetch(warp->transactions);
        __builtin_prefetch(warp->next);
        if (warp->next == warp->end) {
          at_ = warp;
          end_warp();
          warp = at_;
          end = resident_end_;
          continue;
        }
      }
      ++warp;
    }
    at_ = warp;
    return issued;
  }

  const Snapshot& snapshot_;
  Random& random_;
  std::vector<BlockPart> waiting_; ///< whole blocks, the next one at the back
  std::vector<Slot> slots_;
  std::vector<std::uint32_t>
      delayed_; ///< slots that have not begun, that with the shortest delay at the back
  std::vector<ResidentWarp> resident_; ///< the oldest first
  ResidentWarp *at_ = nullptr, *resident_end_ = nullptr;
  std::uint64_t now_ = 0; ///< rounds over the warps
  std::uint64_t transactions_left_ = 0;
};

} // namespace warplens::model
