// Streams: CUDA Runtime API, "Stream Management".
#include "runtime/cpu/cudart/stream.h"

#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes; ///< hints
};

namespace warplens::cpu {
namespace {

constexpr int least_priority = 0, greatest_priority = -5; // the values of every GPU since Kepler

std::mutex mutex;
std::map<cudaStream_t, std::unique_ptr<CUstream_st>>& streams() {
  static auto& all = *new std::map<cudaStream_t, std::unique_ptr<CUstream_st>>;
  return all;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

/// Returns whether the stream exists; the mutex must be held.
bool exists(cudaStream_t stream) {
  return is_default(stream) || streams().contains(stream);
}

/// Returns the stream's description; the mutex must be held. Each of the two default streams has one.
CUstream_st& describe(cudaStream_t stream) {
  static CUstream_st legacy{0, 0, 1, {}}, per_thread{0, 0, 2, {}};
  return !is_default(stream) ? *stream : stream == cudaStreamPerThread ? per_thread : legacy;
}

/// Calls `then(description)` if the handle is a stream, and holds the mutex, so that it is not destroyed
/// meanwhile.
template <class Then> cudaError_t with_valid_handle(cudaStream_t stream, Then then) {
  return cuda_entry([&] {
    const std::lock_guard lock(mutex);
    return exists(stream) ? then(describe(stream)) : cudaErrorInvalidResourceHandle;
  });
}

/// Implements `*result = get(description)` for a stream.
template <class T, class Get> cudaError_t write_out(cudaStream_t stream, T* result, Get get) {
  return with_valid_handle(stream, [&](const CUstream_st& description) {
    if (!result)
      return cudaErrorInvalidValue;
    *result = get(description);
    return cudaSuccess;
  });
}

/// Implements calls that wait: all work is already complete.
cudaError_t wait(cudaStream_t stream) {
  return cuda_entry(
      [&] { return is_stream(stream) ? check_not_captured(stream) : cudaErrorInvalidResourceHandle; });
}

} // namespace

bool is_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  return exists(stream);
}

bool waits_for_legacy(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  return exists(stream) && describe(stream).flags != cudaStreamNonBlocking;
}

cudaAccessPolicyWindow window_of(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (!exists(stream))
    return {};
  const auto& attributes = describe(stream).attributes;
  const auto found = attributes.find(cudaLaunchAttributeAccessPolicyWindow);
  return found == attributes.end() ? cudaAccessPolicyWindow{} : found->second.accessPolicyWindow;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return cuda_entry([&] {
    if (!stream || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
      return cudaErrorInvalidValue;
    static unsigned long long created = 2;
    const std::lock_guard lock(mutex);
    auto made = std::make_unique<CUstream_st>(
        CUstream_st{flags, std::clamp(priority, greatest_priority, least_priority), ++created, {}});
    const cudaStream_t handle = made.get();
    streams().emplace(handle, std::move(made));
    *stream = handle;
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
  return cuda_entry([&] {
    leave_capture(stream);
    const std::lock_guard lock(mutex);
    return streams().erase(stream) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return wait(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return wait(stream);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return write_out(stream, flags, [](const CUstream_st& description) { return description.flags; });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return write_out(stream, priority, [](const CUstream_st& description) { return description.priority; });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return write_out(stream, id, [](const CUstream_st& description) { return description.id; });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* number) {
  return write_out(stream, number, [](const CUstream_st&) { return 0; });
}

/// An attribute that was never set has the value 0, the default of all but the priority.
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return write_out(stream, value, [&](const CUstream_st& description) {
    cudaStreamAttrValue got{};
    if (const auto found = description.attributes.find(attribute); found != description.attributes.end())
      got = found->second;
    if (attribute == cudaLaunchAttributePriority)
      got.priority = description.priority;
    return got;
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return with_valid_handle(stream, [&](CUstream_st& description) {
    if (!value)
      return cudaErrorInvalidValue;
    description.attributes[attribute] = *value;
    if (attribute == cudaLaunchAttributePriority)
      description.priority = std::clamp(value->priority, greatest_priority, least_priority);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with_valid_handle(to, [&](CUstream_st& description) {
    if (!exists(from))
      return cudaErrorInvalidResourceHandle;
    description.attributes = describe(from).attributes;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return cuda_entry([&] {
    if (least)
      *least = least_priority;
    if (greatest)
      *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cuda_entry(
      [&] { return function ? issue(stream, cudaHostNodeParams{function, data}) : cudaErrorInvalidValue; });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return cuda_entry([&] {
    if (!callback || flags != 0)
      return cudaErrorInvalidValue;
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    const cudaError_t error = check_not_captured(stream);
    if (error == cudaSuccess)
      call_program(callback, stream, cudaSuccess, data);
    return error;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned) {
  return with_valid_handle(stream,
                           [&](const CUstream_st&) { return pointer ? cudaSuccess : cudaErrorInvalidValue; });
}

} // extern "C"

PER_THREAD_NAME(cudaStreamSynchronize, ptsz)
PER_THREAD_NAME(cudaStreamQuery, ptsz)
PER_THREAD_NAME(cudaStreamGetFlags, ptsz)
PER_THREAD_NAME(cudaStreamGetPriority, ptsz)
PER_THREAD_NAME(cudaStreamGetId, ptsz)
PER_THREAD_NAME(cudaStreamGetDevice, ptsz)
PER_THREAD_NAME(cudaStreamGetAttribute, ptsz)
PER_THREAD_NAME(cudaStreamSetAttribute, ptsz)
PER_THREAD_NAME(cudaStreamCopyAttributes, ptsz)
PER_THREAD_NAME(cudaLaunchHostFunc, ptsz)
PER_THREAD_NAME(cudaStreamAddCallback, ptsz)
PER_THREAD_NAME(cudaStreamAttachMemAsync, ptsz)
