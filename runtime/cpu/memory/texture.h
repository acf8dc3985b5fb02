// Texture and surface objects: the host's bindings, and device code's accesses (CUDA C++ Programming Guide,
// "Texture Fetching").
#pragma once

#include "runtime/cpu/memory/image.h"
#include "runtime/device/warplens/texels.h"

#include <array>
#include <vector>

namespace warplens::cpu {

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  bool is_surface = false;
  Image image;
  texels::View view{};                 ///< the image as GPUs lay it out, for the trace
  std::vector<TextureObject> levels{}; ///< of a mipmap, whose first one is also the image above
};

/// A fetch states the level of a mipmap by this: a number, or how far the coordinates of neighbours are
/// apart.
struct Detail {
  float level = 0;
  bool has_gradients = false;
  std::array<float, 3> along_x{}, along_y{};
};

/// Returns the new handle; 0 if there are too many.
std::uint64_t add_object(const TextureObject& object);
/// Returns null if there is no such object.
const TextureObject* find_object(std::uint64_t handle, bool is_surface);
bool remove_object(std::uint64_t handle, bool is_surface);

/// Returns what tex() gives: the texel at a position, or the filter's mean; of a mipmap from the level or
/// levels that the detail says.
Texel sample(const TextureObject& texture, texels::Shape shape, const texels::Coordinates& at,
             const Detail& detail = {});
/// Returns one channel of four texels, in the order of tld4().
Texel gather(const TextureObject& texture, std::uint32_t component, float x, float y);
/// Returns an element of linear memory; outside, what the texture has there.
Texel element(const TextureObject& texture, std::int64_t x);
/// Returns where this memory has `bytes` bytes at byte x of a row; 0 if that is outside.
std::uint64_t place_in_surface(const TextureObject& surface, std::int64_t x, std::int64_t y, std::int64_t z,
                               std::int64_t layer, bool clamps, std::uint32_t bytes);

} // namespace warplens::cpu
