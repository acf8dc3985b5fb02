// Events: CUDA Runtime API, "Event Management".
#include "runtime/cpu/cudart_error.h"
#include "runtime/cpu/stream.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

struct CUevent_st {
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

namespace {

std::mutex mutex;
std::map<cudaEvent_t, std::unique_ptr<CUevent_st>>& events() {
  static auto& all = *new std::map<cudaEvent_t, std::unique_ptr<CUevent_st>>;
  return all;
}

constexpr unsigned known_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

} // namespace

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api([&] {
    const bool needs_no_timing = (flags & cudaEventInterprocess) != 0;
    if (!event || (flags & ~known_flags) != 0 || (needs_no_timing && (flags & cudaEventDisableTiming) == 0))
      return cudaErrorInvalidValue;
    auto made = std::make_unique<CUevent_st>(CUevent_st{flags, {}});
    const std::lock_guard lock(mutex);
    *event = made.get();
    events().emplace(*event, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([&] {
    const std::lock_guard lock(mutex);
    return events().erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return api([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(mutex);
    if (!events().contains(event))
      return cudaErrorInvalidResourceHandle;
    event->recorded = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

/// An event that was never recorded counts as done.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([&] {
    const std::lock_guard lock(mutex);
    return events().contains(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return cudaEventQuery(event);
}

/// Milliseconds of the machine's monotonic clock, not of the GPU that is modelled.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api([&] {
    if (!milliseconds)
      return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex);
    for (const cudaEvent_t event : {start, end})
      if (!events().contains(event) || !event->recorded || (event->flags & cudaEventDisableTiming) != 0)
        return cudaErrorInvalidResourceHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *start->recorded).count();
    return cudaSuccess;
  });
}

} // extern "C"

PER_THREAD_FORM(cudaEventRecord, ptsz)
PER_THREAD_FORM(cudaEventRecordWithFlags, ptsz)
