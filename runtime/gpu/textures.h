// The textures and surfaces that the program has made, for traced kernels to look up.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>
#include <warplens/texture_table.h>

namespace warplens::gpu {

/// Of `texture`, or without one of a surface; what there is no view for (mipmapped arrays, block-compressed
/// formats, views of another format) is told once.
void note_texture(std::uint64_t handle, const cudaResourceDesc& resource, const cudaTextureDesc* texture);
void forget_texture(std::uint64_t handle, bool is_surface);

/// Those of the current device, as many as the table has room for.
void fill_table(TextureTable& table);

} // namespace warplens::gpu
