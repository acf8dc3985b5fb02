// The calls of the CUDA runtime that concern tracing on a GPU, as CALL(result, name, parameters, arguments).
// redirected_symbols.txt lists them, too.
#pragma once

#include "cuda_copies.h"

/// The calls that instrumented objects make through the runtime; __cudaRegisterFunction if the object's
/// kernels have two variants (CUDA's crt/host_runtime.h declares it).
#define WARPLENS_REDIRECTED_CALLS(CALL)                                                                      \
  CALL(void, __cudaRegisterFunction,                                                                         \
       (void** module, const char* host_name, char* device_name, const char* symbol, int thread_limit,       \
        uint3* thread, uint3* block, dim3* block_extent, dim3* grid_extent, int* warp_size),                 \
       (module, host_name, device_name, symbol, thread_limit, thread, block, block_extent, grid_extent,      \
        warp_size))                                                                                          \
  CALL(cudaError_t, cudaLaunchKernel,                                                                        \
       (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,                    \
        cudaStream_t stream),                                                                                \
       (kernel, grid, block, arguments, shared_bytes, stream))                                               \
  CALL(cudaError_t, cudaLaunchKernel_ptsz,                                                                   \
       (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,                    \
        cudaStream_t stream),                                                                                \
       (kernel, grid, block, arguments, shared_bytes, stream))                                               \
  CALL(cudaError_t, cudaLaunchCooperativeKernel,                                                             \
       (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,                    \
        cudaStream_t stream),                                                                                \
       (kernel, grid, block, arguments, shared_bytes, stream))                                               \
  CALL(cudaError_t, cudaLaunchCooperativeKernel_ptsz,                                                        \
       (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,                    \
        cudaStream_t stream),                                                                                \
       (kernel, grid, block, arguments, shared_bytes, stream))                                               \
  CALL(cudaError_t, cudaLaunchKernelExC,                                                                     \
       (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),                             \
       (config, kernel, arguments))                                                                          \
  CALL(cudaError_t, cudaLaunchKernelExC_ptsz,                                                                \
       (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),                             \
       (config, kernel, arguments))                                                                          \
  CALL(cudaError_t, cudaMalloc, (void** pointer, size_t bytes), (pointer, bytes))                            \
  CALL(cudaError_t, cudaMallocManaged, (void** pointer, size_t bytes, unsigned flags),                       \
       (pointer, bytes, flags))                                                                              \
  CALL(cudaError_t, cudaMallocPitch, (void** pointer, size_t* pitch, size_t width, size_t height),           \
       (pointer, pitch, width, height))                                                                      \
  CALL(cudaError_t, cudaMallocAsync, (void** pointer, size_t bytes, cudaStream_t stream),                    \
       (pointer, bytes, stream))                                                                             \
  CALL(cudaError_t, cudaMallocAsync_ptsz, (void** pointer, size_t bytes, cudaStream_t stream),               \
       (pointer, bytes, stream))                                                                             \
  CALL(cudaError_t, cudaCreateTextureObject,                                                                 \
       (cudaTextureObject_t * texture, const struct cudaResourceDesc* resource,                              \
        const struct cudaTextureDesc* description, const struct cudaResourceViewDesc* view),                 \
       (texture, resource, description, view))                                                               \
  CALL(cudaError_t, cudaDestroyTextureObject, (cudaTextureObject_t texture), (texture))                      \
  CALL(cudaError_t, cudaCreateSurfaceObject,                                                                 \
       (cudaSurfaceObject_t * surface, const struct cudaResourceDesc* resource), (surface, resource))        \
  CALL(cudaError_t, cudaDestroySurfaceObject, (cudaSurfaceObject_t surface), (surface))                      \
  WARPLENS_COPY_CALLS(CALL)

/// The additional calls that tracing itself makes.
#define WARPLENS_OWN_CALLS(CALL)                                                                             \
  CALL(cudaError_t, cudaArrayGetInfo,                                                                        \
       (struct cudaChannelFormatDesc * format, struct cudaExtent * extent, unsigned* flags,                  \
        cudaArray_t array),                                                                                  \
       (format, extent, flags, array))                                                                       \
  CALL(cudaError_t, cudaDeviceGetAttribute, (int* value, enum cudaDeviceAttr attribute, int device),         \
       (value, attribute, device))                                                                           \
  CALL(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))         \
  CALL(cudaError_t, cudaEventQuery, (cudaEvent_t event), (event))                                            \
  CALL(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))              \
  CALL(cudaError_t, cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void* kernel),     \
       (attributes, kernel))                                                                                 \
  CALL(cudaError_t, cudaFuncGetName, (const char** name, const void* kernel), (name, kernel))                \
  CALL(cudaError_t, cudaFuncSetAttribute, (const void* kernel, enum cudaFuncAttribute attribute, int value), \
       (kernel, attribute, value))                                                                           \
  CALL(cudaError_t, cudaGetDevice, (int* device), (device))                                                  \
  CALL(cudaError_t, cudaGetDeviceCount, (int* count), (count))                                               \
  CALL(cudaError_t, cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int device),               \
       (properties, device))                                                                                 \
  CALL(const char*, cudaGetErrorString, (cudaError_t error), (error))                                        \
  CALL(cudaError_t, cudaGetLastError, (), ())                                                                \
  CALL(cudaError_t, cudaGetSymbolAddress, (void** address, const void* symbol), (address, symbol))           \
  CALL(cudaError_t, cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))  \
  CALL(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,                                           \
       (int* blocks, const void* kernel, int threads, size_t shared_bytes),                                  \
       (blocks, kernel, threads, shared_bytes))                                                              \
  CALL(cudaError_t, cudaPeekAtLastError, (), ())                                                             \
  CALL(cudaError_t, cudaPointerGetAttributes,                                                                \
       (struct cudaPointerAttributes * attributes, const void* pointer), (attributes, pointer))              \
  CALL(cudaError_t, cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus * status),     \
       (stream, status))                                                                                     \
  CALL(cudaError_t, cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode), (mode))
