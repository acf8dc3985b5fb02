// Allocations of device memory as the API's calls begin and end them: plain ones, a pool's, and a graph's.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <memory>

namespace warplens::cpu {

/// Implements cudaMalloc; `call` names the caller in the trace. The pointer becomes null on failure, and for
/// 0 bytes.
cudaError_t allocate_memory(void** pointer, std::size_t bytes, const char* call, bool managed = false);

/// Ends an allocation of any kind. cudaErrorInvalidValue: there is none. Null is accepted.
cudaError_t release_memory(void* pointer);

/// The memory of a graph: its address stays reserved during the lifetime of the graph and its executable
/// graphs, its contents last from the allocation's node to its release.
struct GraphAllocation {
  void* address = nullptr;
  std::size_t bytes = 0;
  bool live = false;

  GraphAllocation() = default;
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  /// A live allocation outlasts its graph, like any other.
  ~GraphAllocation();
};

/// Returns null if there is not enough memory.
std::shared_ptr<GraphAllocation> reserve_graph_memory(std::size_t bytes);
/// Makes the allocation live. cudaErrorInvalidValue: it has not been freed since the last time.
cudaError_t begin_graph_allocation(GraphAllocation& allocation);
/// Ends the allocation if it is live.
void end_graph_allocation(GraphAllocation& allocation);

/// The bytes that graphs have reserved, how many of these are live, and the maximum of each.
struct GraphMemory {
  std::size_t reserved = 0, live = 0, max_reserved = 0, max_live = 0;
};
GraphMemory graph_memory();
/// Resets the maxima to the current values.
void reset_graph_memory_peaks();

/// Subtracts the allocation from its pool's count (cudart/pool.cpp).
void leave_pool(void* pointer);

} // namespace warplens::cpu
