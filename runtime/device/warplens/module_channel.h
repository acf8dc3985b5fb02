// The channel through which a module's kernels are traced, and, on the host, its registration with the
// runtime. Both variants of a source include it: the instrumented copy through probe.h; the user's own, whose
// host half nvcc compiles beside Clang's analysis, by -include.
#pragma once

#include "ring.h"

/// Registers a module's ring::Channel variable; `channel` is the host's name of it.
extern "C" void __warplens_register_channel(const void* channel);

#if !defined(__CUDA_ARCH__)
#include "attach.h"
#endif

namespace warplens {
namespace detail {

/// Set by the launch hook in the traced launch's stream, before and after the kernel; all zero: tracing is
/// off.
static __device__ ring::Channel module_channel;

#if !defined(__CUDA_ARCH__)
struct RegisterChannel {
  RegisterChannel() { __warplens_register_channel(&module_channel); }
};
static const RegisterChannel register_channel;
#endif

} // namespace detail
} // namespace warplens
