// CUDA arrays: CUDA Runtime API, "Memory Management". An array is plain rows in device memory; programs see
// it only through copies, textures and surfaces. texels.h has the layout of its texels on a GPU.
#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/memory/copy.h"
#include "runtime/cpu/memory/image.h"
#include "runtime/cpu/memory/memory.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

/// The array that the API's opaque pointers point to.
struct cudaArray {
  warplens::cpu::Image image;
  cudaExtent extent; ///< the requested extent
  unsigned flags;
};

/// A mipmap: its levels, each of half the extent.
struct cudaMipmappedArray {
  std::vector<cudaArray_t> levels;
  unsigned flags;
};

using namespace warplens::cpu;
namespace texels = warplens::texels;

namespace {

std::mutex mutex;
std::set<cudaArray_const_t>& arrays() {
  static auto& all = *new std::set<cudaArray_const_t>; // programs may free in static destructors
  return all;
}

std::set<cudaMipmappedArray_const_t>& mipmaps() {
  static auto& all = *new std::set<cudaMipmappedArray_const_t>;
  return all;
}

bool is_array(cudaArray_const_t array) {
  const std::lock_guard lock(mutex);
  return arrays().contains(array);
}

/// Returns whether the extent is within the largest array of a GPU (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability"). The size of such arrays in bytes fits in 64 bits.
bool fits_device(cudaExtent extent, unsigned flags) {
  const cudaDeviceProp& limits = properties();
  const auto within = [](std::size_t size, int limit) { return size <= static_cast<std::size_t>(limit); };
  const bool layered = flags & cudaArrayLayered;
  if (flags & cudaArrayCubemap)
    return within(extent.width, limits.maxTextureCubemap) &&
           within(extent.height, limits.maxTextureCubemap) &&
           within(extent.depth, layered ? limits.maxTextureCubemapLayered[1] : 6);
  if (layered)
    return extent.height ? within(extent.width, limits.maxTexture2DLayered[0]) &&
                               within(extent.height, limits.maxTexture2DLayered[1]) &&
                               within(extent.depth, limits.maxTexture2DLayered[2])
                         : within(extent.width, limits.maxTexture1DLayered[0]) &&
                               within(extent.depth, limits.maxTexture1DLayered[1]);
  if (extent.depth)
    return within(extent.width, limits.maxTexture3D[0]) && within(extent.height, limits.maxTexture3D[1]) &&
           within(extent.depth, limits.maxTexture3D[2]);
  return extent.height
             ? within(extent.width, limits.maxTexture2D[0]) && within(extent.height, limits.maxTexture2D[1])
             : within(extent.width, limits.maxTexture1D);
}

cudaError_t allocate(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                     unsigned flags) {
  if (!array || !format || extent.width == 0 || (flags & cudaArrayCubemap && extent.depth % 6 != 0))
    return cudaErrorInvalidValue;
  if (const cudaError_t error = check_format(*format); error != cudaSuccess)
    return error;
  if (!fits_device(extent, flags))
    return cudaErrorInvalidValue;
  Image image;
  const bool layered = flags & (cudaArrayLayered | cudaArrayCubemap);
  image.format = *format;
  image.width = extent.width;
  image.height = std::max<std::size_t>(extent.height, 1);
  (layered ? image.layers : image.depth) = std::max<std::size_t>(extent.depth, 1);
  image.dimensions = !layered && extent.depth ? 3 : extent.height ? 2 : 1;
  image.is_cubemap = flags & cudaArrayCubemap;
  image.row_bytes = image.width * image.element_bytes();
  image.is_block_linear = image.dimensions > 1;
  // Allocates the rows, and the addresses that a GPU's layout would give them.
  const std::size_t bytes = image.row_bytes * image.height * image.depth * image.layers;
  image.data = static_cast<char*>(
      DeviceMemory::instance().allocate(std::max<std::size_t>(bytes, texels::bytes_of(view_of(image)))));
  if (!image.data)
    return cudaErrorMemoryAllocation;
  auto made = std::make_unique<cudaArray>(image, extent, flags);
  const std::lock_guard lock(mutex);
  arrays().insert(made.get());
  *array = made.release();
  return cudaSuccess;
}

/// Returns the rows from `x` bytes into row `y` of slice (or layer) `z`; nothing if the box does not fit.
Rows rows(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t z, std::size_t width,
          std::size_t height) {
  if (!is_array(array))
    return {};
  const Image& image = array->image;
  if (x > image.row_bytes || width > image.row_bytes - x || y > image.height || height > image.height - y ||
      z >= image.depth * image.layers)
    return {};
  return {image.data + (z * image.height + y) * image.row_bytes + x, image.row_bytes};
}

/// Implements cudaMemcpyToArray and FromArray: the bytes continue in the next row.
cudaError_t copy_bytes(cudaArray_const_t array, std::size_t x, std::size_t y, const void* other,
                       std::size_t bytes, cudaMemcpyKind kind, bool to_array) {
  if (!is_array(array))
    return cudaErrorInvalidResourceHandle;
  const Image& image = array->image;
  const std::size_t size = image.row_bytes * image.height;
  std::size_t start = 0;
  if (__builtin_mul_overflow(y, image.row_bytes, &start) || __builtin_add_overflow(start, x, &start) ||
      start > size || bytes > size - start)
    return cudaErrorInvalidValue;
  const Rows place{image.data + start, bytes}, rest{other, bytes};
  return to_array ? copy(place, rest, bytes, 1, kind) : copy(rest, place, bytes, 1, kind);
}

/// One side of a 3D copy. Positions in arrays count elements.
struct Side {
  cudaArray_t array;
  cudaPos position;
  cudaPitchedPtr pointer;

