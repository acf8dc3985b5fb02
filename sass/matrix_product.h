// The shape of a product of matrices by tensor cores: what a clock must know of such an instruction, and what
// its operations are.
#pragma once

#include "sass/code_table.h"

#include <cstdint>
#include <optional>

namespace warplens::sass {

/// What one warp does of a product D = A × B + C: of those by the four warps of a warp group, a quarter.
struct MatrixProduct {
  std::uint16_t rows = 16, columns = 8; ///< of D
  std::uint16_t depth = 16;             ///< of B in elements, also where A has half of them
  std::uint8_t bits = 16;               ///< of an element of A
  bool sums_singles = false;            ///< D is in single precision
  bool sums_doubles = false;
  bool is_float = true;       ///< the elements of A and B are
  bool is_sparse = false;     ///< A has half of its elements
  bool is_scaled = false;     ///< with scales of A's rows and B's columns
  bool by_warp_group = false; ///< asynchronous, with B in shared memory
  bool reads_shared_a = false;
  bool in_tensor_memory = false; ///< the sums are there; it is the SM's, and not one warp's
  bool of_two_blocks = false;    ///< each block's SM has a half of the rows

  /// Returns multiplications and additions, with those by zeros that a sparse product leaves out.
  double operations() const { return 2.0 * rows * columns * depth; }
  /// Returns the bits of a row of A that are read.
  unsigned depth_bits() const { return unsigned{depth} * bits / (is_sparse ? 2 : 1); }
};

/// Returns the product that an instruction of the class `tensor` makes; none if its shape is not known.
std::optional<MatrixProduct> matrix_product(const Instruction& instruction, int architecture);

} // namespace warplens::sass
