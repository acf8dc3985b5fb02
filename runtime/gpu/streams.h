// Properties of the stream that a call names.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Returns whether the stream captures its work into a graph instead of performing it.
inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

/// Returns the stream that a per-thread version uses: 0 means the calling thread's own.
inline cudaStream_t per_thread_stream(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

} // namespace warplens::gpu
