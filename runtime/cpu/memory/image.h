// The image that a texture or surface reads: elements of up to four channels in device memory, in one to
// three dimensions or in layers.
#pragma once

#include "runtime/device/warplens/texels.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace warplens::cpu {

struct Image {
  char* data = nullptr;
  cudaChannelFormatDesc format{};
  std::size_t width = 0, height = 1, depth = 1; ///< elements; depth: 1 unless the image has three dimensions
  std::size_t layers = 1;                       ///< includes a cubemap's faces
  std::size_t row_bytes = 0;                    ///< the distance of two rows
  unsigned dimensions = 1;
  bool is_cubemap = false;
  bool is_block_linear = false; ///< a GPU's layout; this memory has plain rows

  std::size_t element_bytes() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  char* element(std::size_t x, std::size_t y, std::size_t z, std::size_t layer) const {
    return data + ((layer * depth + z) * height + y) * row_bytes + x * element_bytes();
  }
};

/// An element's channels: integers, sign- or zero-extended, or the bits of floats. Missing channels are 0.
using Texel = std::array<std::uint32_t, 4>;
Texel read_element(const Image& image, const char* element);

/// Reads the channels as floats: integers in [0, 1] or [-1, 1] (cudaReadModeNormalizedFloat).
std::array<float, 4> read_normalised(const Image& image, const char* element);

/// Returns cudaErrorInvalidChannelDescriptor if there is no such element.
cudaError_t check_format(const cudaChannelFormatDesc& format);

/// Returns the GPU's layout of the image's texels, without a texture's modes.
texels::View view_of(const Image& image);

/// Returns the target of a cudaArray_t; null for null.
const Image* image_of(cudaArray_const_t array);

/// Returns a level of a mipmap; null if there is no such mipmap or level.
cudaArray_t level_of_mipmap(cudaMipmappedArray_const_t mipmap, unsigned level);

} // namespace warplens::cpu
