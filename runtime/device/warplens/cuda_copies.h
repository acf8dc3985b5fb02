// The calls of the CUDA runtime that read or write device memory without an instrumented kernel, or run
// captured work: ENTRY(CALL, name, suffix, parameters, arguments). `name` lacks its "cuda": under
// --default-stream per-thread the whole names are macros of cuda_runtime_api.h, which adds the suffix to
// them.
#pragma once

#define WARPLENS_COPY_LIST(ENTRY, CALL)                                                                      \
  ENTRY(CALL, Memcpy, _ptds, (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind),           \
        (to, from, bytes, kind))                                                                             \
  ENTRY(CALL, MemcpyAsync, _ptsz,                                                                            \
        (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),           \
        (to, from, bytes, kind, stream))                                                                     \
  ENTRY(CALL, Memcpy2D, _ptds,                                                                               \
        (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,        \
         enum cudaMemcpyKind kind),                                                                          \
        (to, to_pitch, from, from_pitch, width, height, kind))                                               \
  ENTRY(CALL, Memcpy2DAsync, _ptsz,                                                                          \
        (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,        \
         enum cudaMemcpyKind kind, cudaStream_t stream),                                                     \
        (to, to_pitch, from, from_pitch, width, height, kind, stream))                                       \
  ENTRY(CALL, Memcpy3D, _ptds, (const struct cudaMemcpy3DParms* box), (box))                                 \
  ENTRY(CALL, Memcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms* box, cudaStream_t stream),              \
        (box, stream))                                                                                       \
  ENTRY(CALL, Memcpy3DPeer, _ptds, (const struct cudaMemcpy3DPeerParms* box), (box))                         \
  ENTRY(CALL, Memcpy3DPeerAsync, _ptsz, (const struct cudaMemcpy3DPeerParms* box, cudaStream_t stream),      \
        (box, stream))                                                                                       \
  ENTRY(CALL, MemcpyBatchAsync, _ptsz,                                                                       \
        (void* const* to, const void* const* from, const size_t* bytes, size_t count,                        \
         struct cudaMemcpyAttributes* attributes, size_t* first_with, size_t attribute_count,                \
         cudaStream_t stream),                                                                               \
        (to, from, bytes, count, attributes, first_with, attribute_count, stream))                           \
  ENTRY(CALL, Memcpy3DBatchAsync, _ptsz,                                                                     \
        (size_t count, struct cudaMemcpy3DBatchOp* boxes, unsigned long long flags, cudaStream_t stream),    \
        (count, boxes, flags, stream))                                                                       \
  ENTRY(CALL, MemcpyToSymbol, _ptds,                                                                         \
        (const void* symbol, const void* from, size_t bytes, size_t offset, enum cudaMemcpyKind kind),       \
        (symbol, from, bytes, offset, kind))                                                                 \
  ENTRY(CALL, MemcpyToSymbolAsync, _ptsz,                                                                    \
        (const void* symbol, const void* from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,        \
         cudaStream_t stream),                                                                               \
        (symbol, from, bytes, offset, kind, stream))                                                         \
  ENTRY(CALL, MemcpyFromSymbol, _ptds,                                                                       \
        (void* to, const void* symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),               \
        (to, symbol, bytes, offset, kind))                                                                   \
  ENTRY(CALL, MemcpyFromSymbolAsync, _ptsz,                                                                  \
        (void* to, const void* symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,                \
         cudaStream_t stream),                                                                               \
        (to, symbol, bytes, offset, kind, stream))                                                           \
  ENTRY(CALL, Memcpy2DToArray, _ptds,                                                                        \
        (cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,    \
         enum cudaMemcpyKind kind),                                                                          \
        (to, x, y, from, pitch, width, height, kind))                                                        \
  ENTRY(CALL, Memcpy2DToArrayAsync, _ptsz,                                                                   \
        (cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,    \
         enum cudaMemcpyKind kind, cudaStream_t stream),                                                     \
        (to, x, y, from, pitch, width, height, kind, stream))                                                \
  ENTRY(CALL, Memcpy2DFromArray, _ptds,                                                                      \
        (void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,    \
         enum cudaMemcpyKind kind),                                                                          \
        (to, pitch, from, x, y, width, height, kind))                                                        \
  ENTRY(CALL, Memcpy2DFromArrayAsync, _ptsz,                                                                 \
        (void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,    \
         enum cudaMemcpyKind kind, cudaStream_t stream),                                                     \
        (to, pitch, from, x, y, width, height, kind, stream))                                                \
  ENTRY(CALL, Memcpy2DArrayToArray, _ptds,                                                                   \
        (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y,     \
         size_t width, size_t height, enum cudaMemcpyKind kind),                                             \
        (to, to_x, to_y, from, from_x, from_y, width, height, kind))                                         \
  ENTRY(CALL, Memset, _ptds, (void* to, int value, size_t bytes), (to, value, bytes))                        \
  ENTRY(CALL, MemsetAsync, _ptsz, (void* to, int value, size_t bytes, cudaStream_t stream),                  \
        (to, value, bytes, stream))                                                                          \
  ENTRY(CALL, Memset2D, _ptds, (void* to, size_t pitch, int value, size_t width, size_t height),             \
        (to, pitch, value, width, height))                                                                   \
  ENTRY(CALL, Memset2DAsync, _ptsz,                                                                          \
        (void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),               \
        (to, pitch, value, width, height, stream))                                                           \
  ENTRY(CALL, Memset3D, _ptds, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),              \
        (to, value, extent))                                                                                 \
  ENTRY(CALL, Memset3DAsync, _ptsz,                                                                          \
        (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream),                \
        (to, value, extent, stream))                                                                         \
  ENTRY(CALL, GraphLaunch, _ptsz, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))

/// The calls without a per-thread version.
#define WARPLENS_PEER_COPY_LIST(CALL)                                                                        \
  CALL(cudaError_t, cudaMemcpyPeer,                                                                          \
       (void* to, int to_device, const void* from, int from_device, size_t bytes),                           \
       (to, to_device, from, from_device, bytes))                                                            \
  CALL(cudaError_t, cudaMemcpyPeerAsync,                                                                     \
       (void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream),      \
       (to, to_device, from, from_device, bytes, stream))

#define WARPLENS_BOTH_FORMS(CALL, name, suffix, parameters, arguments)                                       \
  CALL(cudaError_t, cuda##name, parameters, arguments)                                                       \
  CALL(cudaError_t, cuda##name##suffix, parameters, arguments)

/// All these calls as CALL(result, name, parameters, arguments).
#define WARPLENS_COPY_CALLS(CALL)                                                                            \
  WARPLENS_COPY_LIST(WARPLENS_BOTH_FORMS, CALL)                                                              \
  WARPLENS_PEER_COPY_LIST(CALL)
