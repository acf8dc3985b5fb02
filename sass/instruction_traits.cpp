#include "sass/instruction_traits.h"

#include <algorithm>
#include <iterator>

namespace warplens::sass {
namespace {

using Class = InstructionClass;
using U = ExecutionUnit;
using S = AddressSpace;
using O = MemoryOperation;

/// In the order of the classes.
constexpr InstructionTraits class_rows[] = {
    {Class::other, "other"},
    {Class::fp32, "fp32", U::fp32},
    {Class::fp16, "fp16", U::fp16},
    {Class::fp64, "fp64", U::fp64},
    {Class::alu, "alu", U::integer},
    {Class::multiply_add, "multiply_add", U::multiply_add},
    {Class::wide_integer, "wide_integer", U::multiply_add, S::none, O::none, 2},
    {Class::special_function, "special_function", U::special_function},
    {Class::conversion, "conversion", U::special_function},
    {Class::wide_conversion, "wide_conversion", U::wide_conversion},
    {Class::tensor, "tensor", U::tensor},
    {Class::load_global, "load_global", U::memory, S::global, O::load},
    {Class::load_shared, "load_shared", U::memory, S::shared, O::load},
    {Class::load_local, "load_local", U::memory, S::local, O::load},
    {Class::load_constant, "load_constant", U::memory, S::constant, O::load},
    {Class::load_generic, "load_generic", U::memory, S::generic, O::load},
    {Class::load_texture, "load_texture", U::memory, S::texture, O::load},
    {Class::store_global, "store_global", U::memory, S::global, O::store},
    {Class::store_shared, "store_shared", U::memory, S::shared, O::store},
    {Class::store_local, "store_local", U::memory, S::local, O::store},
    {Class::store_generic, "store_generic", U::memory, S::generic, O::store},
    {Class::store_surface, "store_surface", U::memory, S::texture, O::store},
    {Class::copy_to_shared, "copy_to_shared", U::memory, S::global, O::copy},
    {Class::copy_to_global, "copy_to_global", U::memory, S::global, O::copy},
    {Class::atomic_global, "atomic_global", U::memory, S::global, O::atomic},
    {Class::atomic_shared, "atomic_shared", U::memory, S::shared, O::atomic},
    {Class::atomic_generic, "atomic_generic", U::memory, S::generic, O::atomic},
    {Class::atomic_surface, "atomic_surface", U::memory, S::texture, O::atomic},
    {Class::reduction_global, "reduction_global", U::memory, S::global, O::atomic},
    {Class::shuffle, "shuffle", U::shuffle},
    {Class::vote, "vote", U::vote},
    {Class::branch, "branch", U::branch},
    {Class::barrier, "barrier", U::barrier},
    {Class::fence, "fence"},
    {Class::wait, "wait"},
    {Class::end_group, "end_group"},
    {Class::await_group, "await_group"},
    {Class::exit, "exit"},
    {Class::move, "move", U::integer},
    {Class::special_register, "special_register", U::special_register},
    {Class::uniform, "uniform"},
    {Class::predicate, "predicate", U::integer},
    {Class::nop, "nop"},
};
static_assert(std::size(class_rows) == std::size_t(Class::nop) + 1);
static_assert(std::ranges::all_of(class_rows, [](const InstructionTraits& row) {
  return &row - class_rows == std::ptrdiff_t(row.kind);
}));

} // namespace

const InstructionTraits& traits_of(InstructionClass kind) {
  return class_rows[static_cast<std::size_t>(kind)];
}

std::string_view name_of(InstructionClass kind) {
  return traits_of(kind).name;
}

} // namespace warplens::sass
