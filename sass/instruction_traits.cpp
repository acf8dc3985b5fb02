#include "sass/instruction_traits.h"

#include <algorithm>
#include <iterator>

namespace warplens::sass {
namespace {

using C = InstructionClass;
using U = ExecutionUnit;
using S = AddressSpace;
using O = MemoryOperation;

/// In the order of the classes.
constexpr InstructionTraits rows[] = {
    {C::other, "other"},
    {C::fp32, "fp32", U::fp32},
    {C::fp16, "fp16", U::fp16},
    {C::fp64, "fp64", U::fp64},
    {C::alu, "alu", U::integer},
    {C::multiply_add, "multiply_add", U::multiply_add},
    {C::wide_integer, "wide_integer", U::multiply_add, S::none, O::none, 2},
    {C::special_function, "special_function", U::special_function},
    {C::conversion, "conversion", U::special_function},
    {C::tensor, "tensor", U::tensor},
    {C::load_global, "load_global", U::memory, S::global, O::load},
    {C::load_shared, "load_shared", U::memory, S::shared, O::load},
    {C::load_local, "load_local", U::memory, S::local, O::load},
    {C::load_constant, "load_constant", U::memory, S::constant, O::load},
    {C::load_generic, "load_generic", U::memory, S::generic, O::load},
    {C::load_texture, "load_texture", U::memory, S::texture, O::load},
    {C::store_global, "store_global", U::memory, S::global, O::store},
    {C::store_shared, "store_shared", U::memory, S::shared, O::store},
    {C::store_local, "store_local", U::memory, S::local, O::store},
    {C::store_generic, "store_generic", U::memory, S::generic, O::store},
    {C::store_surface, "store_surface", U::memory, S::texture, O::store},
    {C::copy_to_shared, "copy_to_shared", U::memory, S::global, O::copy},
    {C::copy_to_global, "copy_to_global", U::memory, S::global, O::copy},
    {C::atomic_global, "atomic_global", U::memory, S::global, O::atomic},
    {C::atomic_shared, "atomic_shared", U::memory, S::shared, O::atomic},
    {C::atomic_generic, "atomic_generic", U::memory, S::generic, O::atomic},
    {C::atomic_surface, "atomic_surface", U::memory, S::texture, O::atomic},
    {C::reduction_global, "reduction_global", U::memory, S::global, O::atomic},
    {C::shuffle, "shuffle", U::shuffle},
    {C::vote, "vote", U::vote},
    {C::branch, "branch", U::branch},
    {C::barrier, "barrier", U::barrier},
    {C::fence, "fence"},
    {C::wait, "wait"},
    {C::end_group, "end_group"},
    {C::await_group, "await_group"},
    {C::exit, "exit"},
    {C::move, "move", U::integer},
    {C::special_register, "special_register", U::special_register},
    {C::uniform, "uniform"},
    {C::predicate, "predicate", U::integer},
    {C::nop, "nop"},
};
static_assert(std::size(rows) == std::size_t(C::nop) + 1);
static_assert(std::ranges::all_of(rows, [](const InstructionTraits& row) {
  return &row - rows == std::ptrdiff_t(row.kind);
}));

} // namespace

const InstructionTraits& traits_of(InstructionClass kind) {
  return rows[static_cast<std::size_t>(kind)];
}

std::string_view name_of(InstructionClass kind) {
  return traits_of(kind).name;
}

} // namespace warplens::sass