  std::size_t element_bytes() const { return is_array(array) ? array->image.element_bytes() : 0; }
  Rows slice(std::size_t z, std::size_t width, std::size_t height) const {
    if (array) {
      std::size_t x = 0, slice = 0;
      if (__builtin_mul_overflow(position.x, element_bytes(), &x) ||
          __builtin_add_overflow(position.z, z, &slice))
        return {};
      return rows(array, x, position.y, slice, width, height);
    }
    std::size_t row = 0, offset = 0;
    if (!pointer.ptr || __builtin_add_overflow(position.z, z, &row) ||
        __builtin_mul_overflow(row, pointer.ysize, &row) || __builtin_add_overflow(row, position.y, &row) ||
        __builtin_mul_overflow(row, pointer.pitch, &offset) ||
        __builtin_add_overflow(offset, position.x, &offset))
      return {};
    return {static_cast<char*>(pointer.ptr) + offset, pointer.pitch};
  }
};

/// One side of a plane's copy: a position in an array, or rows in memory.
struct Plane {
  cudaArray_t array = nullptr;
  std::size_t x = 0, y = 0; ///< x in bytes, as in the API's 2D copies
  cudaPitchedPtr pointer{};
};

/// Implements cudaMemcpy2DToArray and the like as 3D copies, which count elements if an array takes part.
cudaError_t copy_plane(const Plane& to, const Plane& from, std::size_t width, std::size_t height,
                       cudaMemcpyKind kind, cudaStream_t stream) {
  return cuda_entry([&] {
    const cudaArray_t array = to.array ? to.array : from.array;
    if (!is_array(array) || (from.array && !is_array(from.array)))
      return cudaErrorInvalidValue;
    const std::size_t unit = array->image.element_bytes();
    if (width % unit || to.x % unit || from.x % unit)
      return cudaErrorInvalidValue;
    cudaMemcpy3DParms box{};
    box.dstArray = to.array;
    box.dstPos = {to.x / unit, to.y, 0};
    box.dstPtr = to.pointer;
    box.srcArray = from.array;
    box.srcPos = {from.x / unit, from.y, 0};
    box.srcPtr = from.pointer;
    box.extent = {width / unit, height, 1};
    box.kind = kind;
    return issue(stream, box);
  });
}

/// Implements cudaMemcpyToArray and FromArray, which no stream can capture.
cudaError_t copy_bytes_on(cudaStream_t stream, cudaArray_const_t array, std::size_t x, std::size_t y,
                          const void* other, std::size_t bytes, cudaMemcpyKind kind, bool to_array) {
  return cuda_entry([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    const cudaError_t error = check_not_captured(stream);
    return error == cudaSuccess ? copy_bytes(array, x, y, other, bytes, kind, to_array) : error;
  });
}

} // namespace

