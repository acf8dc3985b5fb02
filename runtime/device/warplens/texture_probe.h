// Probes of texture fetches and surface accesses: overloads of CUDA's functions for an object that contains
// its site.
//
//   tex2D<float>(object, x, y)    →  tex2D<float>(::warplens::Texture(SITE, object), x, y)
//   surf2Dwrite(v, object, x, y)  →  surf2Dwrite(v, ::warplens::Surface(SITE, object), x, y)
//
// Each records the texels that it touches, one warp access for each corner of the filter, and then calls
// CUDA's own.
#pragma once

#include "texture_table.h"

#if defined(__WARPLENS_CPU__)
// CPU back end: the runtime's look-ups of the object (runtime/abi/intrinsics.h).
extern "C" __attribute__((device)) unsigned long long __warplens_texel_address(unsigned long long texture,
                                                                               unsigned shape, int index,
                                                                               float x, float y, float z,
                                                                               unsigned corner);
extern "C" __attribute__((device)) unsigned __warplens_texel_bytes(unsigned long long texture);
extern "C" __attribute__((device)) unsigned long long __warplens_surface_address(unsigned long long surface,
                                                                                 int x, int y, int z,
                                                                                 int layer, unsigned mode,
                                                                                 unsigned bytes);
#endif

namespace warplens {

/// An object with the site of the fetch or the access that uses it.
struct Handle {
  unsigned long long site, object;
  bool is_traced = true;
  __device__ __forceinline__ Handle(unsigned long long of_site, unsigned long long handle)
      : site(of_site), object(handle) {}
  __device__ __forceinline__ Handle(bool records, unsigned long long of_site, unsigned long long handle)
      : site(of_site), object(handle), is_traced(records) {}
  /// Records once for each time that a loop is entered.
  __device__ __forceinline__ Handle(First& first, unsigned long long of_site, unsigned long long handle)
      : Handle(first.once(), of_site, handle) {}
};
struct Texture : Handle {
  using Handle::Handle;
};
struct Surface : Handle {
  using Handle::Handle;
};

namespace detail {

#if defined(__CUDA_ARCH__) && defined(__WARPLENS_CPU__)
/// The lowering needs a site's widths as constants.
__device__ __forceinline__ void access_of_width(unsigned long long site, unsigned long long address,
                                                unsigned bytes, unsigned kind) {
  const volatile char* const pointer = reinterpret_cast<const volatile char*>(address);
  switch (bytes) {
  case 1: access(site, pointer, 1, kind); break;
  case 2: access(site, pointer, 2, kind); break;
  case 4: access(site, pointer, 4, kind); break;
  case 8: access(site, pointer, 8, kind); break;
  case 16: access(site, pointer, 16, kind); break;
  default: break;
  }
}

__device__ __forceinline__ void touch(const Texture& texture, texels::Shape shape,
                                      const texels::Coordinates& at, unsigned corner) {
  const unsigned long long address = __warplens_texel_address(texture.object, static_cast<unsigned>(shape),
                                                              at.index, at.x, at.y, at.z, corner);
  if (address != 0)
    access_of_width(texture.site, address, __warplens_texel_bytes(texture.object), kind_load);
}

__device__ __forceinline__ void fetch(const Texture& texture, texels::Shape shape, texels::Coordinates at) {
  if (!texture.is_traced)
    return;
  if (texels::max_texels(shape) == 1)
    return touch(texture, shape, at, 0);
  for (unsigned corner = 0; corner < texels::max_texels(shape); ++corner)
    touch(texture, shape, at, corner);
}

__device__ __forceinline__ void access_surface(const Surface& surface, unsigned bytes, unsigned kind, int x,
                                               int y, int z, int layer, unsigned mode) {
  if (!surface.is_traced)
    return;
  if (const unsigned long long address =
          __warplens_surface_address(surface.object, x, y, z, layer, mode, bytes))
    access_of_width(surface.site, address, bytes, kind);
}
#elif defined(__CUDA_ARCH__)
/// Returns null if the program has made the object where the launch hook does not see it.
__device__ inline const texels::View* view_of(unsigned long long object, bool is_surface) {
  const ring::Channel& channel = module_channel;
  if (!buffer_of_this_block())
    return nullptr;
  const uint64_t key = texture_key(object, is_surface);
  const TextureTable::Entry& entry = channel.textures->entries[texture_place(*channel.textures, key)];
  if (entry.key == 0)
    scoped::store_release(channel.unknown_texture, uint32_t{1});
  return entry.key == 0 ? nullptr : &entry.view;
}

static __device__ __noinline__ void fetch_traced(unsigned long long site, unsigned long long object,
                                                 texels::Shape shape, texels::Coordinates at) {
  const texels::View* const view = view_of(object, false);
  for (unsigned corner = 0; view && corner < texels::max_texels(shape); ++corner)
    if (const uint64_t address = texels::texel(*view, shape, at, corner))
      record_place(site, {address, 1}, view->texel_bytes, kind_load);
}

static __device__ __noinline__ void access_surface_traced(unsigned long long site, unsigned long long object,
                                                          unsigned bytes, unsigned kind, int x, int y, int z,
                                                          int layer, unsigned mode) {
  const texels::View* const view = view_of(object, true);
  if (!view)
    return;
  if (const uint64_t address =
          texels::surface_address(*view, x, y, z, layer, mode == cudaBoundaryModeClamp, bytes))
    record_place(site, {address, 1}, bytes, kind);
}

__device__ __forceinline__ void fetch(const Texture& texture, texels::Shape shape, texels::Coordinates at) {
  if (texture.is_traced && module_channel.blocks != 0)
    fetch_traced(texture.site, texture.object, shape, at);
}

__device__ __forceinline__ void access_surface(const Surface& surface, unsigned bytes, unsigned kind, int x,
                                               int y, int z, int layer, unsigned mode) {
  if (surface.is_traced && module_channel.blocks != 0)
    access_surface_traced(surface.site, surface.object, bytes, kind, x, y, z, layer, mode);
}
#else
__device__ inline void fetch(const Texture&, texels::Shape, texels::Coordinates) {}
__device__ inline void access_surface(const Surface&, unsigned, unsigned, int, int, int, int, unsigned) {}
#endif

} // namespace detail
} // namespace warplens

