// Scheduling sequences: the stretches of a kernel between which a warp is likely to be scheduled out.
#pragma once

#include "analysis/operations.h"

#include <functional>
#include <span>
#include <vector>

namespace clang {
class Stmt;
} // namespace clang

namespace warplens::analysis {

using IsUnrolled = std::function<bool(const clang::Stmt& loop)>;

/// Numbers the operations of each function by sequence, from 0 in evaluation order, as "bulk scheduling"
/// needs it (Baghsorkhi et al., PPoPP 2012). A sequence ends
///   - where a loop's condition or body begins, and behind the loop, unless `is_unrolled` says that the
///   compiler unrolls it fully and nothing in it ends a sequence: its iterations are straight-line code then;
///   - at a synchronisation: barriers, __syncwarp, cooperative groups' sync, fences (atomics are none), also
///   in a function called;
///   - at a call of a function that has operations, which are numbered on their own;
///   - before an operation whose address or condition needs a value loaded in this sequence: `waits_for`
///   names such loads for each operation. (The value that is stored does not end a sequence, as the loads
///   behind it need not wait for it.)
std::vector<std::uint32_t> sequences(std::span<const MemoryOperation> operations,
                                     std::span<const std::vector<std::size_t>> waits_for,
                                     const IsUnrolled& is_unrolled);

} // namespace warplens::analysis
