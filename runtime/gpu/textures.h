// The textures and surfaces of the program, which traced kernels look up.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>
#include <warplens/texture_table.h>

namespace warplens::gpu {

/// Records a texture, or, without `texture`, a surface. An object that has no view (mipmapped arrays,
/// block-compressed formats, views of another format) is reported once.
void note_texture(std::uint64_t handle, const cudaResourceDesc& resource, const cudaTextureDesc* texture);
void forget_texture(std::uint64_t handle, bool is_surface);

/// Fills the table with the objects of the current device, up to its capacity.
void fill_table(TextureTable& table);

} // namespace warplens::gpu
