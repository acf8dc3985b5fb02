// A kernel's body, cut at its barriers and where lanes of a warp run in lock step: what one thread does from
// one such stop to the next.
#pragma once

#include <cstdint>
#include <llvm/IR/Function.h>
#include <set>
#include <vector>

namespace warplens::lowering {

/// What a thread does from the kernel's begin, or from a stop, until it stops.
struct Region {
  /// i32 (the kernel's parameters…, ptr frames, i64 threads, ptr lane): the region that comes next.
  llvm::Function* function = nullptr;
  std::set<unsigned> next; ///< what it may return
};

struct Regions {
  std::vector<Region> regions; ///< number 0 is the kernel's begin; their count says that the thread has ended
  /// What each begins at: a place in program order, where lanes of a warp are in lock step, or a barrier.
  std::vector<std::uint32_t> positions;
  static constexpr std::uint32_t at_barrier = 0xffffffff;
  /// Of the frames, for each thread: what it keeps from one region to the next. The first word is free for
  /// the caller's use: frames[4 · linear thread].
  std::uint64_t frame_bytes = 0;
};

/// Does a thread stop nowhere but at barriers for all threads of its block, and in lock step with its warp?
bool stops_with_all(llvm::Function& body);

/// Cuts a body that does; `body` is used up. Empty where that would take more code than it saves time, or
/// where a thread's own memory cannot be told beforehand: then the body is as it was.
Regions cut_at_stops(llvm::Function& body);

} // namespace warplens::lowering
