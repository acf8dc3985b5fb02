// What has to be known of the stream that a call names.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::gpu {

/// Is what is asked of it kept for a graph, instead of done?
inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

/// 0 means the calling thread's own stream in the per-thread forms.
inline cudaStream_t per_thread_stream(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}

} // namespace warplens::gpu
