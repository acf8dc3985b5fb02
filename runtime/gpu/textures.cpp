#include "runtime/gpu/textures.h"

#include "runtime/gpu/scoped_error_suppressor.h"
#include "runtime/host/recorder.h"
#include "runtime/host/trace_file.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace warplens::gpu {
namespace {

/// CUDA does not reveal the address of an array. Each gets a range of addresses that no device memory has, in
/// the layout that texels.h assumes.
constexpr std::uint64_t first_array_address = std::uint64_t{1} << 60;
constexpr std::uint64_t array_alignment = 1 << 16;

struct Known {
  std::mutex mutex;
  std::map<std::pair<int, std::uint64_t>, texels::View> views; ///< keyed by device and texture key
  std::map<cudaArray_t, texels::View> arrays;
  std::uint64_t next_array = first_array_address;
};

Known& known() {
  static Known* const instance = new Known; // outlives every thread that may still use it
  return *instance;
}

bool has_view(const cudaChannelFormatDesc& format) {
  return format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned ||
         format.f == cudaChannelFormatKindFloat;
}

std::uint32_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<std::uint32_t>(format.x + format.y + format.z + format.w) / 8;
}

bool same_shape(const texels::View& a, const texels::View& b) {
  return a.width == b.width && a.height == b.height && a.depth == b.depth && a.layers == b.layers &&
         a.texel_bytes == b.texel_bytes;
}

/// Another array may have the address of one that was freed.
std::optional<texels::View> view_of_array(Known& state, cudaArray_t array) {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  if (cudaArrayGetInfo(&format, &extent, &flags, array) != cudaSuccess || !has_view(format))
    return std::nullopt;
  const bool is_layered = flags & (cudaArrayLayered | cudaArrayCubemap);
  texels::View view{};
  view.width = static_cast<std::uint32_t>(extent.width);
  view.height = static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1));
  view.depth = view.layers = 1;
  (is_layered ? view.layers : view.depth) =
      static_cast<std::uint32_t>(std::max<std::size_t>(extent.depth, 1));
  view.texel_bytes = bytes_of(format);
  view.row_bytes = std::uint64_t{view.width} * view.texel_bytes;
  view.is_cubemap = flags & cudaArrayCubemap;
  view.is_block_linear = extent.height != 0;
  texels::View& there = state.arrays[array];
  if (!same_shape(there, view)) {
    view.address = state.next_array;
    const std::uint64_t bytes = texels::bytes_of(view);
    state.next_array += round_up(bytes, array_alignment);
    runtime::Recorder::instance().note_allocation(view.address, bytes, "CUDA array");
    there = view;
  }
  return there;
}

std::optional<texels::View> view_of(Known& state, const cudaResourceDesc& resource) {
  texels::View view{};
  view.height = view.depth = view.layers = 1;
  switch (resource.resType) {
  case cudaResourceTypeArray: return view_of_array(state, resource.res.array.array);
  case cudaResourceTypeLinear: {
    const auto& linear = resource.res.linear;
    if (!has_view(linear.desc) || bytes_of(linear.desc) == 0)
      return std::nullopt;
    view.address = reinterpret_cast<std::uint64_t>(linear.devPtr);
    view.texel_bytes = bytes_of(linear.desc);
    view.width = static_cast<std::uint32_t>(linear.sizeInBytes / view.texel_bytes);
    view.row_bytes = linear.sizeInBytes;
    return view;
  }
  case cudaResourceTypePitch2D: {
    const auto& plane = resource.res.pitch2D;
    if (!has_view(plane.desc))
      return std::nullopt;
    view.address = reinterpret_cast<std::uint64_t>(plane.devPtr);
    view.texel_bytes = bytes_of(plane.desc);
    view.width = static_cast<std::uint32_t>(plane.width);
    view.height = static_cast<std::uint32_t>(plane.height);
    view.row_bytes = plane.pitchInBytes;
    return view;
  }
  default: return std::nullopt;
  }
}

} // namespace

void note_texture(std::uint64_t handle, const cudaResourceDesc& resource, const cudaTextureDesc* texture) {
  const ScopedErrorSuppressor suppressor;
  Known& state = known();
  const std::scoped_lock lock(state.mutex);
  int device = 0;
  auto view = cudaGetDevice(&device) == cudaSuccess ? view_of(state, resource) : std::nullopt;
  if (!view) {
    static std::once_flag warned;
    std::call_once(warned, [] {
      runtime::warn("a texture or surface of a mipmapped array or in a format of its own: what is fetched "
                    "from it is not "
                    "traced");
    });
    return;
  }
  if (texture) {
    std::copy_n(texture->addressMode, 3, view->modes);
    view->filters = texture->filterMode == cudaFilterModeLinear;
    view->is_normalised = texture->normalizedCoords;
  }
  state.views[{device, texture_key(handle, !texture)}] = *view;
}

void forget_texture(std::uint64_t handle, bool is_surface) {
  Known& state = known();
  const std::scoped_lock lock(state.mutex);
  std::erase_if(state.views,
                [&](const auto& one) { return one.first.second == texture_key(handle, is_surface); });
}

void fill_table(TextureTable& table) {
  table = {};
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess)
    return;
  Known& state = known();
  const std::scoped_lock lock(state.mutex);
  std::uint32_t taken = 0;
  for (const auto& [key, view] : state.views)
    if (key.first == device && taken++ < TextureTable::most)
      table.entries[texture_place(table, key.second)] = {key.second, view};
}

} // namespace warplens::gpu
