// Surface functions (surface_indirect_functions.h), which Clang's wrapper leaves out. Their compiler-provided
// handler receives a name such as "__isurf2DLayeredread" and calls the CPU back end's runtime
// (runtime/abi/intrinsics.h); in a source that is only parsed, it represents the access.
#pragma once

namespace warplens_surface {

extern "C" __attribute__((device)) void __warplens_cpu_surface_read(unsigned long long surface, int x, int y,
                                                                    int z, int layer, unsigned mode,
                                                                    void* value, unsigned bytes);
extern "C" __attribute__((device)) void __warplens_cpu_surface_write(unsigned long long surface, int x, int y,
                                                                     int z, int layer, unsigned mode,
                                                                     const void* value, unsigned bytes);

/// Returns which coordinates follow x: 'x' none, 'y', 'z' (both), 'l' a layer, 'p' y and a layer.
constexpr char shape(const char* name) {
  const char* rest = name + 6; // __isurf
  if (rest[1] == 'C')
    return 'p'; // Cubemap: the face counts as a layer
  const bool layered = rest[3] == 'L';
  return rest[1] == '1' ? layered ? 'l' : 'x' : rest[1] == '3' ? 'z' : layered ? 'p' : 'y';
}

constexpr bool is_write(const char* name) {
  for (; *name; ++name)
    if (name[0] == 'w' && name[1] == 'r')
      return true;
  return false;
}

template <bool write, class T>
__attribute__((device)) void access(T* value, cudaSurfaceObject_t surface, int x, int y, int z, int layer,
                                    cudaSurfaceBoundaryMode mode) {
  if constexpr (write)
    __warplens_cpu_surface_write(surface, x, y, z, layer, mode, value, sizeof(T));
  else
    __warplens_cpu_surface_read(surface, x, y, z, layer, mode, value, sizeof(T));
}

template <char shape, bool write, class T>
__attribute__((device)) void call(T* value, cudaSurfaceObject_t surface, int x,
                                  cudaSurfaceBoundaryMode mode) {
  access<write>(value, surface, x, 0, 0, 0, mode);
}

template <char shape, bool write, class T>
__attribute__((device)) void call(T* value, cudaSurfaceObject_t surface, int x, int second,
                                  cudaSurfaceBoundaryMode mode) {
  if constexpr (shape == 'l')
    access<write>(value, surface, x, 0, 0, second, mode);
  else
    access<write>(value, surface, x, second, 0, 0, mode);
}

template <char shape, bool write, class T>
__attribute__((device)) void call(T* value, cudaSurfaceObject_t surface, int x, int y, int third,
                                  cudaSurfaceBoundaryMode mode) {
  if constexpr (shape == 'z')
    access<write>(value, surface, x, y, third, 0, mode);
  else
    access<write>(value, surface, x, y, 0, third, mode);
}

} // namespace warplens_surface

#pragma push_macro("__nv_tex_surf_handler")
#undef __nv_tex_surf_handler
#define __nv_tex_surf_handler(name, ...)                                                                     \
  ::warplens_surface::call<::warplens_surface::shape(name), ::warplens_surface::is_write(name)>(__VA_ARGS__)
#include <surface_indirect_functions.h>
#pragma pop_macro("__nv_tex_surf_handler")
