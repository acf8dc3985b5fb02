// The operations of sm_75 to sm_120: names, units, and which fields of an instruction name registers.
#pragma once

#include "sass/bits.h"
#include "sass/code_table.h"

namespace warplens::sass {

/// How an operation's fields are read. Bits 9 to 11 of an instruction are its *form*: which of its operands
/// is a register, a constant or an immediate.
enum class Shape : std::uint8_t {
  regular,          ///< by Operation::fields
  uniform_datapath, ///< the same with uniform registers and predicates
  counter,          ///< CS2R
  block_barrier,
  scoreboard_wait, ///< DEPBAR
  memory,          ///< loads, stores, atomics: an address, data, a descriptor
  texture,
  surface,
  matrix,      ///< tensor cores: widths by the matrices' shape
  wide_memory, ///< of 32 bytes, in two groups of registers
  warp_group_matrix,
  warp_group_wait, ///< WARPGROUP: .ARRIVE, .DEPBAR
  convert,         ///< widths by the types
  between_lanes,
  predicates_to_register,
  register_to_predicates,
  constant, ///< loads of constants: LDC, ULDC
  warp_sync,
  relative_branch, ///< a target in the instruction
  convergence,     ///< BSSY, BSYNC, BREAK
  bulk,            ///< copies by the tensor memory accelerator, of uniform registers
};

/// The fields that name registers. D is the result and A, B and C are operands; which bits B and C are in
/// depends on the form.
enum Field : std::uint16_t {
  D = 1,
  A = 2,
  B = 4,
  C = 8,
  W81 = 16, ///< writes the predicate at bit 81
  W84 = 32,
  R87 = 64, ///< reads the predicate at bit 87
  R77 = 128,
  R68 = 256,
  UD = 512,    ///< the result is uniform
  AtB = 1024,  ///< reads the general register at bit 32, whatever the form
  AtC = 2048,  ///< … at bit 64
  UG = 4096,   ///< the guard is a uniform predicate
  UW81 = 8192, ///< writes the uniform predicate at bit 81
};

struct Operation {
  std::uint16_t code; ///< bits 0 to 8
  std::uint8_t forms; ///< the forms that the row is for, a bit for each; 0: all others
  std::string_view name;
  InstructionClass kind;
  Shape shape;
  std::uint16_t fields = 0;
  std::uint16_t widths = 0x1111; ///< the registers of D, A, B and C, from the highest digit
};

/// Returns the operations; the first stands for those that are unknown.
std::span<const Operation> operations();

/// Returns the index of an instruction's operation; 0 if it is unknown.
std::uint16_t find_operation(Word word, int architecture);

} // namespace warplens::sass
