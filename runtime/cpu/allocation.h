// Allocations of device memory as the API's calls make and end them: plain ones, a pool's, and a graph's.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <memory>

namespace warplens::cpu {

/// What cudaMalloc does; `call` names the caller in the trace. The pointer becomes null where it fails, and
/// for 0 bytes.
cudaError_t allocate_memory(void** pointer, std::size_t bytes, const char* call, bool managed = false);

/// Ends an allocation of any kind; cudaErrorInvalidValue: there is none. Null is none to end.
cudaError_t release_memory(void* pointer);

/// Memory of a graph: its address is there as long as the graph and what was made of it, its contents from
/// the allocation's node to its release.
struct GraphAllocation {
  void* address = nullptr;
  std::size_t bytes = 0;
  bool live = false;

  GraphAllocation() = default;
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  /// What is live outlasts its graph, as an allocation like others.
  ~GraphAllocation();
};

/// Null where there is no memory.
std::shared_ptr<GraphAllocation> reserve_graph_memory(std::size_t bytes);
/// cudaErrorInvalidValue: it has not been freed since the last time.
cudaError_t begin_graph_allocation(GraphAllocation& allocation);
/// If it is live.
void end_graph_allocation(GraphAllocation& allocation);

/// Bytes that graphs have reserved, of these what is live, and the most there was of each.
struct GraphMemory {
  std::size_t reserved = 0, live = 0, most_reserved = 0, most_live = 0;
};
GraphMemory graph_memory();
/// The most there was is from now on what there is.
void forget_most_graph_memory();

/// The pools count what they have given out (cudart_pool.cpp).
void leave_pool(void* pointer);

} // namespace warplens::cpu
