// Executable graphs: CUDA Runtime API, "Graph Management".
#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"

#include <algorithm>
#include <cstdint>

using namespace warplens::cpu;

namespace {

constexpr unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                           cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagUseNodePriority;

/// Returns whether the graph or a child graph has a cycle.
bool has_cycle(const CUgraph_st& graph) {
  return topological_order(graph).size() != graph.nodes.size() ||
         std::ranges::any_of(graph.nodes, [](const auto& node) {
           const auto* child = std::get_if<SubGraph>(&node->operation);
           return child && has_cycle(*child->graph);
         });
}

cudaError_t instantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  if (!ready || !is_live(graph) || has_cycle(*graph))
    return cudaErrorInvalidValue;
  if ((flags & ~known_flags) != 0) // launches from device code
    return flags & cudaGraphInstantiateFlagDeviceLaunch ? cudaErrorNotSupported : cudaErrorInvalidValue;
  auto made = std::make_unique<CUgraphExec_st>();
  made->graph = clone(*graph);
  made->flags = flags;
  *ready = made.release();
  return cudaSuccess;
}

void free_allocations(const CUgraph_st& graph) {
  for (const auto& node : graph.nodes)
    if (const auto* allocate = std::get_if<Allocate>(&node->operation))
      end_graph_allocation(*allocate->allocation);
}

/// Launches the graph; in a stream under capture it becomes a child graph.
cudaError_t launch(const CUgraphExec_st& ready, cudaStream_t stream) {
  if (const StreamState state = state_of(stream); state.captured || state.error != cudaSuccess)
    return issue(stream, SubGraph{clone(*ready.graph)});
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  if (ready.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    free_allocations(*ready.graph);
  reset_conditions(*ready.graph);
  return run_graph(*ready.graph);
}

std::vector<CUgraphNode_st*> list(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> nodes;
  for (const auto& node : graph.nodes)
    nodes.push_back(node.get());
  return nodes;
}

/// Returns a node's dependencies as indices.
std::vector<std::ptrdiff_t> places(const CUgraphNode_st& node, const std::vector<CUgraphNode_st*>& all) {
  std::vector<std::ptrdiff_t> found;
  for (CUgraphNode_st* dependency : node.dependencies)
    found.push_back(std::ranges::find(all, dependency) - all.begin());
  std::ranges::sort(found);
  return found;
}

/// Compares two graphs whose nodes correspond by the order of their addition.
cudaGraphExecUpdateResult compare(const CUgraph_st& before, const CUgraph_st& after,
                                  cudaGraphNode_t* differs) {
  const auto old_nodes = list(before), new_nodes = list(after);
  *differs = nullptr;
  if (old_nodes.size() != new_nodes.size())
    return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < new_nodes.size(); ++i) {
    *differs = new_nodes[i];
    const Operation &old_one = old_nodes[i]->operation, &new_one = new_nodes[i]->operation;
    if (old_one.index() != new_one.index())
      return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (places(*old_nodes[i], old_nodes) != places(*new_nodes[i], new_nodes))
      return cudaGraphExecUpdateErrorTopologyChanged;
    if (std::holds_alternative<Allocate>(new_one) || std::holds_alternative<Release>(new_one) ||
        std::holds_alternative<Conditional>(new_one))
      return cudaGraphExecUpdateErrorNotSupported; // memory and conditions belong to their graphs
    if (const auto* child = std::get_if<SubGraph>(&new_one))
      if (const auto result = compare(*std::get<SubGraph>(old_one).graph, *child->graph, differs);
          result != cudaGraphExecUpdateSuccess)
        return result;
  }
  *differs = nullptr;
  return cudaGraphExecUpdateSuccess;
}

void take_over(CUgraph_st& ready, const CUgraph_st& graph) {
  auto node = ready.nodes.begin();
  for (const auto& changed : graph.nodes) {
    if (const auto* child = std::get_if<SubGraph>(&changed->operation))
      take_over(*std::get<SubGraph>((*node)->operation).graph, *child->graph);
    else
      (*node)->operation = changed->operation;
    ++node;
  }
}

