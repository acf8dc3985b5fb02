// A tensor map, with which a kernel's bulk copies address a tensor in global memory (PTX ISA, "Tensors").
// NVIDIA's layout of its 128 bytes is not documented. Where `tensormap.replace` writes a field, ptxas makes
// plain stores of it, so that these fields lie where the machine code has them; the others' places are this
// project's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

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

inline constexpr std::uint32_t bytes_of(TensorMap::Type type) {
  constexpr std::uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return static_cast<unsigned>(type) < sizeof bytes ? bytes[static_cast<unsigned>(type)] : 0;
}

inline constexpr std::size_t tensor_map_bytes = 128;

/// The 32 words of a map in memory.
struct TensorMapWords {
  /// The fields that PTX names: `tensormap.replace` changes them. Strides count 16 bytes and have 4 bits more
  /// in a word of their own; sizes and numbers of steps and boxes are less by one.
  std::uint64_t address;
  std::uint32_t kinds; ///< the rank at bit 4, the type at 7, the swizzle at 13, the fill at 15
  std::array<std::uint32_t, 4> strides;
  std::uint32_t upper_strides;
  std::array<std::uint32_t, TensorMap::max_rank> last;
  std::uint32_t steps_and_first_box; ///< 3 bits for each step; at bit 24 the innermost box
  std::uint32_t boxes;               ///< a byte for each further one
  /// The rest.
  std::uint32_t mark;
  std::uint8_t is_im2col, has_atoms_of_32;
  std::array<std::int16_t, 3> lower_corner, upper_corner;
  std::uint16_t channels, pixels;
};
static_assert(offsetof(TensorMapWords, last) == 0x20 && offsetof(TensorMapWords, boxes) == 0x38);
static_assert(sizeof(TensorMapWords) <= tensor_map_bytes);

/// The types in the order of PTX' numbers.
inline constexpr std::array<TensorMap::Type, 13> types_of_ptx{
    TensorMap::Type::u8,      TensorMap::Type::u16, TensorMap::Type::u32,  TensorMap::Type::s32,
    TensorMap::Type::u64,     TensorMap::Type::s64, TensorMap::Type::f16,  TensorMap::Type::f32,
    TensorMap::Type::f32_ftz, TensorMap::Type::f64, TensorMap::Type::bf16, TensorMap::Type::tf32,
    TensorMap::Type::tf32_ftz};

inline void write_tensor_map(const TensorMap& map, void* to) {
  TensorMapWords words{};
  std::uint32_t type = 0;
  while (types_of_ptx[type] != map.type)
    ++type;
  const bool has_atoms_of_32 = map.swizzle == TensorMap::Swizzle::bytes_128_atom_32;
  const auto swizzle = std::uint32_t(has_atoms_of_32 ? TensorMap::Swizzle::bytes_128 : map.swizzle);
  words.address = map.address;
  words.kinds = (map.rank - 1u) << 4 | type << 7 | swizzle << 13 | std::uint32_t{map.fills_with_nan} << 15;
  for (unsigned i = 0; i < map.strides.size(); ++i) {
    words.strides[i] = static_cast<std::uint32_t>(map.strides[i] >> 4);
    words.upper_strides |= static_cast<std::uint32_t>(map.strides[i] >> 36 & 15) << 4 * i;
  }
  words.last = map.last;
  for (unsigned i = 0; i < TensorMap::max_rank; ++i) {
    words.steps_and_first_box |= (map.steps[i] == 0 ? 0u : map.steps[i] - 1u) << 3 * i;
    const std::uint32_t box = map.box[i] == 0 ? 0u : map.box[i] - 1u;
    (i == 0 ? words.steps_and_first_box : words.boxes) |= box << (i == 0 ? 24 : 8 * (i - 1));
  }
  words.mark = TensorMap::expected_mark;
  words.is_im2col = map.is_im2col;
  words.has_atoms_of_32 = has_atoms_of_32;
  words.lower_corner = map.lower_corner;
  words.upper_corner = map.upper_corner;
  words.channels = map.channels;
  words.pixels = map.pixels;
  std::memset(to, 0, tensor_map_bytes);
  std::memcpy(to, &words, sizeof words);
}

/// Returns the map in these 128 bytes; nothing if the driver API has not made it.
inline std::optional<TensorMap> read_tensor_map(const void* from) {
  TensorMapWords words;
  std::memcpy(&words, from, sizeof words);
  const std::uint32_t type = words.kinds >> 7 & 15, rank = (words.kinds >> 4 & 7) + 1;
  if (words.mark != TensorMap::expected_mark || type >= types_of_ptx.size() || rank > TensorMap::max_rank)
    return std::nullopt;
  TensorMap map{};
  map.type = types_of_ptx[type];
  map.rank = static_cast<std::uint8_t>(rank);
  map.swizzle = static_cast<TensorMap::Swizzle>(words.kinds >> 13 & 3);
  if (map.swizzle == TensorMap::Swizzle::bytes_128 && words.has_atoms_of_32 != 0)
    map.swizzle = TensorMap::Swizzle::bytes_128_atom_32;
  map.fills_with_nan = (words.kinds >> 15 & 1) != 0;
  map.address = words.address;
  for (unsigned i = 0; i < map.strides.size(); ++i)
    map.strides[i] = (std::uint64_t{words.upper_strides >> 4 * i & 15} << 32 | words.strides[i]) << 4;
  map.last = words.last;
  for (unsigned i = 0; i < TensorMap::max_rank; ++i) {
    map.steps[i] = static_cast<std::uint8_t>((words.steps_and_first_box >> 3 * i & 7) + 1);
    const std::uint32_t box = i == 0 ? words.steps_and_first_box >> 24 : words.boxes >> 8 * (i - 1) & 0xff;
    map.box[i] = static_cast<std::uint16_t>(box + 1);
  }
  map.steps[0] = 1;
  map.is_im2col = words.is_im2col != 0;
  map.lower_corner = words.lower_corner;
  map.upper_corner = words.upper_corner;
  map.channels = words.channels;
  map.pixels = words.pixels;
  return map;
}

} // namespace warplens::machine
