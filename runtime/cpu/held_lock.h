// Locks that the runtime takes for a running lane. A lane that faults leaves its frames as they are, so where
// it holds one, the program must end: others would wait for it for ever (runtime/cpu/signals.cpp).
#pragma once

#include <mutex>
#include <shared_mutex>

namespace warplens::cpu {

/// Counts, while it lives, as something that others wait for and the calling OS thread holds.
class Holding {
public:
  Holding() { count_ = count_ + 1; }
  ~Holding() { count_ = count_ - 1; }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  /// Does the calling OS thread hold anything? For signal handlers.
  static bool any() { return count_ != 0; }

private:
  static inline constinit thread_local volatile unsigned count_ = 0;
};

template <class Lock> class HeldLock {
public:
  explicit HeldLock(typename Lock::mutex_type& mutex) : lock_(mutex) {}

private:
  Holding holding_; ///< first: it begins before the lock is taken, and ends behind it
  Lock lock_;
};

using LaneLock = HeldLock<std::lock_guard<std::mutex>>;
using LaneSharedLock = HeldLock<std::shared_lock<std::shared_mutex>>;

} // namespace warplens::cpu
