// Graphs made ready to run, and run: CUDA Runtime API, "Graph Management".
#include "runtime/cpu/capture.h"
#include "runtime/cpu/cudart_error.h"

#include <algorithm>
#include <cstdint>

using namespace warplens::cpu;

namespace {

constexpr unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                           cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagUseNodePriority;

/// Child graphs too.
bool has_circle(const CUgraph_st& graph) {
  return in_order(graph).size() != graph.nodes.size() ||
         std::ranges::any_of(graph.nodes, [](const auto& node) {
           const auto* child = std::get_if<SubGraph>(&node->operation);
           return child && has_circle(*child->graph);
         });
}

cudaError_t instantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  if (!ready || !is_live(graph) || has_circle(*graph))
    return cudaErrorInvalidValue;
  if ((flags & ~known_flags) != 0) // to be launched from device code
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

/// In a stream under capture it becomes a child graph.
cudaError_t launch(const CUgraphExec_st& ready, cudaStream_t stream) {
  if (const StreamState state = state_of(stream); state.captured || state.error != cudaSuccess)
    return issue(stream, SubGraph{clone(*ready.graph)});
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  if (ready.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    free_allocations(*ready.graph);
  return run_graph(*ready.graph);
}

std::vector<CUgraphNode_st*> list(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> nodes;
  for (const auto& node : graph.nodes)
    nodes.push_back(node.get());
  return nodes;
}

/// A node's dependencies, as numbers.
std::vector<std::ptrdiff_t> places(const CUgraphNode_st& node, const std::vector<CUgraphNode_st*>& all) {
  std::vector<std::ptrdiff_t> found;
  for (CUgraphNode_st* dependency : node.dependencies)
    found.push_back(std::ranges::find(all, dependency) - all.begin());
  std::ranges::sort(found);
  return found;
}

/// Nodes correspond by the order in which they were added.
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
    if (std::holds_alternative<Allocate>(new_one) || std::holds_alternative<Release>(new_one))
      return cudaGraphExecUpdateErrorNotSupported; // memory stays the graph's that it was made for
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

/// `then(node)` for the ready graph's own of a node that can be left out.
template <class Then> cudaError_t with_optional(cudaGraphExec_t ready, cudaGraphNode_t node, Then then) {
  return api([&] {
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
  return api([&] { return instantiate(ready, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(ready, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* ready, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return api([&] {
    if (!parameters)
      return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(ready, graph, parameters->flags);
    parameters->errNode_out = nullptr;
    parameters->result_out = error == cudaSuccess                   ? cudaGraphInstantiateSuccess
                             : is_live(graph) && has_circle(*graph) ? cudaGraphInstantiateInvalidStructure
                                                                    : cudaGraphInstantiateError;
    return error;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return api([&] {
    if (!is_live(ready))
      return cudaErrorInvalidValue;
    delete ready;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t ready, unsigned long long* flags) {
  return api([&] {
    if (!is_live(ready) || !flags)
      return cudaErrorInvalidValue;
    *flags = ready->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return api([&] { return is_live(ready) ? launch(*ready, stream) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream) {
  return api([&] {
    if (!is_stream(stream))
      return cudaErrorInvalidResourceHandle;
    return is_live(ready) ? cudaSuccess : cudaErrorInvalidValue; // it is where it runs
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t ready, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return api([&] {
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

/// What graphs have reserved goes with them.
cudaError_t cudaDeviceGraphMemTrim(int number) {
  return api([&] { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int number, cudaGraphMemAttributeType name, void* value) {
  return api([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    if (!value || name < cudaGraphMemAttrUsedMemCurrent || name > cudaGraphMemAttrReservedMemHigh)
      return cudaErrorInvalidValue;
    const GraphMemory memory = graph_memory();
    const bool used = name == cudaGraphMemAttrUsedMemCurrent || name == cudaGraphMemAttrUsedMemHigh;
    const bool high = name == cudaGraphMemAttrUsedMemHigh || name == cudaGraphMemAttrReservedMemHigh;
    *static_cast<std::uint64_t*>(value) =
        used ? (high ? memory.most_live : memory.live) : (high ? memory.most_reserved : memory.reserved);
    return cudaSuccess;
  });
}
/// The most there was can be reset.
cudaError_t cudaDeviceSetGraphMemAttribute(int number, cudaGraphMemAttributeType name, void* value) {
  return api([&] {
    if (number != 0)
      return cudaErrorInvalidDevice;
    const bool high = name == cudaGraphMemAttrUsedMemHigh || name == cudaGraphMemAttrReservedMemHigh;
    if (!high || !value || *static_cast<const std::uint64_t*>(value) != 0)
      return cudaErrorInvalidValue;
    forget_most_graph_memory();
    return cudaSuccess;
  });
}

} // extern "C"

PER_THREAD_FORM(cudaGraphInstantiateWithParams, ptsz)
PER_THREAD_FORM(cudaGraphLaunch, ptsz)
PER_THREAD_FORM(cudaGraphUpload, ptsz)
