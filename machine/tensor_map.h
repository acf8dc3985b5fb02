// A tensor map, with which a kernel's bulk copies address a tensor in global memory (PTX ISA, "Tensors").
// NVIDIA's layout of its 128 bytes is not documented. Here the same program makes and reads them, so that the
// layout is this project's own.
#pragma once

#include <array>
#include <cstdint>

namespace warplens::machine {

struct TensorMap {
  static constexpr std::uint32_t expected_mark = 0x57505447;
  static constexpr unsigned max_rank = 5;
  enum class Type : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz
  };
  /// The values of CUtensorMapSwizzle.
  enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128, bytes_128_atom_32 };

  std::uint32_t mark; ///< expected_mark, if the driver API has made it
  Type type;
  std::uint8_t rank;
  Swizzle swizzle;
  bool fills_with_nan; ///< rather than zero, what is outside of the tensor
  std::uint64_t address;
  std::array<std::uint64_t, max_rank - 1> strides; ///< in bytes, of the dimensions after the first
  std::array<std::uint32_t, max_rank> last;        ///< of each dimension the last coordinate: its size less 1
  std::array<std::uint16_t, max_rank> box;         ///< elements in each dimension
  std::array<std::uint8_t, max_rank> steps;        ///< of which each such one is copied
  bool is_im2col;
  std::array<std::int16_t, 3> lower_corner, upper_corner; ///< of the box of pixels, innermost dimension first
  std::uint16_t channels, pixels;                         ///< of a column
};
static_assert(sizeof(TensorMap) <= 128);

inline constexpr std::uint32_t bytes_of(TensorMap::Type type) {
  constexpr std::uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return static_cast<unsigned>(type) < sizeof bytes ? bytes[static_cast<unsigned>(type)] : 0;
}

} // namespace warplens::machine
