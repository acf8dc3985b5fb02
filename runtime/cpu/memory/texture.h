// Texture and surface objects: the host's bindings, and device code's accesses (CUDA C++ Programming Guide,
// "Texture Fetching").
#pragma once

#include "runtime/cpu/memory/image.h"
#include "runtime/device/warplens/texels.h"

namespace warplens::cpu {

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  bool is_surface = false;
  Image image;
  texels::View view{}; ///< the image as GPUs lay it out, for the trace
};

/// Returns the new handle; 0 if there are too many.
std::uint64_t add_object(const TextureObject& object);
/// Returns null if there is no such object.
const TextureObject* find_object(std::uint64_t handle, bool is_surface);
bool remove_object(std::uint64_t handle, bool is_surface);

} // namespace warplens::cpu
