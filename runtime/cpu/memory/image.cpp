#include "runtime/cpu/memory/image.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warplens::cpu {
namespace {

/// Converts IEEE binary16 to binary32 exactly.
float from_half(std::uint16_t bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<float>(value);
}

std::uint32_t read_bits(const char* from, int bits) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, static_cast<std::size_t>(bits) / 8); // little endian, as GPUs are
  return value;
}

std::uint32_t read_channel(const char* from, int bits, cudaChannelFormatKind kind) {
  const std::uint32_t value = read_bits(from, bits);
  switch (kind) {
  case cudaChannelFormatKindFloat:
    return bits == 16 ? std::bit_cast<std::uint32_t>(from_half(static_cast<std::uint16_t>(value))) : value;
  case cudaChannelFormatKindSigned: {
    const int unused = 32 - bits;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused);
  }
  default: return value;
  }
}

} // namespace

Texel read_element(const Image& image, const char* element) {
  const int bits[] = {image.format.x, image.format.y, image.format.z, image.format.w};
  Texel texel{};
  for (std::size_t channel = 0; channel < 4 && bits[channel] > 0; ++channel) {
    texel[channel] = read_channel(element, bits[channel], image.format.f);
    element += bits[channel] / 8;
  }
  return texel;
}

std::array<float, 4> read_normalised(const Image& image, const char* element) {
  const Texel texel = read_element(image, element);
  const double unsigned_range = static_cast<double>((std::uint64_t{1} << image.format.x) - 1);
  const double signed_range = static_cast<double>((std::uint64_t{1} << (image.format.x - 1)) - 1);
  std::array<float, 4> values{};
  for (std::size_t channel = 0; channel < 4; ++channel)
    switch (image.format.f) {
    case cudaChannelFormatKindFloat: values[channel] = std::bit_cast<float>(texel[channel]); break;
    case cudaChannelFormatKindSigned: // the lowest integer also becomes -1
      values[channel] =
          static_cast<float>(std::max(-1.0, static_cast<std::int32_t>(texel[channel]) / signed_range));
      break;
    default: values[channel] = static_cast<float>(texel[channel] / unsigned_range);
    }
  return values;
}

cudaError_t check_format(const cudaChannelFormatDesc& format) {
  if (format.f != cudaChannelFormatKindSigned && format.f != cudaChannelFormatKindUnsigned &&
      format.f != cudaChannelFormatKindFloat)
    return cudaErrorInvalidChannelDescriptor;
  const bool known =
      format.x == 32 || format.x == 16 || (format.x == 8 && format.f != cudaChannelFormatKindFloat);
  const auto is_same_or_none = [&](int bits) { return bits == format.x || bits == 0; };
  const bool in_order = (format.y > 0 || format.z == 0) && (format.z > 0) == (format.w > 0);
  return known && in_order && is_same_or_none(format.y) && is_same_or_none(format.z) &&
                 is_same_or_none(format.w)
             ? cudaSuccess
             : cudaErrorInvalidChannelDescriptor;
}

texels::View view_of(const Image& image) {
  texels::View view{};
  view.address = reinterpret_cast<std::uint64_t>(image.data);
  view.row_bytes = image.row_bytes;
  view.width = static_cast<std::uint32_t>(image.width);
  view.height = static_cast<std::uint32_t>(image.height);
  view.depth = static_cast<std::uint32_t>(image.depth);
  view.layers = static_cast<std::uint32_t>(image.layers);
  view.texel_bytes = static_cast<std::uint32_t>(image.element_bytes());
  view.is_cubemap = image.is_cubemap;
  view.is_block_linear = image.is_block_linear;
  return view;
}

} // namespace warplens::cpu
