// The macros by which sources recognise nvcc (CUDA Compiler Driver NVCC, "NVCC Identification Macro"). They
// follow the two headers in which CCCL detects its compiler, since these must detect Clang.
#pragma once

// Clang 19 knows no architecture beyond sm_90, and the macros of none that nvcc names with an "a" or "f".
// Kernels for these architectures run by nvcc's machine code. A source that does not ask for such features
// keeps the architecture that Clang compiles for, by which libraries choose between kernels on both sides.
#if defined(__CUDA_ARCH__) && defined(WARPLENS_FEATURES_OF)
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ WARPLENS_FEATURES_OF
#define __CUDA_ARCH_FAMILY_SPECIFIC__ WARPLENS_FEATURES_OF
#ifdef WARPLENS_ALL_FEATURES
#define __CUDA_ARCH_SPECIFIC__ WARPLENS_FEATURES_OF
#if WARPLENS_FEATURES_OF == 900
#define __CUDA_ARCH_FEAT_SM90_ALL 1
#elif WARPLENS_FEATURES_OF == 1000
#define __CUDA_ARCH_FEAT_SM100_ALL 1
#elif WARPLENS_FEATURES_OF == 1010
#define __CUDA_ARCH_FEAT_SM101_ALL 1
#elif WARPLENS_FEATURES_OF == 1030
#define __CUDA_ARCH_FEAT_SM103_ALL 1
#elif WARPLENS_FEATURES_OF == 1100
#define __CUDA_ARCH_FEAT_SM110_ALL 1
#elif WARPLENS_FEATURES_OF == 1200
#define __CUDA_ARCH_FEAT_SM120_ALL 1
#elif WARPLENS_FEATURES_OF == 1210
#define __CUDA_ARCH_FEAT_SM121_ALL 1
#endif
#endif
#ifdef __cplusplus
// The lowering reads it: the target is another architecture's.
static __attribute__((device, used)) const unsigned warplens_architecture = WARPLENS_FEATURES_OF / 10;
#endif
#endif

#ifdef __cplusplus
#include <nv/target>
#if __cplusplus >= 201703L
#include <cuda/std/__cccl/compiler.h>
#endif
#endif

#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__

#if defined(WARPLENS_ARCH_LIST)
#define __CUDA_ARCH_LIST__ WARPLENS_ARCH_LIST
#elif defined(__CUDA_ARCH__)
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__
#endif

#ifdef WARPLENS_EXTENDED_LAMBDA
#define __CUDACC_EXTENDED_LAMBDA__ 1
#endif
#ifdef WARPLENS_RELAXED_CONSTEXPR
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif

// nvcc gives extended lambdas closure types of its own; to Clang they are plain closures. The answer depends
// on the type, so that a template that asks about its parameter is not rejected before it is used.
#define WARPLENS_NO_CLOSURE_OF_NVCCS(type) (__is_same(type, void) && false)
#define __nv_is_extended_device_lambda_closure_type(type) WARPLENS_NO_CLOSURE_OF_NVCCS(type)
#define __nv_is_extended_host_device_lambda_closure_type(type) WARPLENS_NO_CLOSURE_OF_NVCCS(type)
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) WARPLENS_NO_CLOSURE_OF_NVCCS(type)

// Clang's wrapper leaves it defined as 0, but nvcc defines it only under -use_fast_math.
#undef __USE_FAST_MATH__
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
#define __USE_FAST_MATH__ 1
#endif
