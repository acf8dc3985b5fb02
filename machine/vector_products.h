// The products of tensor cores that most programs make, for one kind of processor. Their bits are those of
// `select_product` and `select_tensor_memory_operation`, which say what each computes: products of the
// factors' numbers are exact in double precision, so that sums in the same order are the same with or without
// fused multiply-adds.
#pragma once

#include "machine/warp.h"

namespace warplens::machine {

/// The columns of a row of sums that are added to at once.
inline constexpr std::uint32_t columns_at_once = 16;
/// Adds to sums of one row, each in the order of k, a[k] × b[k][column] for `columns_at_once` columns.
using AddProducts = void (*)(double* sums, const double* a, const double (*b)[columns_at_once],
                             std::uint32_t depth);

namespace portable {
Handler select_vector_product(const sass::Operands& operands);
void add_products(double* sums, const double* a, const double (*b)[columns_at_once], std::uint32_t depth);
} // namespace portable
namespace x86_64_v3 {
Handler select_vector_product(const sass::Operands& operands);
void add_products(double* sums, const double* a, const double (*b)[columns_at_once], std::uint32_t depth);
} // namespace x86_64_v3

/// Returns the product of tensor memory that adds by this function.
Handler select_tensor_memory_product(AddProducts add);

} // namespace warplens::machine
