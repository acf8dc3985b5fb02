// The functions that instrumented objects call in place of CUDA's launches and allocations.
#pragma once

#include <cuda_runtime_api.h>

extern "C" {
cudaError_t __warplens_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream);
cudaError_t __warplens_cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                             size_t shared_bytes, cudaStream_t stream);
cudaError_t __warplens_cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                   void** arguments, size_t shared_bytes,
                                                   cudaStream_t stream);
cudaError_t __warplens_cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                                        void** arguments, size_t shared_bytes,
                                                        cudaStream_t stream);
cudaError_t __warplens_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                           void** arguments);
cudaError_t __warplens_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel,
                                                void** arguments);

void __warplens___cudaRegisterFunction(void** module, const char* host_name, char* device_name,
                                       const char* symbol, int thread_limit, uint3* thread, uint3* block,
                                       dim3* block_extent, dim3* grid_extent, int* warp_size);

cudaError_t __warplens_cudaMalloc(void** pointer, size_t bytes);
cudaError_t __warplens_cudaMallocManaged(void** pointer, size_t bytes, unsigned flags);
cudaError_t __warplens_cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t __warplens_cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t __warplens_cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream);

cudaError_t __warplens_cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                               const cudaTextureDesc* description,
                                               const cudaResourceViewDesc* view);
cudaError_t __warplens_cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t __warplens_cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                               const cudaResourceDesc* resource);
cudaError_t __warplens_cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

// CUDA's own per-thread versions, which cuda_runtime_api.h declares under --default-stream per-thread only.
cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                  size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                             size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel, void** arguments);
cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream);

// The function that nvcc's generated code calls before main() (CUDA's crt/host_runtime.h).
void __cudaRegisterFunction(void** module, const char* host_name, char* device_name, const char* symbol,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_extent,
                            dim3* grid_extent, int* warp_size);
}
