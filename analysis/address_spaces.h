// Address spaces of memory operations, by forward data flow over each function and summaries of calls.
#pragma once

#include "analysis/memory_operation.h"

#include <span>
#include <vector>

namespace clang {
class ASTContext;
}

namespace warplens::analysis {

/// One space for each operation, in the same order. What may be more than one space, and what nothing is
/// known of (a pointer that was itself loaded from memory, or made from an integer), is generic.
///
/// Flow-sensitive within a function: `p = shared_array; …; p = global_array;` is right at each point. A
/// function's parameters join what is passed at all calls that a kernel reaches; what a function returns is a
/// function of what it is passed. Pointer parameters of kernels, also within structs, point to global memory.
std::vector<trace::Space> address_spaces(clang::ASTContext& context,
                                         std::span<const MemoryOperation> operations);

} // namespace warplens::analysis
