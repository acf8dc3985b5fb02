// Address spaces of memory operations, by forward data flow over each function and summaries of calls.
#pragma once

#include "analysis/memory_operation.h"

#include <span>
#include <vector>

namespace clang {
class ASTContext;
}

namespace warplens::analysis {

/// Returns one space for each operation, in the same order. An operation is generic if it may be in more than
/// one space, or if its pointer is unknown (itself loaded from memory, or made from an integer).
///
/// The analysis is flow-sensitive within a function: `p = shared_array; …; p = global_array;` is right at
/// each point. A function's parameters join the arguments of all calls that a kernel reaches; a function's
/// result is a function of its arguments. Pointer parameters of kernels, also within structs, point to global
/// memory.
std::vector<Space> address_spaces(clang::ASTContext& context, std::span<const MemoryOperation> operations);

} // namespace warplens::analysis
