// CUDA's functions that access memory through a pointer, a texture or a surface they are given.
#pragma once

#include "analysis/memory_operation.h"

#include <optional>
#include <string_view>

namespace warplens::rewriter {

struct PointerFunction {
  trace::AccessKind kind;
  trace::CacheOperator cache_operator = trace::CacheOperator::none;
};

/// By the function's name; they all access what their first argument points to. (CUDA C++ Programming Guide:
/// "Read-Only Data Cache Load Function", "Load/Store Functions Using Cache Hints", "Atomic Functions"; PTX
/// ISA, "Cache Operators".)
std::optional<PointerFunction> pointer_function(std::string_view name);

struct ImageFunction {
  Handle handle;
  trace::AccessKind kind;
};
/// By the function's name. (CUDA C++ Programming Guide: "Texture Functions", "Surface Functions".)
std::optional<ImageFunction> image_function(std::string_view name);

/// Does it access memory in a way that has no probe, such as copies? Null if not, else what it is
/// called.
const char* unprobed_function(std::string_view name);

} // namespace warplens::rewriter
