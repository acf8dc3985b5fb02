// Events: CUDA Runtime API, "Event Management".
#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

struct CUevent_st {
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  std::optional<warplens::cpu::CapturedEvent> captured; ///< the last recording in a stream under capture
};

namespace {

std::mutex mutex;
std::map<cudaEvent_t, std::unique_ptr<CUevent_st>>& events() {
  static auto& all = *new std::map<cudaEvent_t, std::unique_ptr<CUevent_st>>;
  return all;
}

constexpr unsigned known_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

} // namespace

namespace warplens::cpu {

bool is_event(cudaEvent_t event) {
  const std::lock_guard lock(mutex);
  return events().contains(event);
}

cudaError_t record_event(cudaEvent_t event) {
  const std::lock_guard lock(mutex);
  if (!events().contains(event))
    return cudaErrorInvalidResourceHandle;
  event->recorded = std::chrono::steady_clock::now();
  event->captured.reset();
  return cudaSuccess;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

namespace {

/// Implements calls that query the event or wait for it: it is always complete. An event that was never
/// recorded counts as complete.
cudaError_t look_at(cudaEvent_t event) {
  return cuda_entry([&] {
    const std::lock_guard lock(mutex);
    if (!events().contains(event))
      return cudaErrorInvalidResourceHandle;
    return event->captured ? cudaErrorCapturedEvent : cudaSuccess;
  });
}

/// Makes the event, in a stream under capture, stand for all that the stream has captured so far.
cudaError_t capture_event(cudaEvent_t event, const CapturedEvent& end) {
  const std::lock_guard lock(mutex);
  if (!events().contains(event))
    return cudaErrorInvalidResourceHandle;
  event->captured = end;
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return cuda_entry([&] {
    const bool needs_no_timing = (flags & cudaEventInterprocess) != 0;
    if (!event || (flags & ~known_flags) != 0 || (needs_no_timing && (flags & cudaEventDisableTiming) == 0))
      return cudaErrorInvalidValue;
    auto made = std::make_unique<CUevent_st>(CUevent_st{flags, {}, {}});
    const std::lock_guard lock(mutex);
    const cudaEvent_t handle = made.get();
    events().emplace(handle, std::move(made));
    *event = handle;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return cuda_entry([&] {
    const std::lock_guard lock(mutex);
    return events().erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return cuda_entry([&] {
    const auto end = captured_end(stream);
    return end && flags != cudaEventRecordExternal ? capture_event(event, *end)
                                                   : issue(stream, EventRecord{event});
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cuda_entry([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    std::optional<CapturedEvent> captured;
    {
      const std::lock_guard lock(mutex); // no other thread destroys the event meanwhile
      if (!events().contains(event))
        return cudaErrorInvalidResourceHandle;
      captured = event->captured;
    }
    if (captured && flags != cudaEventWaitExternal)
      return join_capture(stream, *captured);
    if (captured_end(stream) && flags != cudaEventWaitExternal)
      return cudaErrorStreamCaptureIsolation;
    return issue(stream, EventWait{event});
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return look_at(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return look_at(event);
}

/// Returns milliseconds of the machine's monotonic clock, not of the modelled GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cuda_entry([&] {
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

PER_THREAD_NAME(cudaEventRecord, ptsz)
PER_THREAD_NAME(cudaEventRecordWithFlags, ptsz)
PER_THREAD_NAME(cudaStreamWaitEvent, ptsz)
