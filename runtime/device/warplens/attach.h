// Attaches an instrumented object for NVIDIA GPUs to the runtime: not when the program is linked but when it
// starts, and only under `warplens run`, which sets WARPLENS_RUNTIME to the runtime's path. So the object
// links wherever the user's own would (by nvcc, by the host compiler, into a library), and a program that is
// started otherwise behaves like the uninstrumented one.
//
// This is host code within the user's files. Everything is hidden: each shared library of a program may
// contain its own copy of the CUDA runtime, and must use that copy.
#pragma once

#include "runtime_table.h"

#include <dlfcn.h>
#include <stdlib.h>

// Each of these functions takes less time than the call that it passes on. Optimising them all would take the
// host compiler longer than many sources do.
#if defined(__clang__)
#define WARPLENS_UNOPTIMIZED optnone, noinline
#else
#define WARPLENS_UNOPTIMIZED optimize("O0"), noinline
#endif
#define WARPLENS_HIDDEN __attribute__((visibility("hidden"), WARPLENS_UNOPTIMIZED))
#define WARPLENS_STUB __attribute__((weak, visibility("hidden"), WARPLENS_UNOPTIMIZED))

// CUDA's own functions: the driver redirects these names to them after the object is compiled, and the
// object's other uses of the redirected ones to the stubs below.
#define WARPLENS_ORIGINAL(result, name, parameters, arguments) extern "C" void __warplens_original_##name();
WARPLENS_REDIRECTED_CALLS(WARPLENS_ORIGINAL)
WARPLENS_OWN_CALLS(WARPLENS_ORIGINAL)
#undef WARPLENS_ORIGINAL

namespace warplens {
namespace detail {

WARPLENS_HIDDEN inline Runtime attach() {
#define WARPLENS_ADDRESS(result, name, parameters, arguments) &__warplens_original_##name,
  static const AnyFunction cuda[] = {WARPLENS_REDIRECTED_CALLS(WARPLENS_ADDRESS)
                                         WARPLENS_OWN_CALLS(WARPLENS_ADDRESS)};
#undef WARPLENS_ADDRESS
  const char* const path = getenv("WARPLENS_RUNTIME");
  void* const library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const entry = library ? dlsym(library, WARPLENS_ATTACH) : nullptr;
  return entry ? reinterpret_cast<Attach>(entry)(cuda) : Runtime();
}

WARPLENS_HIDDEN inline const Runtime& runtime() {
  static const Runtime attached = attach();
  return attached;
}

} // namespace detail
} // namespace warplens

#define WARPLENS_CALL(result, name, parameters, arguments)                                                   \
  extern "C" WARPLENS_STUB result __warplens_##name parameters {                                             \
    const auto traced = ::warplens::detail::runtime().call_##name;                                           \
    return (traced ? traced : reinterpret_cast<decltype(traced)>(&__warplens_original_##name))arguments;     \
  }
WARPLENS_REDIRECTED_CALLS(WARPLENS_CALL)
#undef WARPLENS_CALL

extern "C" WARPLENS_STUB void __warplens_register_sites(const warplens::SiteRecord* records,
                                                        unsigned long long count) {
  if (const auto registered = ::warplens::detail::runtime().register_sites)
    registered(records, count);
}

extern "C" WARPLENS_STUB void __warplens_register_channel(const void* channel) {
  if (const auto registered = ::warplens::detail::runtime().register_channel)
    registered(channel);
}

#undef WARPLENS_STUB
#undef WARPLENS_HIDDEN
#undef WARPLENS_UNOPTIMIZED
