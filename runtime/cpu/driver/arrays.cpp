// Arrays, copies of boxes, textures and surfaces: CUDA Driver API, "Memory Management", "Texture Object
// Management" and "Surface Object Management". The handles are the runtime's.
#include "runtime/cpu/driver/result.h"

#include <algorithm>
#include <optional>

using namespace warplens::cpu;

namespace {

cudaArray_t array_of(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}
cudaMipmappedArray_t mipmap_of(CUmipmappedArray mipmap) {
  return reinterpret_cast<cudaMipmappedArray_t>(mipmap);
}

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

/// Returns nothing of a format that the runtime's arrays do not have, such as compressed ones.
std::optional<cudaChannelFormatDesc> channels_of(CUarray_format format, unsigned count) {
  const auto found = std::ranges::find(formats, format, &Format::format);
  if (found == std::end(formats) || (count != 1 && count != 2 && count != 4))
    return std::nullopt;
  const auto bits = [&](unsigned channel) { return channel < count ? found->bits : 0; };
  return cudaChannelFormatDesc{bits(0), bits(1), bits(2), bits(3), found->kind};
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  if (!description)
    return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array_of(array));
      error != cudaSuccess)
    return result_of(error);
  const auto found = std::ranges::find_if(
      formats, [&](const Format& known) { return known.bits == format.x && known.kind == format.f; });
  *description = {extent.width,
                  extent.height,
                  extent.depth,
                  found->format,
                  1u + (format.y != 0) + (format.z != 0) + (format.w != 0),
                  flags};
  return CUDA_SUCCESS;
}

template <class Create> CUresult create(const CUDA_ARRAY3D_DESCRIPTOR* description, Create make) {
  if (!description)
    return CUDA_ERROR_INVALID_VALUE;
  const auto format = channels_of(description->Format, description->NumChannels);
  if (!format) {
    say_refused("cuArrayCreate", "its arrays have one, two or four channels of 8, 16 or 32 bits");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return result_of(make(*format, cudaExtent{description->Width, description->Height, description->Depth}));
}

/// One side of a box, as the driver API describes it.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;

  /// Returns the bytes of an element of an array; 1 of memory.
  std::size_t element_bytes() const {
    cudaChannelFormatDesc format;
    if (type != CU_MEMORYTYPE_ARRAY || cudaGetChannelDesc(&format, array_of(array)) != cudaSuccess)
      return 1;
    return std::size_t(format.x + format.y + format.z + format.w) / 8;
  }
  void describe(cudaArray_t& to, cudaPos& position, cudaPitchedPtr& memory, std::size_t width,
                std::size_t rows) const {
    position = {x / element_bytes(), y, z};
    if (type == CU_MEMORYTYPE_ARRAY)
      to = array_of(array);
    else
      memory = {type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer(device),
                pitch != 0 ? pitch : width, width, height != 0 ? height : rows};
  }
};

CUresult copy(const Side& from, const Side& to, std::size_t width, std::size_t height, std::size_t depth,
              std::optional<CUstream> stream) {
  cudaMemcpy3DParms box = {};
  box.kind = cudaMemcpyDefault;
  from.describe(box.srcArray, box.srcPos, box.srcPtr, width, height);
  to.describe(box.dstArray, box.dstPos, box.dstPtr, width, height);
  box.extent = {width / std::max(from.element_bytes(), to.element_bytes()), height, depth};
  return result_of(stream ? cudaMemcpy3DAsync(&box, *stream) : cudaMemcpy3D(&box));
}
CUresult copy(const CUDA_MEMCPY3D* box, std::optional<CUstream> stream) {
  if (!box)
    return CUDA_ERROR_INVALID_VALUE;
  return copy({box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray, box->srcXInBytes, box->srcY,
               box->srcZ, box->srcPitch, box->srcHeight},
              {box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray, box->dstXInBytes, box->dstY,
               box->dstZ, box->dstPitch, box->dstHeight},
              box->WidthInBytes, box->Height, box->Depth, stream);
}
CUresult copy(const CUDA_MEMCPY2D* box, std::optional<CUstream> stream) {
  if (!box)
    return CUDA_ERROR_INVALID_VALUE;
  return copy({box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray, box->srcXInBytes, box->srcY,
               0, box->srcPitch, 0},
              {box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray, box->dstXInBytes, box->dstY,
               0, box->dstPitch, 0},
              box->WidthInBytes, box->Height, 1, stream);
}

Side memory_side(const void* host) {
  return {.type = CU_MEMORYTYPE_HOST, .host = host};
}
Side memory_side(CUdeviceptr device) {
  return {.type = CU_MEMORYTYPE_DEVICE, .device = device};
}
Side array_side(CUarray array, std::size_t offset) {
  return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset};
}

