// Decides the end of a launch's snapshot while it runs: once completed blocks contain enough accesses,
// further ones are left out.
#pragma once

#include "runtime/host/recorder.h"

#include <atomic>
#include <map>
#include <mutex>

namespace warplens::cpu {

class SnapshotDepth {
public:
  SnapshotDepth(std::uint64_t first_block, std::uint64_t blocks, runtime::SnapshotGoal goal)
      : first_block_(first_block), goal_(goal), end_(blocks) {}

  /// Returns whether the block, which is about to run, is a part of the snapshot.
  bool admits(std::uint64_t block) {
    const std::uint64_t number = block - first_block_;
    if (number < goal_.min_blocks || !enough_.load(std::memory_order_acquire))
      return true;
    const std::lock_guard lock(mutex_);
    end_ = std::min(end_, number);
    return false;
  }

  /// Records that an admitted block has ended, after `accesses` accesses to the memory hierarchy.
  void ended(std::uint64_t block, std::uint64_t accesses) {
    if (enough_.load(std::memory_order_relaxed))
      return;
    const std::lock_guard lock(mutex_);
    accesses_of_.emplace(block - first_block_, accesses);
    // Only blocks without a gap before them count: the rest of the snapshot may yet be cut off.
    for (auto next = accesses_of_.begin(); next != accesses_of_.end() && next->first == completed_blocks_;
         next = accesses_of_.erase(next)) {
      accesses_ += next->second;
      ++completed_blocks_;
    }
    enough_.store(accesses_ >= goal_.enough_accesses, std::memory_order_release);
  }

  /// Returns the number of blocks, from the first on, that were collected completely. For use after the
  /// launch.
  std::uint64_t blocks() const { return end_; }

private:
  const std::uint64_t first_block_;
  const runtime::SnapshotGoal goal_;
  std::mutex mutex_;
  std::uint64_t end_;                                  ///< the first block left out
  std::map<std::uint64_t, std::uint64_t> accesses_of_; ///< ended blocks after one that has not ended
  std::uint64_t completed_blocks_ = 0, accesses_ = 0;  ///< blocks that have ended, all from the first on
  std::atomic<bool> enough_ = false;
};

} // namespace warplens::cpu
