// Provides features of nvcc 13 that Clang 19's CUDA wrapper lacks. Force-included (-include)
// after Clang's wrapper, in both halves of a compilation; never seen by nvcc.
//
// Macros that configure it, set with -D:
//   __WARPLENS_CPU__           the CPU back end is being compiled for, not only parsed
//   WARPLENS_EXTENDED_LAMBDA   nvcc was called with --expt-extended-lambda
//   WARPLENS_RELAXED_CONSTEXPR nvcc was called with --expt-relaxed-constexpr
//   WARPLENS_ARCH_LIST         the comma-separated list of nvcc's __CUDA_ARCH_LIST__
//   WARPLENS_FEATURES_OF       the __CUDA_ARCH__ of an architecture with features of its own (sm_90a: 900)
//   WARPLENS_ALL_FEATURES      its name ends in "a", not in "f"
#pragma once

#ifdef __cplusplus
#include "clang/atomics.h"
#include "clang/cache_hints.h"
#include "clang/clusters.h"
#include "clang/device_math.h"
#include "clang/host_math.h"
#include "clang/launch.h"
#include "clang/managed.h"
#include "clang/pragmas.h"
#include "clang/surfaces.h"
#include "clang/tensor_cores.h"
#endif

// Last: from here on the source sees a compiler that calls itself nvcc.
#include "clang/compiler_identity.h"