// CUDA's functions with their order of parameters: (name, shape, parameters, arguments, index, x, y, z).
#define WARPLENS_LIST(...) __VA_ARGS__
#define WARPLENS_FETCH(name, shape, parameters, arguments, index, x, y, z)                                   \
  template <class T>                                                                                         \
  static __device__ __forceinline__ T name(const ::warplens::Texture& texture, WARPLENS_LIST parameters) {   \
    ::warplens::detail::fetch(texture, ::warplens::texels::Shape::shape, {index, x, y, z});                  \
    return name<T>(texture.object, WARPLENS_LIST arguments);                                                 \
  }                                                                                                          \
  template <class T>                                                                                         \
  static __device__ __forceinline__ void name(T* value, const ::warplens::Texture& texture,                  \
                                              WARPLENS_LIST parameters) {                                    \
    ::warplens::detail::fetch(texture, ::warplens::texels::Shape::shape, {index, x, y, z});                  \
    name(value, texture.object, WARPLENS_LIST arguments);                                                    \
  }

WARPLENS_FETCH(tex1Dfetch, element, (int x), (x), x, 0, 0, 0)
WARPLENS_FETCH(tex1D, line, (float x), (x), 0, x, 0, 0)
WARPLENS_FETCH(tex2D, plane, (float x, float y), (x, y), 0, x, y, 0)
WARPLENS_FETCH(tex3D, volume, (float x, float y, float z), (x, y, z), 0, x, y, z)
WARPLENS_FETCH(tex1DLayered, lines, (float x, int layer), (x, layer), layer, x, 0, 0)
WARPLENS_FETCH(tex2DLayered, planes, (float x, float y, int layer), (x, y, layer), layer, x, y, 0)
WARPLENS_FETCH(texCubemap, cube, (float x, float y, float z), (x, y, z), 0, x, y, z)
WARPLENS_FETCH(texCubemapLayered, cubes, (float x, float y, float z, int layer), (x, y, z, layer), layer, x,
               y, z)
WARPLENS_FETCH(tex2Dgather, gather, (float x, float y, int component = 0), (x, y, component), 0, x, y, 0)

