// Stream capture: what streams are asked to do becomes nodes of a graph (CUDA C++ Programming Guide, "Stream
// Capture").
#pragma once

#include "runtime/cpu/graph.h"
#include "runtime/cpu/stream.h"

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace warplens::cpu {

/// One sequence, from cudaStreamBeginCapture to cudaStreamEndCapture, with all streams that joined it.
struct Capture {
  unsigned long long id = 0;
  CUgraph_st* graph = nullptr;
  std::unique_ptr<CUgraph_st> own_graph; ///< null: the program gave the graph
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool valid = true;
  /// Of each stream: the nodes that what comes next depends on.
  std::map<cudaStream_t, std::vector<CUgraphNode_st*>> ends;
};

/// What an event stands for that was recorded in a stream under capture.
struct CapturedEvent {
  unsigned long long capture = 0;
  std::vector<CUgraphNode_st*> nodes;
};

/// May the calling thread issue work to the stream now, and is it captured? cudaErrorStreamCaptureImplicit:
/// the legacy stream would have to wait for one that is under capture, which is thereby spoilt.
struct StreamState {
  cudaError_t error = cudaSuccess;
  bool captured = false;
};
StreamState state_of(cudaStream_t stream);

/// Adds a node behind all that the stream has captured.
cudaError_t add_to_capture(cudaStream_t stream, Operation operation);

/// For calls that cannot be captured, such as waiting for the stream: refused, and the capture is spoilt.
cudaError_t check_not_captured(cudaStream_t stream);
/// For calls that CUDA holds for unsafe while others capture, such as cudaMalloc.
cudaError_t check_safe_call();

/// Nothing: the stream is not under capture.
std::optional<CapturedEvent> captured_end(cudaStream_t stream);
/// The stream takes part in the event's capture, behind what the event stands for.
cudaError_t join_capture(cudaStream_t stream, const CapturedEvent& event);

/// Performs the operation, or adds it to what the stream captures.
cudaError_t issue(cudaStream_t stream, const Operation& operation);

/// For a stream that is destroyed: that spoils its capture unless it has been joined.
void leave_capture(cudaStream_t stream);

} // namespace warplens::cpu
