#include "sass/code_table.h"

#include <fmt/format.h>

namespace warplens::sass {

std::string_view name_of(InstructionClass kind) {
  switch (kind) {
  case InstructionClass::other: return "other";
  case InstructionClass::fp32: return "fp32";
  case InstructionClass::fp16: return "fp16";
  case InstructionClass::fp64: return "fp64";
  case InstructionClass::alu: return "alu";
  case InstructionClass::multiply_add: return "multiply_add";
  case InstructionClass::wide_integer: return "wide_integer";
  case InstructionClass::special_function: return "special_function";
  case InstructionClass::conversion: return "conversion";
  case InstructionClass::tensor: return "tensor";
  case InstructionClass::load_global: return "load_global";
  case InstructionClass::load_shared: return "load_shared";
  case InstructionClass::load_local: return "load_local";
  case InstructionClass::load_constant: return "load_constant";
  case InstructionClass::load_generic: return "load_generic";
  case InstructionClass::load_texture: return "load_texture";
  case InstructionClass::store_global: return "store_global";
  case InstructionClass::store_shared: return "store_shared";
  case InstructionClass::store_local: return "store_local";
  case InstructionClass::store_generic: return "store_generic";
  case InstructionClass::store_surface: return "store_surface";
  case InstructionClass::copy_to_shared: return "copy_to_shared";
  case InstructionClass::copy_to_global: return "copy_to_global";
  case InstructionClass::atomic_global: return "atomic_global";
  case InstructionClass::atomic_shared: return "atomic_shared";
  case InstructionClass::atomic_generic: return "atomic_generic";
  case InstructionClass::atomic_surface: return "atomic_surface";
  case InstructionClass::reduction_global: return "reduction_global";
  case InstructionClass::shuffle: return "shuffle";
  case InstructionClass::vote: return "vote";
  case InstructionClass::branch: return "branch";
  case InstructionClass::barrier: return "barrier";
  case InstructionClass::fence: return "fence";
  case InstructionClass::wait: return "wait";
  case InstructionClass::end_group: return "end_group";
  case InstructionClass::await_group: return "await_group";
  case InstructionClass::exit: return "exit";
  case InstructionClass::move: return "move";
  case InstructionClass::special_register: return "special_register";
  case InstructionClass::uniform: return "uniform";
  case InstructionClass::predicate: return "predicate";
  case InstructionClass::nop: return "nop";
  }
  return "other";
}

std::string_view name_of(BlockEnd end) {
  switch (end) {
  case BlockEnd::falls_through: return "falls through";
  case BlockEnd::branch: return "branches";
  case BlockEnd::indirect: return "branches indirectly";
  case BlockEnd::call: return "calls";
  case BlockEnd::indirect_call: return "calls indirectly";
  case BlockEnd::returns: return "returns";
  case BlockEnd::exit: return "exits";
  case BlockEnd::reconverge: return "reconverges";
  }
  return "falls through";
}

std::string name_of(RegisterSpan registers) {
  constexpr std::string_view prefixes[] = {"R", "UR", "P", "UP"};
  const std::string_view prefix = prefixes[static_cast<std::size_t>(registers.file)];
  if (registers.count == 1)
    return fmt::format("{}{}", prefix, registers.first);
  return fmt::format("{}{}:{}", prefix, registers.first, registers.first + registers.count - 1);
}

} // namespace warplens::sass
