// Streams: CUDA Runtime API, "Stream Management".
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/stream.h"

#include <map>
#include <memory>
#include <mutex>

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
};

namespace warplens::cpu {
namespace {

constexpr int least_priority = 0, greatest_priority = -5; // as on every GPU since Kepler

std::mutex mutex;
std::map<cudaStream_t, std::unique_ptr<CUstream_st>>& streams() {
  static auto& all = *new std::map<cudaStream_t, std::unique_ptr<CUstream_st>>;
  return all;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

CUstream_st describe(cudaStream_t stream) {
  // Ids 1 and 2 are those of the two default streams.
  return is_default(stream) ? CUstream_st{0, 0, stream == cudaStreamPerThread ? 2ull : 1ull} : *stream;
}

/// Calls `then` if the stream is one.
template <class Then> cudaError_t with(cudaStream_t stream, Then then) {
  return api([&] { return is_stream(stream) ? then() : cudaErrorInvalidResourceHandle; });
}

} // namespace

bool is_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  return is_default(stream) || streams().contains(stream);
}

} // namespace warplens::cpu

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return api([&] {
    if (!stream || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
      return cudaErrorInvalidValue;
    static unsigned long long created = 2;
    const std::lock_guard lock(mutex);
    auto made = std::make_unique<CUstream_st>(
        CUstream_st{flags, std::max(greatest_priority, std::min(least_priority, priority)), ++created});
    *stream = made.get();
    streams().emplace(*stream, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([&] {
    const std::lock_guard lock(mutex);
    return streams().erase(stream) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with(stream, [] { return cudaSuccess; });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with(stream, [] { return cudaSuccess; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return with(stream, [&] { return event ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with(stream, [&] {
    if (!flags)
      return cudaErrorInvalidValue;
    *flags = describe(stream).flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with(stream, [&] {
    if (!priority)
      return cudaErrorInvalidValue;
    *priority = describe(stream).priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with(stream, [&] {
    if (!id)
      return cudaErrorInvalidValue;
    *id = describe(stream).id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* number) {
  return with(stream, [&] {
    if (!number)
      return cudaErrorInvalidValue;
    *number = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with(stream, [&] {
    if (!status)
      return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] {
    if (least)
      *least = least_priority;
    if (greatest)
      *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return with(stream, [&] {
    if (!function)
      return cudaErrorInvalidValue;
    function(data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return with(stream, [&] {
    if (!callback || flags != 0)
      return cudaErrorInvalidValue;
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned) {
  return with(stream, [&] { return pointer ? cudaSuccess : cudaErrorInvalidValue; });
}

} // extern "C"

PER_THREAD_FORM(cudaStreamSynchronize, ptsz)
PER_THREAD_FORM(cudaStreamQuery, ptsz)
PER_THREAD_FORM(cudaStreamWaitEvent, ptsz)
PER_THREAD_FORM(cudaStreamGetFlags, ptsz)
PER_THREAD_FORM(cudaStreamGetPriority, ptsz)
PER_THREAD_FORM(cudaStreamGetId, ptsz)
PER_THREAD_FORM(cudaStreamGetDevice, ptsz)
PER_THREAD_FORM(cudaStreamIsCapturing, ptsz)
PER_THREAD_FORM(cudaLaunchHostFunc, ptsz)
PER_THREAD_FORM(cudaStreamAddCallback, ptsz)
PER_THREAD_FORM(cudaStreamAttachMemAsync, ptsz)
