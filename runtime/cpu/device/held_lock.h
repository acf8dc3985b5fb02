// Locks that the runtime takes for a running lane. A lane that faults leaves its frames as they are, so a
// fault while it holds one must end the program: others would wait for it for ever
// (runtime/cpu/execution/signals.cpp).
#pragma once

#include <mutex>
#include <shared_mutex>

namespace warplens::cpu {

/// Counts, during its lifetime, as a lock of the calling OS thread that others may wait for.
class Holding {
public:
  Holding() { count_ = count_ + 1; }
  ~Holding() { count_ = count_ - 1; }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  /// Returns whether the calling OS thread holds any lock. For signal handlers.
  static bool any() { return count_ != 0; }

private:
  static inline constinit thread_local volatile unsigned count_ = 0;
};

template <class Lock> class HeldLock {
public:
  explicit HeldLock(typename Lock::mutex_type& mutex) : lock_(mutex) {}

private:
  Holding holding_; ///< first: its lifetime begins before the lock is taken and ends after its release
  Lock lock_;
};

using LaneLock = HeldLock<std::lock_guard<std::mutex>>;
using LaneSharedLock = HeldLock<std::shared_lock<std::shared_mutex>>;

} // namespace warplens::cpu
