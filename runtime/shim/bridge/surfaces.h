// Surface functions (surface_indirect_functions.h), which Clang's wrapper leaves out. Their compiler-provided
// handler is only declared: a source that uses them parses, and cannot be linked for the CPU back end without
// naming this function.
#pragma once

template <class T, class... Arguments>
__attribute__((device)) void __warplens_surface_function(const char* name, T* value,
                                                         cudaSurfaceObject_t surface, Arguments... arguments);

#pragma push_macro("__nv_tex_surf_handler")
#undef __nv_tex_surf_handler
#define __nv_tex_surf_handler __warplens_surface_function
#include <surface_indirect_functions.h>
#pragma pop_macro("__nv_tex_surf_handler")
