// Texture and surface objects: what the host has bound, and what device code does with it (CUDA C++
// Programming Guide, "Texture Fetching").
#pragma once

#include "runtime/cpu/image.h"
#include "runtime/device/warplens/texels.h"

namespace warplens::cpu {

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  bool is_surface = false;
  Image image;
  texels::View view{}; ///< the same for the trace, as GPUs lay it out
};

/// A handle that is never 0; 0: there are too many.
std::uint64_t add_object(const TextureObject& object);
/// Null: no such object.
const TextureObject* find_object(std::uint64_t handle, bool is_surface);
bool remove_object(std::uint64_t handle, bool is_surface);

} // namespace warplens::cpu