// A level of detail or a gradient chooses a mip level; a texture that has a view has one.
WARPLENS_FETCH(tex1DLod, line, (float x, float level), (x, level), 0, x, 0, 0)
WARPLENS_FETCH(tex2DLod, plane, (float x, float y, float level), (x, y, level), 0, x, y, 0)
WARPLENS_FETCH(tex3DLod, volume, (float x, float y, float z, float level), (x, y, z, level), 0, x, y, z)
WARPLENS_FETCH(tex1DLayeredLod, lines, (float x, int layer, float level), (x, layer, level), layer, x, 0, 0)
WARPLENS_FETCH(tex2DLayeredLod, planes, (float x, float y, int layer, float level), (x, y, layer, level),
               layer, x, y, 0)
WARPLENS_FETCH(texCubemapLod, cube, (float x, float y, float z, float level), (x, y, z, level), 0, x, y, z)
WARPLENS_FETCH(texCubemapLayeredLod, cubes, (float x, float y, float z, int layer, float level),
               (x, y, z, layer, level), layer, x, y, z)
WARPLENS_FETCH(tex1DGrad, line, (float x, float dx, float dy), (x, dx, dy), 0, x, 0, 0)
WARPLENS_FETCH(tex2DGrad, plane, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), 0, x, y, 0)
WARPLENS_FETCH(tex3DGrad, volume, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), 0, x,
               y, z)
WARPLENS_FETCH(tex1DLayeredGrad, lines, (float x, int layer, float dx, float dy), (x, layer, dx, dy), layer,
               x, 0, 0)
WARPLENS_FETCH(tex2DLayeredGrad, planes, (float x, float y, int layer, float2 dx, float2 dy),
               (x, y, layer, dx, dy), layer, x, y, 0)
WARPLENS_FETCH(texCubemapGrad, cube, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), 0,
               x, y, z)
WARPLENS_FETCH(texCubemapLayeredGrad, cubes, (float x, float y, float z, int layer, float4 dx, float4 dy),
               (x, y, z, layer, dx, dy), layer, x, y, z)
#undef WARPLENS_FETCH

#define WARPLENS_SURFACE(shape, parameters, arguments, x, y, z, layer)                                       \
  template <class T>                                                                                         \
  static __device__ __forceinline__ T surf##shape##read(                                                     \
      const ::warplens::Surface& surface, WARPLENS_LIST parameters,                                          \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                 \
    ::warplens::detail::access_surface(surface, sizeof(T), ::warplens::detail::kind_load, x, y, z, layer,    \
                                       mode);                                                                \
    return surf##shape##read<T>(surface.object, WARPLENS_LIST arguments, mode);                              \
  }                                                                                                          \
  template <class T>                                                                                         \
  static __device__ __forceinline__ void surf##shape##read(                                                  \
      T* value, const ::warplens::Surface& surface, WARPLENS_LIST parameters,                                \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                 \
    ::warplens::detail::access_surface(surface, sizeof(T), ::warplens::detail::kind_load, x, y, z, layer,    \
                                       mode);                                                                \
    surf##shape##read(value, surface.object, WARPLENS_LIST arguments, mode);                                 \
  }                                                                                                          \
  template <class T>                                                                                         \
  static __device__ __forceinline__ void surf##shape##write(                                                 \
      T value, const ::warplens::Surface& surface, WARPLENS_LIST parameters,                                 \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                 \
    ::warplens::detail::access_surface(surface, sizeof(T), ::warplens::detail::kind_store, x, y, z, layer,   \
                                       mode);                                                                \
    surf##shape##write(value, surface.object, WARPLENS_LIST arguments, mode);                                \
  }

WARPLENS_SURFACE(1D, (int x), (x), x, 0, 0, 0)
WARPLENS_SURFACE(2D, (int x, int y), (x, y), x, y, 0, 0)
WARPLENS_SURFACE(3D, (int x, int y, int z), (x, y, z), x, y, z, 0)
WARPLENS_SURFACE(1DLayered, (int x, int layer), (x, layer), x, 0, 0, layer)
WARPLENS_SURFACE(2DLayered, (int x, int y, int layer), (x, y, layer), x, y, 0, layer)
WARPLENS_SURFACE(Cubemap, (int x, int y, int face), (x, y, face), x, y, 0, face)
WARPLENS_SURFACE(CubemapLayered, (int x, int y, int face), (x, y, face), x, y, 0, face)
#undef WARPLENS_SURFACE
#undef WARPLENS_LIST
