// Stream capture: operations issued to streams become nodes of a graph (CUDA C++ Programming Guide, "Stream
// Capture").
#pragma once

#include "runtime/cpu/cudart/graph.h"
#include "runtime/cpu/cudart/stream.h"

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace warplens::cpu {

/// A capture sequence, from cudaStreamBeginCapture to cudaStreamEndCapture, with all streams that joined it.
struct Capture {
  unsigned long long id = 0;
  CUgraph_st* graph = nullptr;
  std::unique_ptr<CUgraph_st> own_graph; ///< null: the program supplied the graph
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool valid = true;
  /// For each stream the nodes that its next operation depends on.
  std::map<cudaStream_t, std::vector<CUgraphNode_st*>> ends;
};

/// The nodes that an event stands for that was recorded in a stream under capture.
struct CapturedEvent {
  unsigned long long capture = 0;
  std::vector<CUgraphNode_st*> nodes;
};

/// Holds whether the calling thread may issue work to the stream now, and whether the stream is captured.
/// cudaErrorStreamCaptureImplicit: the legacy stream would have to wait for one under capture, which is
/// thereby invalidated.
struct StreamState {
  cudaError_t error = cudaSuccess;
  bool captured = false;
};
StreamState state_of(cudaStream_t stream);

/// Adds a node that depends on all that the stream has captured.
cudaError_t add_to_capture(cudaStream_t stream, Operation operation);

/// Refuses a call that cannot be captured, such as waiting for the stream, and invalidates the capture.
cudaError_t check_not_captured(cudaStream_t stream);
/// Checks a call that CUDA considers unsafe while other threads capture, such as cudaMalloc.
cudaError_t check_safe_call();

/// Returns what an event recorded now stands for; nothing if the stream is not under capture.
std::optional<CapturedEvent> captured_end(cudaStream_t stream);
/// Makes the stream join the event's capture, after the nodes that the event stands for.
cudaError_t join_capture(cudaStream_t stream, const CapturedEvent& event);

/// Performs the operation, or adds it to the stream's capture.
cudaError_t issue(cudaStream_t stream, const Operation& operation);

/// Removes a stream that is destroyed, which invalidates its capture unless it has been joined.
void leave_capture(cudaStream_t stream);

} // namespace warplens::cpu
