#include "runtime/cpu/cudart/capture.h"

#include "runtime/cpu/cudart/error.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

namespace warplens::cpu {
namespace {

struct Captures {
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> all;
  std::atomic<std::size_t> count =
      0; ///< the number of captures: while it is 0, issuing work does not need the mutex
  unsigned long long begun = 0;
};
Captures& captures() {
  static auto& instance = *new Captures;
  return instance;
}

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

bool is_legacy(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy;
}

/// Returns the stream's capture; the mutex must be held.
std::shared_ptr<Capture> find(cudaStream_t stream) {
  for (const auto& capture : captures().all)
    if (capture->ends.contains(stream))
      return capture;
  return nullptr;
}

/// Returns whether the node is one of `ends` or a predecessor of one.
bool leads_to(const CUgraphNode_st* node, const std::vector<CUgraphNode_st*>& ends) {
  std::vector<const CUgraphNode_st*> open(ends.begin(), ends.end());
  std::set<const CUgraphNode_st*> seen(open.begin(), open.end());
  while (!open.empty()) {
    const CUgraphNode_st* const last = open.back();
    open.pop_back();
    if (last == node)
      return true;
    for (const CUgraphNode_st* before : last->dependencies)
      if (seen.insert(before).second)
        open.push_back(before);
  }
  return false;
}

/// Returns whether the stream that began the capture waits for all these nodes.
bool is_joined(const Capture& capture, const std::vector<CUgraphNode_st*>& ends) {
  const auto& joined = capture.ends.at(capture.origin);
  return std::ranges::all_of(ends, [&](const auto* node) { return leads_to(node, joined); });
}

void add_new(std::vector<CUgraphNode_st*>& nodes, const std::vector<CUgraphNode_st*>& more) {
  for (CUgraphNode_st* node : more)
    if (std::ranges::find(nodes, node) == nodes.end())
      nodes.push_back(node);
}

cudaError_t begin(cudaStream_t stream, CUgraph_st* graph, const cudaGraphNode_t* dependencies,
                  std::size_t count, cudaStreamCaptureMode mode) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed || (count && !dependencies))
    return cudaErrorInvalidValue;
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  if (is_legacy(stream))
    return cudaErrorStreamCaptureUnsupported;
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  if (find(stream))
    return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = ++all.begun;
  if (!graph)
    capture->own_graph = std::make_unique<CUgraph_st>();
  capture->graph = graph ? graph : capture->own_graph.get();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->ends[stream].assign(dependencies, dependencies + count);
  all.all.push_back(std::move(capture));
  all.count = all.all.size();
  return cudaSuccess;
}

cudaError_t end(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph)
    *graph = nullptr;
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  const auto capture = find(stream);
  if (!capture)
    return cudaErrorIllegalState;
  if (!graph && capture->own_graph) // the program would lose it
    return cudaErrorInvalidValue;
  if (capture->origin != stream)
    return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  std::erase(all.all, capture);
  all.count = all.all.size();
  if (!capture->valid)
    return cudaErrorStreamCaptureInvalidated;
  if (!std::ranges::all_of(capture->ends,
                           [&](const auto& other) { return is_joined(*capture, other.second); }))
    return cudaErrorStreamCaptureUnjoined;
  if (graph)
    *graph = capture->graph;
  static_cast<void>(capture->own_graph.release()); // the program owns it now
  return cudaSuccess;
}

} // namespace

StreamState state_of(cudaStream_t stream) {
  Captures& all = captures();
  if (all.count == 0)
    return {};
  const std::lock_guard lock(all.mutex);
  if (const auto capture = find(stream))
    return {capture->valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated, true};
  if (is_legacy(stream))
    for (const auto& capture : all.all)
      for (const auto& [other, nodes] : capture->ends)
        if (waits_for_legacy(other)) {
          capture->valid = false;
          return {cudaErrorStreamCaptureImplicit, false};
        }
  return {};
}

cudaError_t add_to_capture(cudaStream_t stream, Operation operation) {
  if (const cudaError_t error = check(operation); error != cudaSuccess)
    return error;
  const std::lock_guard lock(captures().mutex);
  const auto capture = find(stream);
  if (!capture || !capture->valid)
    return cudaErrorStreamCaptureInvalidated;
  auto& ends = capture->ends.at(stream);
  cudaGraphNode_t node = nullptr;
  const cudaError_t error = add_node(*capture->graph, std::move(operation), ends.data(), ends.size(), &node);
  if (error == cudaSuccess)
    ends = {node};
  return error;
}

