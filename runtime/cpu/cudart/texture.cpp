// Texture and surface objects: CUDA Runtime API, "Texture Object Management" and "Surface Object Management".
#include "runtime/cpu/memory/texture.h"

#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"

#include <cstdio>

using namespace warplens::cpu;
namespace texels = warplens::texels;

namespace {

/// Returns the size limit of a GPU's textures.
std::size_t limit(cudaDeviceAttr name) {
  return static_cast<std::size_t>(*attribute(name));
}

cudaError_t bind(const cudaResourceDesc& resource, Image& image) {
  switch (resource.resType) {
  case cudaResourceTypeArray: {
    const Image* array = image_of(resource.res.array.array);
    if (!array)
      return cudaErrorInvalidResourceHandle;
    image = *array;
    return cudaSuccess;
  }
  case cudaResourceTypeLinear: {
    const auto& linear = resource.res.linear;
    image.data = static_cast<char*>(linear.devPtr);
    image.format = linear.desc;
    if (const cudaError_t error = check_format(image.format); error != cudaSuccess)
      return error;
    image.width = linear.sizeInBytes / image.element_bytes();
    image.row_bytes = linear.sizeInBytes;
    return image.data && image.width && image.width <= limit(cudaDevAttrMaxTexture1DLinearWidth)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  }
  case cudaResourceTypePitch2D: {
    const auto& plane = resource.res.pitch2D;
    image.data = static_cast<char*>(plane.devPtr);
    image.format = plane.desc;
    if (const cudaError_t error = check_format(image.format); error != cudaSuccess)
      return error;
    image.width = plane.width;
    image.height = plane.height;
    image.row_bytes = plane.pitchInBytes;
    image.dimensions = 2;
    const bool fits = image.width <= limit(cudaDevAttrMaxTexture2DLinearWidth) &&
                      image.height <= limit(cudaDevAttrMaxTexture2DLinearHeight) &&
                      image.row_bytes <= limit(cudaDevAttrMaxTexture2DLinearPitch) &&
                      image.width * image.element_bytes() <= image.row_bytes;
    return image.data && image.width && image.height && fits ? cudaSuccess : cudaErrorInvalidValue;
  }
  case cudaResourceTypeMipmappedArray: {
    const Image* array = image_of(level_of_mipmap(resource.res.mipmap.mipmap, 0));
    if (!array)
      return cudaErrorInvalidResourceHandle;
    image = *array;
    return cudaSuccess;
  }
  default: return cudaErrorInvalidValue;
  }
}

/// Returns whether linear filtering is possible: it returns floats, so elements must be, or be read as,
/// floats.
bool can_filter(const TextureObject& object) {
  return object.texture.filterMode != cudaFilterModeLinear ||
         object.image.format.f == cudaChannelFormatKindFloat ||
         object.texture.readMode == cudaReadModeNormalizedFloat;
}

/// Returns whether elements can be read as normalised floats: 32-bit integers cannot.
bool can_normalise(const TextureObject& object) {
  return object.texture.readMode != cudaReadModeNormalizedFloat ||
         object.image.format.f == cudaChannelFormatKindFloat || object.image.format.x < 32;
}

texels::View view_of_texture(const TextureObject& object) {
  texels::View view = view_of(object.image);
  for (int dimension = 0; dimension < 3; ++dimension)
    view.modes[dimension] = object.texture.addressMode[dimension];
  view.filters = object.texture.filterMode == cudaFilterModeLinear;
  view.is_normalised = object.texture.normalizedCoords;
  return view;
}

/// Adds the levels of a mipmap, each as a texture of its own.
void add_levels(TextureObject& object) {
  if (object.resource.resType != cudaResourceTypeMipmappedArray)
    return;
  for (unsigned level = 0;
       const Image* const image = image_of(level_of_mipmap(object.resource.res.mipmap.mipmap, level));
       ++level) {
    TextureObject one{.resource = object.resource, .texture = object.texture, .image = *image};
    one.view = view_of_texture(one);
    object.levels.push_back(one);
  }
}

template <class Description>
cudaError_t describe(Description* description, std::uint64_t handle, bool is_surface,
                     Description TextureObject::* member) {
  return cuda_entry([&] {
    const TextureObject* object = find_object(handle, is_surface);
    if (!description || !object)
      return cudaErrorInvalidValue;
    *description = object->*member;
    return cudaSuccess;
  });
}

} // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  return cuda_entry([&] {
    if (!texture || !resource || !description)
      return cudaErrorInvalidValue;
    if (view) {
      std::fputs("warplens: resource views of textures are not supported by the CPU back end\n", stderr);
      return cudaErrorNotSupported;
    }
    TextureObject object{.resource = *resource, .texture = *description};
    if (const cudaError_t error = bind(*resource, object.image); error != cudaSuccess)
      return error;
    if (!can_filter(object) || !can_normalise(object))
      return cudaErrorInvalidValue;
    object.view = view_of_texture(object);
    add_levels(object);
    *texture = add_object(object);
    return *texture ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return cuda_entry(
      [&] { return texture == 0 || remove_object(texture, false) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  return describe(resource, texture, false, &TextureObject::resource);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
  return describe(description, texture, false, &TextureObject::texture);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return cuda_entry([&] {
    if (!surface || !resource || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    TextureObject object{.resource = *resource, .is_surface = true};
    if (const cudaError_t error = bind(*resource, object.image); error != cudaSuccess)
      return error;
    object.view = view_of(object.image);
    *surface = add_object(object);
    return *surface ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return cuda_entry(
      [&] { return surface == 0 || remove_object(surface, true) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  return describe(resource, surface, true, &TextureObject::resource);
}

} // extern "C"
