// Counts how many iterations' copies of an access lie next to each other in nvcc's code.
#pragma once

#include "analysis/debug_position.h"

#include <llvm/IR/PassManager.h>
#include <map>
#include <set>

namespace warplens::analysis {

/// For each kind of access at one position: how many iterations of loops have a copy of it that none of the
/// others needs to wait for.
struct AdjacentCopies {
  unsigned read = 1, stored = 1;
  unsigned any = 1; ///< accesses and calls that contain an access
};
using AdjacentCopiesAt = std::map<Position, AdjacentCopies>;

/// A thread has at most 255 registers (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability"), so that it cannot wait for more values at once.
inline constexpr unsigned max_adjacent_copies = 255;

/// A loop, as far as nvcc's choice of its number of copies depends on it.
struct UnrolledLoop {
  unsigned instructions = 0;    ///< of one iteration, as LLVM estimates its code's size
  std::uint64_t iterations = 0; ///< 0: known at run time only
  unsigned requested = 0;       ///< by `#pragma unroll N`; 0: there is none
  bool requested_full = false;  ///< by `#pragma unroll`
};

/// Returns how many copies of a loop's body nvcc 13.0 puts into one basic block. The loop's body is one basic
/// block, and the number of its iterations is known before it begins. The rule is that of LLVM's unroller,
/// with figures found by comparing the PTX of 222 loops (-O3, sm_80), of which it predicts 217:
///   - a requested number of copies is obeyed, and so is the request for all, up to 16384 instructions;
///   - a loop with a constant number of iterations is unrolled fully up to 405 instructions, or in two steps:
///     first partly, and then fully if at most 10 iterations remain and all have at most 460 instructions,
///     without 3 of each iteration that compute its index;
///   - otherwise it gets the largest power of two copies, up to 32 and up to 195 instructions, that divides
///     the number of iterations;
///   - if that is odd, or known at run time only, it gets 4 copies, or 2 if these would have more than 195
///     instructions, or 1.
/// The code leaves a loop within the copies if their number does not divide a constant number of iterations;
/// the result is the larger of the two blocks then.
unsigned copies_in_one_block(const UnrolledLoop& loop);

/// A pass that observes a function after full unrolling and before partial unrolling. LLVM unrolls other
/// loops than nvcc does, and loops with a number of iterations that is known at run time only by 8 instead of
/// 4. So the pass counts the copies of fully unrolled loops and multiplies them by copies_in_one_block() of
/// the loop around them.
///
/// Copies do not count together if
///   - a barrier, a fence or a call that may write to memory is between them;
///   - the address of one is computed from a value that another one, or a load of an earlier iteration,
///     returns (a pointer chase);
///   - the later one is a load, and between them is a store or an atomic that waits for a loaded value and
///     may write to the place that is loaded. ptxas does not know __restrict__, but which memory is only read
///     (const __restrict__: ld.global.nc).
class CountAdjacentCopies : public llvm::PassInfoMixin<CountAdjacentCopies> {
public:
  /// `unrolled_fully` gets the starts of the loops that nvcc unrolls fully.
  CountAdjacentCopies(AdjacentCopiesAt& result, std::set<Position>& unrolled_fully)
      : result_(&result), unrolled_fully_(&unrolled_fully) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  AdjacentCopiesAt* result_;
  std::set<Position>* unrolled_fully_;
};

} // namespace warplens::analysis
