#include "sass/matrix_product.h"

#include "sass/operands.h"

namespace warplens::sass {
namespace {

/// BMMA: products of bits, which only some architectures have.
std::optional<MatrixProduct> product_of_bits(Word word) {
  return MatrixProduct{.rows = std::uint16_t(word.bits(75, 2) != 0 ? 16 : 8),
                       .depth = std::uint16_t(word.bit(76) ? 256 : 128),
                       .bits = 1,
                       .is_float = false};
}

/// A row of A of a product by warp groups has 256 bits, whatever its elements are.
MatrixProduct warp_group_product(const Operands& operands) {
  return {.columns = std::uint16_t(8 * operands.function),
          .depth = std::uint16_t(operands.selector * (operands.product.is_sparse ? 2 : 1)),
          .bits = std::uint8_t(256 / operands.selector),
          .sums_singles = operands.float_result,
          .is_float = operands.opcode != Opcode::igmma,
          .is_sparse = operands.product.is_sparse,
          .by_warp_group = true,
          .reads_shared_a = operands.form == 4};
}

} // namespace

std::optional<MatrixProduct> matrix_product(const Instruction& instruction, int architecture) {
  if (name_of(instruction) == "BMMA")
    return product_of_bits(instruction.word);
  const Operands operands = decode_operands(instruction.word, instruction.address, architecture);
  MatrixProduct product{.sums_singles = operands.float_result,
                        .is_sparse = operands.product.is_sparse,
                        .is_scaled = operands.product.is_scaled};
  switch (operands.opcode) {
  case Opcode::hmma:
    product.depth = operands.function;
    product.bits = operands.type == 2 ? 32 : 16;
    return product;
  case Opcode::qmma:
    product.depth = operands.function;
    product.bits = 8;
    return product;
  case Opcode::omma:
    product.depth = operands.function;
    product.bits = 4;
    return product;
  case Opcode::imma:
    product.rows = operands.function;
    product.depth = operands.selector;
    product.bits = operands.type;
    product.is_float = false;
    return product;
  case Opcode::dmma:
    product.rows = operands.function;
    product.depth = operands.selector;
    product.bits = 64;
    product.sums_doubles = true;
    return product;
  case Opcode::hgmma:
  case Opcode::igmma:
  case Opcode::qgmma: return warp_group_product(operands);
  default: return std::nullopt;
  }
}

} // namespace warplens::sass