cudaError_t check_not_captured(cudaStream_t stream) {
  const StreamState state = state_of(stream);
  if (state.error != cudaSuccess || !state.captured)
    return state.error;
  const std::lock_guard lock(captures().mutex);
  if (const auto capture = find(stream))
    capture->valid = false;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t check_safe_call() {
  Captures& all = captures();
  if (all.count == 0 || thread_mode == cudaStreamCaptureModeRelaxed)
    return cudaSuccess;
  const std::lock_guard lock(all.mutex);
  for (const auto& capture : all.all) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool concerned =
        own ? capture->mode != cudaStreamCaptureModeRelaxed
            : capture->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
    if (concerned) {
      capture->valid = false;
      return cudaErrorStreamCaptureUnsupported;
    }
  }
  return cudaSuccess;
}

std::optional<CapturedEvent> captured_end(cudaStream_t stream) {
  if (captures().count == 0)
    return std::nullopt;
  const std::lock_guard lock(captures().mutex);
  const auto capture = find(stream);
  return capture ? std::optional(CapturedEvent{capture->id, capture->ends.at(stream)}) : std::nullopt;
}

cudaError_t join_capture(cudaStream_t stream, const CapturedEvent& event) {
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  const auto capture =
      std::ranges::find_if(all.all, [&](const auto& one) { return one->id == event.capture; });
  if (capture == all.all.end())
    return cudaErrorCapturedEvent; // its capture has ended
  if (const auto own = find(stream); own && own != *capture) {
    own->valid = (*capture)->valid = false;
    return cudaErrorStreamCaptureMerge;
  }
  if (is_legacy(stream))
    return cudaErrorStreamCaptureImplicit;
  add_new((*capture)->ends[stream], event.nodes);
  return cudaSuccess;
}

cudaError_t issue(cudaStream_t stream, const Operation& operation) {
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  const StreamState state = state_of(stream);
  if (state.error != cudaSuccess)
    return state.error;
  return state.captured ? add_to_capture(stream, operation) : perform(operation);
}

void leave_capture(cudaStream_t stream) {
  Captures& all = captures();
  if (all.count == 0)
    return;
  const std::lock_guard lock(all.mutex);
  const auto capture = find(stream);
  if (!capture)
    return;
  if (stream == capture->origin || !is_joined(*capture, capture->ends.at(stream)))
    capture->valid = false;
  else
    capture->ends.erase(stream);
}

} // namespace warplens::cpu

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cuda_entry([&] { return begin(stream, nullptr, nullptr, 0, mode); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                          std::size_t count, cudaStreamCaptureMode mode) {
  return cuda_entry([&] {
    return is_live(graph) ? begin(stream, graph, dependencies, count, mode) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return cuda_entry([&] { return end(stream, graph); });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return cuda_entry([&] {
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    std::swap(*mode, thread_mode);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

/// The array of dependencies stays valid until the stream captures another operation.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  return cuda_entry([&] {
    if (!status)
      return cudaErrorInvalidValue;
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    *status = cudaStreamCaptureStatusNone;
    const std::lock_guard lock(captures().mutex);
    const auto capture = find(stream);
    if (!capture)
      return cudaSuccess;
    *status = capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
    const auto& ends = capture->ends.at(stream);
    if (id)
      *id = capture->id;
    if (graph)
      *graph = capture->graph;
    if (dependencies)
      *dependencies = ends.data();
    if (edges)
      *edges = nullptr;
    if (count)
      *count = ends.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData*, std::size_t count, unsigned flags) {
  return cuda_entry([&] {
    const std::lock_guard lock(captures().mutex);
    const auto capture = find(stream);
    if (!capture)
      return cudaErrorIllegalState;
    if ((count && !nodes) || flags > cudaStreamSetCaptureDependencies)
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!is_live(nodes[i]) || &nodes[i]->graph != capture->graph)
        return cudaErrorInvalidValue;
    auto& ends = capture->ends.at(stream);
    if (flags == cudaStreamSetCaptureDependencies)
      ends.clear();
    add_new(ends, {nodes, nodes + count});
    return cudaSuccess;
  });
}

} // extern "C"

PER_THREAD_NAME(cudaStreamBeginCapture, ptsz)
PER_THREAD_NAME(cudaStreamBeginCaptureToGraph, ptsz)
PER_THREAD_NAME(cudaStreamEndCapture, ptsz)
PER_THREAD_NAME(cudaStreamIsCapturing, ptsz)
PER_THREAD_NAME(cudaStreamGetCaptureInfo, ptsz)
PER_THREAD_NAME(cudaStreamUpdateCaptureDependencies, ptsz)
