// A kernel's body, cut into regions at its barriers and where lanes of a warp run in lock step: a region is
// one thread's work from one such stop to the next.
#pragma once

#include <cstdint>
#include <llvm/IR/Function.h>
#include <set>
#include <vector>

namespace warplens::lowering {

/// One thread's work from the kernel's begin, or from a stop, to the next stop.
struct Region {
  /// i32 (the kernel's parameters…, ptr frames, i64 threads, ptr lane): returns the number of the next
  /// region.
  llvm::Function* function = nullptr;
  std::set<unsigned> next; ///< possible return values
};

struct Regions {
  std::vector<Region>
      regions; ///< number 0 is the kernel's begin; their count means that the thread has exited
  /// Each region's begin: a position in program order, where lanes of a warp are in lock step, or a barrier.
  std::vector<std::uint32_t> positions;
  static constexpr std::uint32_t at_barrier = 0xffffffff;
  /// The bytes of each thread's frame, which holds its values between regions. The first word is free for the
  /// caller's use: frames[4 · linear thread].
  std::uint64_t frame_bytes = 0;
};

/// Returns whether threads stop only at barriers for the whole block, and in lock step with their warp.
bool stops_with_all(llvm::Function& body);

/// Cuts a body for which stops_with_all() holds, and consumes it. Returns no regions, and leaves the body as
/// it was, if the code would grow more than it gains, or if the size of a thread's own memory is unknown.
Regions cut_at_stops(llvm::Function& body);

} // namespace warplens::lowering