/// Calls `then(node)` with the executable graph's own copy of a node that can be disabled.
template <class Then> cudaError_t with_optional(cudaGraphExec_t ready, cudaGraphNode_t node, Then then) {
  return cuda_entry([&] {
    CUgraphNode_st* const own = is_live(ready) ? find_clone(*ready->graph, node) : nullptr;
    const auto type = own ? type_of(own->operation) : cudaGraphNodeTypeCount;
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy && type != cudaGraphNodeTypeMemset)
      return cudaErrorInvalidValue;
    return then(*own);
  });
}

} // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return cuda_entry([&] { return instantiate(ready, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(ready, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* ready, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return cuda_entry([&] {
    if (!parameters)
      return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(ready, graph, parameters->flags);
    parameters->errNode_out = nullptr;
    parameters->result_out = error == cudaSuccess                  ? cudaGraphInstantiateSuccess
                             : is_live(graph) && has_cycle(*graph) ? cudaGraphInstantiateInvalidStructure
                                                                   : cudaGraphInstantiateError;
    return error;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return cuda_entry([&] {
    if (!is_live(ready))
      return cudaErrorInvalidValue;
    delete ready;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t ready, unsigned long long* flags) {
  return cuda_entry([&] {
    if (!is_live(ready) || !flags)
      return cudaErrorInvalidValue;
    *flags = ready->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return cuda_entry([&] { return is_live(ready) ? launch(*ready, stream) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream) {
  return cuda_entry([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    return is_live(ready) ? cudaSuccess : cudaErrorInvalidValue; // the graph is already on its device
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return cuda_entry([&] {
    if (!is_live(ready) || !is_live(graph))
      return cudaErrorInvalidValue;
    cudaGraphNode_t differs = nullptr;
    const auto compared = compare(*ready->graph, *graph, &differs);
    if (result)
      *result = {compared, differs, nullptr};
    if (compared != cudaGraphExecUpdateSuccess)
      return cudaErrorGraphExecUpdateFailure;
    take_over(*ready->graph, *graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node, unsigned enabled) {
  return with_optional(ready, node, [&](CUgraphNode_st& own) {
    own.enabled = enabled != 0;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t ready, cudaGraphNode_t node, unsigned* enabled) {
  return with_optional(ready, node, [&](const CUgraphNode_st& own) {
    if (!enabled)
      return cudaErrorInvalidValue;
    *enabled = own.enabled;
    return cudaSuccess;
  });
}

/// Memory that graphs have reserved is released with them.
cudaError_t cudaDeviceGraphMemTrim(int number) {
  return cuda_entry([&] { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int number, cudaGraphMemAttributeType name, void* value) {
  return cuda_entry([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    if (!value || name < cudaGraphMemAttrUsedMemCurrent || name > cudaGraphMemAttrReservedMemHigh)
      return cudaErrorInvalidValue;
    const GraphMemory memory = graph_memory();
    const bool used = name == cudaGraphMemAttrUsedMemCurrent || name == cudaGraphMemAttrUsedMemHigh;
    const bool high = name == cudaGraphMemAttrUsedMemHigh || name == cudaGraphMemAttrReservedMemHigh;
    *static_cast<std::uint64_t*>(value) =
        used ? (high ? memory.max_live : memory.live) : (high ? memory.max_reserved : memory.reserved);
    return cudaSuccess;
  });
}
/// Resets the peaks.
cudaError_t cudaDeviceSetGraphMemAttribute(int number, cudaGraphMemAttributeType name, void* value) {
  return cuda_entry([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    const bool high = name == cudaGraphMemAttrUsedMemHigh || name == cudaGraphMemAttrReservedMemHigh;
    if (!high || !value || *static_cast<const std::uint64_t*>(value) != 0)
      return cudaErrorInvalidValue;
    reset_graph_memory_peaks();
    return cudaSuccess;
  });
}

} // extern "C"

PER_THREAD_NAME(cudaGraphInstantiateWithParams, ptsz)
PER_THREAD_NAME(cudaGraphLaunch, ptsz)
PER_THREAD_NAME(cudaGraphUpload, ptsz)