/// Describes a resource as the runtime does; nothing of a format that arrays do not have.
std::optional<cudaResourceDesc> resource_of(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc resource = {};
  switch (given.resType) {
  case CU_RESOURCE_TYPE_ARRAY:
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_of(given.res.array.hArray);
    return resource;
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap_of(given.res.mipmap.hMipmappedArray);
    return resource;
  case CU_RESOURCE_TYPE_LINEAR: {
    const auto& linear = given.res.linear;
    const auto format = channels_of(linear.format, linear.numChannels);
    if (!format)
      return std::nullopt;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {pointer(linear.devPtr), *format, linear.sizeInBytes};
    return resource;
  }
  case CU_RESOURCE_TYPE_PITCH2D: {
    const auto& plane = given.res.pitch2D;
    const auto format = channels_of(plane.format, plane.numChannels);
    if (!format)
      return std::nullopt;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {pointer(plane.devPtr), *format, plane.width, plane.height, plane.pitchInBytes};
    return resource;
  }
  default: return std::nullopt;
  }
}

/// Returns the bits of the resource's first channel.
int bits_of(const cudaResourceDesc& resource) {
  cudaChannelFormatDesc format = {};
  switch (resource.resType) {
  case cudaResourceTypeLinear: return resource.res.linear.desc.x;
  case cudaResourceTypePitch2D: return resource.res.pitch2D.desc.x;
  case cudaResourceTypeMipmappedArray: {
    cudaArray_t level = nullptr;
    if (cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0) == cudaSuccess)
      cudaGetChannelDesc(&format, level);
    return format.x;
  }
  default: cudaGetChannelDesc(&format, resource.res.array.array); return format.x;
  }
}

} // namespace

extern "C" {

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return create(description, [&](const cudaChannelFormatDesc& format, cudaExtent extent) {
    return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &format, extent, description->Flags);
  });
}
CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (!description)
    return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR flat{description->Width,  description->Height,      0,
                                     description->Format, description->NumChannels, 0};
  return cuArray3DCreate(array, &flat);
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return describe(description, array);
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR whole;
  if (!description)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = describe(&whole, array);
  if (result == CUDA_SUCCESS)
    *description = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
  return result;
}
CUresult cuArrayDestroy(CUarray array) {
  return array ? result_of(cudaFreeArray(array_of(array))) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuMipmappedArrayCreate(CUmipmappedArray* mipmap, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels) {
  return create(description, [&](const cudaChannelFormatDesc& format, cudaExtent extent) {
    return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(mipmap), &format, extent, levels,
                                    description->Flags);
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray mipmap, unsigned level) {
  return result_of(
      cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(array), mipmap_of(mipmap), level));
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  return mipmap ? result_of(cudaFreeMipmappedArray(mipmap_of(mipmap))) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* box) {
  return copy(box, std::nullopt);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* box) {
  return copy(box, std::nullopt);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* box, CUstream stream) {
  return copy(box, stream);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* box) {
  return copy(box, std::nullopt);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* box, CUstream stream) {
  return copy(box, stream);
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return copy(memory_side(from), array_side(to, offset), bytes, 1, 1, std::nullopt);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy(array_side(from, offset), memory_side(to), bytes, 1, 1, std::nullopt);
}
CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return copy(memory_side(from), array_side(to, offset), bytes, 1, 1, std::nullopt);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy(array_side(from, offset), memory_side(to), bytes, 1, 1, std::nullopt);
}

/// Integers of 8 and 16 bits are read as floats unless a flag says otherwise.
CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* given,
                           const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (!texture || !given || !how)
    return CUDA_ERROR_INVALID_VALUE;
  const auto resource = resource_of(*given);
  if (!resource || view) {
    say_refused("cuTexObjectCreate", "its textures have no views, and channels of 8, 16 or 32 bits");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  cudaTextureDesc description = {};
  for (int i = 0; i < 3; ++i)
    description.addressMode[i] = static_cast<cudaTextureAddressMode>(how->addressMode[i]);
  description.filterMode = static_cast<cudaTextureFilterMode>(how->filterMode);
  description.readMode = (how->flags & CU_TRSF_READ_AS_INTEGER) != 0 || bits_of(*resource) == 32
                             ? cudaReadModeElementType
                             : cudaReadModeNormalizedFloat;
  description.sRGB = (how->flags & CU_TRSF_SRGB) != 0;
  std::copy_n(how->borderColor, 4, description.borderColor);
  description.normalizedCoords = (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  description.maxAnisotropy = how->maxAnisotropy;
  description.mipmapFilterMode = static_cast<cudaTextureFilterMode>(how->mipmapFilterMode);
  description.mipmapLevelBias = how->mipmapLevelBias;
  description.minMipmapLevelClamp = how->minMipmapLevelClamp;
  description.maxMipmapLevelClamp = how->maxMipmapLevelClamp;
  cudaTextureObject_t made = 0;
  const CUresult result = result_of(cudaCreateTextureObject(&made, &*resource, &description, nullptr));
  *texture = made;
  return result;
}
CUresult cuTexObjectDestroy(CUtexObject texture) {
  return result_of(cudaDestroyTextureObject(texture));
}
CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* given) {
  if (!surface || !given)
    return CUDA_ERROR_INVALID_VALUE;
  const auto resource = resource_of(*given);
  if (!resource)
    return CUDA_ERROR_INVALID_VALUE;
  cudaSurfaceObject_t made = 0;
  const CUresult result = result_of(cudaCreateSurfaceObject(&made, &*resource));
  *surface = made;
  return result;
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return result_of(cudaDestroySurfaceObject(surface));
}

} // extern "C"
