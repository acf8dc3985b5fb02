// One row of facts for each class of instructions, from which the model's rules follow: the pipe, what a
// stalled warp waits for, the accesses that it may make.
#pragma once

#include "sass/code_table.h"

#include <cstdint>
#include <string_view>

namespace warplens::sass {

/// The unit of an SM that executes an instruction; `control` needs no more than its issue.
enum class ExecutionUnit : std::uint8_t {
  control,
  fp32,
  fp16,
  fp64,
  integer,
  multiply_add, ///< IMAD's
  special_function,
  wide_conversion, ///< of special functions or of double precision, whichever is slower
  special_register,
  tensor,
  memory,
  shuffle,
  vote,
  branch,
  barrier,
};

/// The memory that an instruction's addresses lie in; `texture` is textures and surfaces.
enum class AddressSpace : std::uint8_t { none, global, shared, local, constant, generic, texture };

/// What an instruction does with memory; a reduction is an atomic operation, and a copy is from global memory
/// to shared memory or back.
enum class MemoryOperation : std::uint8_t { none, load, store, atomic, copy };

struct InstructionTraits {
  InstructionClass kind;
  std::string_view name;
  ExecutionUnit unit = ExecutionUnit::control;
  AddressSpace space = AddressSpace::none;
  MemoryOperation operation = MemoryOperation::none;
  std::uint8_t passes = 1; ///< through the unit
};

const InstructionTraits& traits_of(InstructionClass kind);

} // namespace warplens::sass
