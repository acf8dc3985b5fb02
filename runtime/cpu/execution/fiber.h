// Fibers, on which CUDA threads run that may wait for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace warplens::cpu {

/// Memory for the stacks of one block's fibers: one mapping with one guard below all of them, because a
/// process may have few mappings (vm.max_map_count), and a launch hundreds of thousands of stacks. The pool
/// does not check that a fiber stays on its own stack: the compiler knows how much a function needs, or the
/// function checks it (Block::check_stack). The memory grows, and is kept for the next block.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() { release(); }

  /// Provides `count` stacks of at least `bytes`. No stack may be in use. Throws std::bad_alloc.
  void reserve(std::size_t count, std::size_t bytes);

  /// Returns the top of stack number `index`, from which it grows down. The tops of neighbours are at
  /// different distances from a page's end: with the same low address bits they would map to the same sets of
  /// the L1 cache.
  char* top(std::size_t index) const;
  std::size_t usable_bytes() const { return stride_ - largest_stagger; }
  std::size_t stride() const { return stride_; }

  /// The stack that an address lies in, and its distance from the stack's top (1 is the topmost byte).
  struct Place {
    std::size_t index;
    std::size_t depth;
  };
  Place place_of(std::uint64_t address) const;

  /// Returns whether the address lies in any stack of the pool.
  bool contains(std::uint64_t address) const {
    return address - reinterpret_cast<std::uint64_t>(base_) < count_ * stride_;
  }

  /// Returns whether any address from `first` to `last`, both included, lies in any stack.
  bool meets(std::uint64_t first, std::uint64_t last) const {
    const auto begin = reinterpret_cast<std::uint64_t>(base_);
    return count_ != 0 && begin <= last && first <= begin + (count_ * stride_ - 1);
  }

  /// Returns whether the address lies in the guard.
  bool guards(std::uint64_t address) const {
    return count_ != 0 && reinterpret_cast<std::uint64_t>(base_) - address - 1 < guard_bytes;
  }

private:
  void release();

  // The guard exceeds the largest frame of a function (a CUDA thread has at most 512 KiB of local memory), so
  // that none skips it.
  static constexpr std::size_t guard_bytes = 1 << 20;
  static constexpr std::size_t largest_stagger = 4096;
  char* base_ = nullptr; ///< the lowest stack's end, above the guard
  std::size_t count_ = 0, stride_ = 0;
};

/// A fiber's handle of the thread sanitizer; empty without that sanitizer.
class SanitizedFiber {
public:
  SanitizedFiber() = default;
  SanitizedFiber(SanitizedFiber&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SanitizedFiber& operator=(SanitizedFiber&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SanitizedFiber() { end(); }

  /// Ends the old fiber and begins a new one.
  void begin();
  void end();
  /// Announces that the calling OS thread switches to the fiber; returns the one it was in before.
  void* enter() const;
  static void go_back_to(void* before);

private:
  void* handle_ = nullptr;
};

/// A fiber. Control passes between it and the function that resumes it.
class Fiber {
public:
  using Entry = void (*)(void* argument);

  /// Prepares `entry(argument)` to run on the stack at the first resume. The entry never returns: its last
  /// act is suspend().
  void prepare(char* stack_top, std::size_t stack_bytes, Entry entry, void* argument);
  /// Runs the fiber until it suspends.
  void resume();
  /// Returns control to resume(). Called on the fiber.
  void suspend();
  /// Returns the address of its stack's end.
  std::uint64_t stack_bottom() const { return reinterpret_cast<std::uint64_t>(stack_bottom_); }

private:
  void* fiber_ = nullptr; ///< Boost.Context's handles
  void* resumer_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // The address sanitizer's state for switches.
  void* fake_stack_ = nullptr;
  void* resumers_fake_stack_ = nullptr;
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  const void* resumers_bottom_ = nullptr;
  std::size_t resumers_bytes_ = 0;
  SanitizedFiber sanitized_;
  void* resumers_sanitized_ = nullptr;

  struct Start;
};

} // namespace warplens::cpu
