// Fibers: what a CUDA thread that may wait for others runs on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace warplens::cpu {

/// Memory for the stacks of one block's fibers: one mapping with one guard below all of them, because a
/// process may have few mappings (vm.max_map_count), and a launch hundreds of thousands of stacks. That a
/// fiber stays on its own stack is for others to see to: how much a function needs is known when it is
/// compiled, or checked where it is called (Block::check_stack). Grows, and is kept for the next block.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() { release(); }

  /// Makes room for `count` stacks of at least `bytes`. No stack may be in use. Throws std::bad_alloc.
  void reserve(std::size_t count, std::size_t bytes);

  /// Where stack number `index` begins; it grows down. The tops of neighbours are at different distances from
  /// a page's end: with the same low address bits they would fall into the same sets of the L1 cache.
  char* top(std::size_t index) const;
  std::size_t usable_bytes() const { return stride_ - largest_stagger; }
  std::size_t stride() const { return stride_; }

  /// Where an address in one of the stacks is: which stack, and how far from its top (1 is the topmost byte).
  struct Place {
    std::size_t index;
    std::size_t depth;
  };
  Place place_of(std::uint64_t address) const;

  /// Does the address lie in any stack of the pool?
  bool contains(std::uint64_t address) const {
    return address - reinterpret_cast<std::uint64_t>(base_) < count_ * stride_;
  }

  /// Does any address from `first` to `last`, both included, lie in any stack?
  bool meets(std::uint64_t first, std::uint64_t last) const {
    const auto begin = reinterpret_cast<std::uint64_t>(base_);
    return count_ != 0 && begin <= last && first <= begin + (count_ * stride_ - 1);
  }

  /// Does the address lie in the guard?
  bool guards(std::uint64_t address) const {
    return count_ != 0 && reinterpret_cast<std::uint64_t>(base_) - address - 1 < guard_bytes;
  }

private:
  void release();

  // As no function's frame is larger (a CUDA thread has 512 KiB of local memory at most), none gets past it.
  static constexpr std::size_t guard_bytes = 1 << 20;
  static constexpr std::size_t largest_stagger = 4096;
  char* base_ = nullptr; ///< of the lowest stack, above the guard
  std::size_t count_ = 0, stride_ = 0;
};

/// A fiber as the thread sanitizer knows it; empty where there is none.
class SanitizedFiber {
public:
  SanitizedFiber() = default;
  SanitizedFiber(SanitizedFiber&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SanitizedFiber& operator=(SanitizedFiber&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SanitizedFiber() { end(); }

  /// Ends what it was and begins anew.
  void begin();
  void end();
  /// Tells that the calling OS thread goes on in it; which one it was in before.
  void* enter() const;
  static void go_back_to(void* before);

private:
  void* handle_ = nullptr;
};

/// One fiber. Control passes between it and whoever resumed it.
class Fiber {
public:
  using Entry = void (*)(void* argument);

  /// Ready to run `entry(argument)` on the stack at its first resume. The entry never returns: its last act
  /// is suspend().
  void prepare(char* stack_top, std::size_t stack_bytes, Entry entry, void* argument);
  /// Runs the fiber until it suspends.
  void resume();
  /// Called on the fiber: back to resume().
  void suspend();
  /// The end of its stack, as an address.
  std::uint64_t stack_bottom() const { return reinterpret_cast<std::uint64_t>(stack_bottom_); }

private:
  void* fiber_ = nullptr; ///< Boost.Context's handles
  void* resumer_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // What the address sanitizer wants to know of each switch.
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
