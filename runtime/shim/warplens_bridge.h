// Bridges what nvcc 13 offers every CUDA source and Clang 19's CUDA wrapper does not. Force-included
// (-include) after Clang's wrapper, in both halves of a compilation; never seen by nvcc.
//
// Macros that steer it, given with -D:
//   __WARPLENS_CPU__           the CPU back end is being compiled for, not only parsed
//   WARPLENS_EXTENDED_LAMBDA   nvcc was called with --expt-extended-lambda
//   WARPLENS_RELAXED_CONSTEXPR nvcc was called with --expt-relaxed-constexpr
//   WARPLENS_ARCH_LIST         the comma-separated list nvcc would give __CUDA_ARCH_LIST__
#pragma once

#ifdef __cplusplus
#include "bridge/atomics.h"
#include "bridge/cache_hints.h"
#include "bridge/clusters.h"
#include "bridge/device_math.h"
#include "bridge/host_math.h"
#include "bridge/launch.h"
#include "bridge/managed.h"
#include "bridge/pragmas.h"
#include "bridge/surfaces.h"
#include "bridge/tensor_cores.h"
#endif

// Last: from here on the source sees a compiler that calls itself nvcc.
#include "bridge/compiler_identity.h"