namespace warplens::cpu {

const Image* image_of(cudaArray_const_t array) {
  return is_array(array) ? &array->image : nullptr;
}

cudaArray_t level_of_mipmap(cudaMipmappedArray_const_t mipmap, unsigned level) {
  const std::lock_guard lock(mutex);
  return mipmaps().contains(mipmap) && level < mipmap->levels.size() ? mipmap->levels[level] : nullptr;
}

cudaError_t copy_box(const cudaMemcpy3DParms* box) {
  if (!box || (box->srcArray && box->srcPtr.ptr) || (box->dstArray && box->dstPtr.ptr))
    return cudaErrorInvalidValue;
  const Side to{box->dstArray, box->dstPos, box->dstPtr}, from{box->srcArray, box->srcPos, box->srcPtr};
  // The width counts elements if an array takes part, else bytes.
  const std::size_t unit = to.array ? to.element_bytes() : from.array ? from.element_bytes() : 1;
  std::size_t width = 0;
  if (__builtin_mul_overflow(box->extent.width, unit, &width))
    return cudaErrorInvalidValue;
  if (width == 0 || box->extent.height == 0) // zero for any depth
    return copy({}, {}, 0, 0, box->kind);
  for (std::size_t z = 0; z < box->extent.depth; ++z) {
    const cudaError_t error =
        copy(to.slice(z, width, box->extent.height), from.slice(z, width, box->extent.height), width,
             box->extent.height, box->kind);
    if (error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

} // namespace warplens::cpu

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return cuda_entry([&] {
    if (!format || !is_array(array))
      return format ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *format = array->image.format;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return cuda_entry([&] { return allocate(array, format, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  return cuda_entry([&] { return allocate(array, format, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return cuda_entry([&] {
    if (!array)
      return cudaSuccess;
    {
      const std::lock_guard lock(mutex);
      if (arrays().erase(array) == 0)
        return cudaErrorInvalidResourceHandle;
    }
    DeviceMemory::instance().free(array->image.data);
    delete array;
    return cudaSuccess;
  });
}

/// Depth is halved only of three dimensions: layers and faces stay. There are as many levels as were asked
/// for, down to one texel.
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmap, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  return cuda_entry([&] {
    if (!mipmap || levels == 0)
      return cudaErrorInvalidValue;
    auto made = std::make_unique<cudaMipmappedArray>();
    made->flags = flags;
    const bool has_layers = flags & (cudaArrayLayered | cudaArrayCubemap);
    const auto half = [](std::size_t size) { return size == 0 ? 0 : std::max<std::size_t>(size / 2, 1); };
    cudaError_t error = cudaSuccess;
    for (unsigned level = 0; level < levels && error == cudaSuccess; ++level) {
      error = allocate(&made->levels.emplace_back(), format, extent, flags);
      const bool is_last = extent.width <= 1 && extent.height <= 1 && (has_layers || extent.depth <= 1);
      extent = {half(extent.width), half(extent.height), has_layers ? extent.depth : half(extent.depth)};
      if (is_last)
        break;
    }
    if (error != cudaSuccess) {
      made->levels.pop_back();
      for (const cudaArray_t array : made->levels)
        cudaFreeArray(array);
      return error;
    }
    const std::lock_guard lock(mutex);
    mipmaps().insert(made.get());
    *mipmap = made.release();
    return cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap,
                                       unsigned level) {
  return cuda_entry([&] {
    const cudaArray_t found = level_of_mipmap(mipmap, level);
    if (!array || !found)
      return cudaErrorInvalidValue;
    *array = found;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return cuda_entry([&] {
    if (!mipmap)
      return cudaSuccess;
    {
      const std::lock_guard lock(mutex);
      if (mipmaps().erase(mipmap) == 0)
        return cudaErrorInvalidResourceHandle;
    }
    for (const cudaArray_t array : mipmap->levels)
      cudaFreeArray(array);
    delete mipmap;
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return cuda_entry([&] {
    if (!is_array(array))
      return cudaErrorInvalidResourceHandle;
    if (format)
      *format = array->image.format;
    if (extent)
      *extent = array->extent;
    if (flags)
      *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_plane({to, x, y, {}}, {nullptr, 0, 0, {const_cast<void*>(from), pitch, width, height}}, width,
                    height, kind, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_plane({nullptr, 0, 0, {to, pitch, width, height}}, {const_cast<cudaArray_t>(from), x, y, {}},
                    width, height, kind, stream);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_plane({to, to_x, to_y, {}}, {const_cast<cudaArray_t>(from), from_x, from_y, {}}, width, height,
                    kind, nullptr);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes_on(stream, to, x, y, from, bytes, kind, true);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  return copy_bytes_on(nullptr, to, x, y, from, bytes, kind, true);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes_on(stream, from, x, y, to, bytes, kind, false);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  return copy_bytes_on(nullptr, from, x, y, to, bytes, kind, false);
}

} // extern "C"

PER_THREAD_NAME(cudaMemcpy2DToArray, ptds)
PER_THREAD_NAME(cudaMemcpy2DToArrayAsync, ptsz)
PER_THREAD_NAME(cudaMemcpy2DFromArray, ptds)
PER_THREAD_NAME(cudaMemcpy2DFromArrayAsync, ptsz)
PER_THREAD_NAME(cudaMemcpy2DArrayToArray, ptds)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // programs still call these
PER_THREAD_NAME(cudaMemcpyToArray, ptds)
PER_THREAD_NAME(cudaMemcpyToArrayAsync, ptsz)
PER_THREAD_NAME(cudaMemcpyFromArray, ptds)
PER_THREAD_NAME(cudaMemcpyFromArrayAsync, ptsz)
