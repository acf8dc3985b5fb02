// __managed__, which Clang has for HIP only. On the CPU back end host and device code share one address
// space: the variable is the host's (analysis/host_registration.cpp), and the lowering makes device code use
// it (lowering/device_variables.cpp).
#pragma once

#undef __managed__
#if !defined(__WARPLENS_CPU__)
#define __managed__ __attribute__((device))
#elif defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device, section("warplens_managed")))
#else
#define __managed__ __attribute__((section("warplens_managed")))
#endif
