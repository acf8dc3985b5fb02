// Finds how the compiler carries out the atomics of a warp's lanes.
#pragma once

#include "analysis/debug_position.h"
#include "vocabulary/access.h"

#include <llvm/IR/PassManager.h>
#include <map>

namespace warplens::analysis {

struct AtomicCode {
  bool is_reduction = false; ///< nothing uses its result
  LaneAggregation aggregation = LaneAggregation::none;
};
using AtomicsAt = std::map<Position, AtomicCode>;

/// A pass that finds the atomics of an optimised function, also where they were inlined; of several at one
/// position it keeps what holds for all. The rule for the aggregation was found by decoding what ptxas of
/// CUDA 13.0 makes of 55 atomics for sm_75 and sm_80, and of 38 of these for sm_90:
///   - integer additions of a uniform value at a uniform address are one of the whole warp (VOTEU, POPC, then
///     RED, ATOMG or ATOMS by one lane), of 4 and 8 bytes, also in divergent branches and where the result is
///     used;
///   - 32-bit additions of any value, and, or, xor, minimum and maximum at a uniform address, with unused
///     result, are one from sm_80 on (REDUX), and on sm_75 if all lanes are active (VOTE);
///   - an addition of 1 to a word of shared memory, with unused result, is ATOMS.POPC.INC from sm_80 on;
///   - exchanges, compare-and-swap, floating-point additions, atomicInc and atomicDec are made by each lane.
/// An address is uniform if it is computed from constants, parameters, blockIdx, loads from uniform addresses
/// and the like; it is not where threadIdx.y or threadIdx.x / 32 is part of it, nor a shuffle, nor in a loop
/// that lanes leave at different times.
class FindAtomics : public llvm::PassInfoMixin<FindAtomics> {
public:
  explicit FindAtomics(AtomicsAt& result) : result_(&result) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  AtomicsAt* result_;
};

} // namespace warplens::analysis
