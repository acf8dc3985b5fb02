// CUDA's functions that access memory through a pointer, a texture or a surface argument, and its barriers.
#pragma once

#include "analysis/memory_operation.h"

#include <optional>
#include <string_view>

namespace warplens::rewriter {

struct PointerFunction {
  AccessKind kind;
  CacheOperator cache_operator = CacheOperator::none;
};

/// Returns the description of a function, by its name; they all access the target of their first argument.
/// (CUDA C++ Programming Guide: "Read-Only Data Cache Load Function", "Load/Store Functions Using Cache
/// Hints", "Atomic Functions"; PTX ISA, "Cache Operators".)
std::optional<PointerFunction> pointer_function(std::string_view name);

struct ImageFunction {
  Handle handle;
  AccessKind kind;
};
/// Returns the description of a function, by its name. (CUDA C++ Programming Guide: "Texture Functions",
/// "Surface Functions".)
std::optional<ImageFunction> image_function(std::string_view name);

/// Returns whether the threads of a block wait for each other in a function of this name (CUDA C++
/// Programming Guide, "Synchronization Functions").
bool is_barrier(std::string_view name);

/// Returns a description of a function that accesses memory in a way that has no probe, such as copies, or
/// null for other functions.
const char* unprobed_function(std::string_view name);

} // namespace warplens::rewriter
