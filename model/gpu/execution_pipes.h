// The execution pipes of an SM, one row each: the keys of GPU files and the figures of how kernels share an
// SM follow from it; model/clock/timed_code.cpp says which instructions a pipe executes.
#pragma once

#include "result/events.h"
#include "result/resources.h"

#include <cstdint>
#include <string_view>

namespace warplens::model {

/// Results per cycle of all of an SM's pipes of a kind, and cycles until a result can be used where compilers
/// do not schedule by a fixed time.
struct ExecutionPipes {
  std::uint32_t fp32 = 0, fp64 = 0;
  std::uint32_t fp16 = 0;    ///< pairs of results
  std::uint32_t integer = 0; ///< additions, logic, comparisons and moves
  std::uint32_t multiply_add = 0;
  bool multiply_add_in_fp32 = false;  ///< integer products are made by the pipes of fp32
  std::uint32_t special_function = 0; ///< and conversions
  std::uint32_t fp64_cycles = 0, special_function_cycles = 0;
  /// Between two dense products of a scheduler, of 16 × 8 sums and 256 bits of depth: 16 halves.
  std::uint32_t tensor_cycles = 0;
  bool tensor_singles_halved = false; ///< sums of single precision take twice as long
  /// Until a product's sums are there, where compilers do not schedule by a fixed time; 0: by architecture.
  std::uint32_t tensor_result_cycles = 0;
};

struct ExecutionPipe {
  std::string_view name; ///< the key of GPU files: pipes.NAME, pipes.NAME_cycles
  InstructionKind kind;  ///< that it executes
  Resource resource;     ///< that results report it as: two pipes may be one
  std::string_view meaning;
  std::uint32_t ExecutionPipes::* results = nullptr; ///< per cycle; none: `interval` is known
  std::uint32_t ExecutionPipes::* latency = nullptr; ///< none: compilers schedule by a fixed time
  std::uint32_t ExecutionPipes::* interval = nullptr;
};

inline constexpr ExecutionPipe execution_pipes[] = {
    {"fp32", InstructionKind::fp32, Resource::fp32_pipe, "single precision", &ExecutionPipes::fp32},
    {"fp64", InstructionKind::fp64, Resource::fp64_pipe, "double precision", &ExecutionPipes::fp64,
     &ExecutionPipes::fp64_cycles},
    {"fp16", InstructionKind::fp16, Resource::fp16_pipe, "pairs of half precision", &ExecutionPipes::fp16},
    {"integer", InstructionKind::integer, Resource::integer_pipe, "integers, with comparisons and moves",
     &ExecutionPipes::integer},
    {"multiply_add", InstructionKind::multiply_add, Resource::integer_pipe, "integer products",
     &ExecutionPipes::multiply_add},
    {"special_function", InstructionKind::special_function, Resource::special_function_pipe,
     "special functions and conversions (those of 64 bits where fp64 is no slower)",
     &ExecutionPipes::special_function, &ExecutionPipes::special_function_cycles},
    {"tensor", InstructionKind::tensor, Resource::tensor_pipe,
     "dense matrix products with 16 × 8 sums and 256 bits of depth (16 halves), from which "
     "[the others](tensor-cores.md) follow",
     nullptr, &ExecutionPipes::special_function_cycles, &ExecutionPipes::tensor_cycles},
};

} // namespace warplens::model
