// The macros by which sources recognise nvcc.
#if !defined(__NVCC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 13 || __CUDA_API_VER_MAJOR__ < 13
#error "this is not nvcc"
#endif
#if defined(__USE_FAST_MATH__) || defined(__CUDACC_EXTENDED_LAMBDA__) || defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "not requested"
#endif
#include <cooperative_groups.h>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda_fp16.h>
__global__ void kernel(float* p) {
  cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  p[block.thread_rank()] = cuda::std::array<float, 2>{1, 2}[1];
}
