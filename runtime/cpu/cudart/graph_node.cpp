// Graphs' nodes by kind: CUDA Runtime API, "Graph Management". One function creates each kind from its
// parameters; adding a node and changing one, in a graph or an executable graph, share it.
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/graph.h"

#include <cstdio>
#include <cstring>

using namespace warplens::cpu;

namespace {

cudaError_t create_operation(const cudaKernelNodeParams* parameters, Operation& made) {
  return parameters ? create_kernel_call(*parameters, made.emplace<KernelCall>()) : cudaErrorInvalidValue;
}
cudaError_t create_operation(const cudaMemcpy3DParms* box, Operation& made) {
  if (!box)
    return cudaErrorInvalidValue;
  made = *box;
  return cudaSuccess;
}
cudaError_t create_operation(const cudaMemsetParams* fill, Operation& made) {
  if (!fill)
    return cudaErrorInvalidValue;
  made = *fill;
  return check(made);
}
cudaError_t create_operation(const cudaHostNodeParams* call, Operation& made) {
  if (!call)
    return cudaErrorInvalidValue;
  made = *call;
  return check(made);
}
cudaError_t create_operation(cudaGraph_t child, Operation& made) {
  if (!is_live(child))
    return cudaErrorInvalidValue;
  made = SubGraph{clone(*child)};
  return cudaSuccess;
}
cudaError_t create_operation(EventRecord node, Operation& made) {
  made = node;
  return check(made);
}
cudaError_t create_operation(EventWait node, Operation& made) {
  made = node;
  return check(made);
}
cudaError_t create_operation(Release node, Operation& made) {
  made = node;
  return node.pointer ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t create_operation(cudaMemAllocNodeParams* parameters, Operation& made) {
  if (!parameters || parameters->bytesize == 0 || parameters->poolProps.handleTypes != cudaMemHandleTypeNone)
    return cudaErrorInvalidValue;
  auto allocation = reserve_graph_memory(parameters->bytesize);
  if (!allocation)
    return cudaErrorMemoryAllocation;
  parameters->dptr = allocation->address;
  made = Allocate{*parameters, std::move(allocation)};
  return cudaSuccess;
}

struct Copy1D {
  void* to;
  const void* from;
  std::size_t bytes;
  cudaMemcpyKind kind;
};
cudaError_t create_operation(const Copy1D& copy, Operation& made) {
  made = linear_copy(copy.to, copy.from, copy.bytes, copy.kind);
  return cudaSuccess;
}
struct CopyToSymbol {
  const void *symbol, *from;
  std::size_t bytes, offset;
  cudaMemcpyKind kind;
};
cudaError_t create_operation(const CopyToSymbol& copy, Operation& made) {
  return describe_copy_to_symbol(made.emplace<cudaMemcpy3DParms>(), copy.symbol, copy.from, copy.bytes,
                                 copy.offset, copy.kind);
}
struct CopyFromSymbol {
  void* to;
  const void* symbol;
  std::size_t bytes, offset;
  cudaMemcpyKind kind;
};
cudaError_t create_operation(const CopyFromSymbol& copy, Operation& made) {
  return describe_copy_from_symbol(made.emplace<cudaMemcpy3DParms>(), copy.to, copy.symbol, copy.bytes,
                                   copy.offset, copy.kind);
}

/// cudaGraphAddNode and the like take parameters of any kind. The current structs and those of the functions
/// for one kind have the same members.
cudaError_t create_operation(cudaGraphNodeParams* parameters, Operation& made) {
  if (!parameters)
    return cudaErrorInvalidValue;
  switch (parameters->type) {
  case cudaGraphNodeTypeKernel: {
    const auto& kernel = parameters->kernel;
    const cudaKernelNodeParams call{kernel.func,           kernel.gridDim,      kernel.blockDim,
                                    kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
    return create_operation(&call, made);
  }
  case cudaGraphNodeTypeMemcpy: return create_operation(&parameters->memcpy.copyParams, made);
  case cudaGraphNodeTypeMemset: {
    const auto& memset = parameters->memset;
    const cudaMemsetParams fill{memset.dst,         memset.pitch, memset.value,
                                memset.elementSize, memset.width, memset.height};
    return create_operation(&fill, made);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams call{parameters->host.fn, parameters->host.userData};
    return create_operation(&call, made);
  }
  case cudaGraphNodeTypeGraph: return create_operation(parameters->graph.graph, made);
  case cudaGraphNodeTypeEmpty: made = std::monostate(); return cudaSuccess;
  case cudaGraphNodeTypeWaitEvent: return create_operation(EventWait{parameters->eventWait.event}, made);
  case cudaGraphNodeTypeEventRecord:
    return create_operation(EventRecord{parameters->eventRecord.event}, made);
  case cudaGraphNodeTypeMemAlloc: {
    auto& alloc = parameters->alloc;
    cudaMemAllocNodeParams allocation{alloc.poolProps, alloc.accessDescs, alloc.accessDescCount,
                                      alloc.bytesize, nullptr};
    const cudaError_t error = create_operation(&allocation, made);
    alloc.dptr = allocation.dptr;
    return error;
  }
  case cudaGraphNodeTypeMemFree: return create_operation(Release{parameters->free.dptr}, made);
  case cudaGraphNodeTypeConditional: return create_conditional(parameters->conditional, made);
  case cudaGraphNodeTypeExtSemaphoreSignal:
  case cudaGraphNodeTypeExtSemaphoreWait:
    std::fputs("warplens: external semaphores' nodes in graphs are not supported by the CPU back end\n",
               stderr);
    return cudaErrorNotSupported;
  default: return cudaErrorInvalidValue;
  }
}

template <class Parameters>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                std::size_t count, Parameters parameters) {
  return cuda_entry([&] {
    Operation made;
    if (!node || !is_live(graph))
      return cudaErrorInvalidValue;
    const cudaError_t error = create_operation(parameters, made);
    return error == cudaSuccess ? add_node(*graph, std::move(made), dependencies, count, node) : error;
  });
}

/// Changes a node's parameters; its kind stays.
template <class Parameters> cudaError_t change(CUgraphNode_st& node, Parameters parameters) {
  Operation made;
  const cudaError_t error = create_operation(parameters, made);
  if (error != cudaSuccess)
    return error;
  if (made.index() != node.operation.index())
    return cudaErrorInvalidValue;
  if (auto* call = std::get_if<KernelCall>(&made)) {
    const auto& before = std::get<KernelCall>(node.operation);
    call->attributes = before.attributes;
    call->configuration.cooperative = before.configuration.cooperative;
    call->configuration.cluster = before.configuration.cluster;
  }
  node.operation = std::move(made);
  return cudaSuccess;
}

template <class Parameters> cudaError_t set(cudaGraphNode_t node, Parameters parameters) {
  return cuda_entry([&] { return is_live(node) ? change(*node, parameters) : cudaErrorInvalidValue; });
}

template <class Parameters>
cudaError_t set(cudaGraphExec_t ready, cudaGraphNode_t node, Parameters parameters) {
  return cuda_entry([&] {
    CUgraphNode_st* const clone = is_live(ready) ? find_clone(*ready->graph, node) : nullptr;
    return clone ? change(*clone, parameters) : cudaErrorInvalidValue;
  });
}

/// Implements `*result = get(operation)` for a node of that kind.
template <class Kind, class Result, class Get>
cudaError_t write_out(cudaGraphNode_t node, Result* result, Get get) {
  return cuda_entry([&] {
    if (!is_live(node) || !result || !std::holds_alternative<Kind>(node->operation))
      return cudaErrorInvalidValue;
    *result = get(std::get<Kind>(node->operation));
    return cudaSuccess;
  });
}
template <class Kind> cudaError_t write_out(cudaGraphNode_t node, Kind* result) {
  return write_out<Kind>(node, result, [](const Kind& operation) { return operation; });
}

/// Calls `then(call)` with a kernel node's call.
template <class Then> cudaError_t with_call(cudaGraphNode_t node, Then then) {
  return cuda_entry([&] {
    auto* const call = is_live(node) ? std::get_if<KernelCall>(&node->operation) : nullptr;
    return call ? then(*call) : cudaErrorInvalidValue;
  });
}

} // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* parameters) {
  return add(node, graph, dependencies, count, parameters);
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return set(node, parameters);
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  return set(ready, node, parameters);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return cuda_entry([&] {
    return node && is_live(graph) ? add_node(*graph, {}, dependencies, count, node) : cudaErrorInvalidValue;
  });
}

// Kernels.

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add(node, graph, dependencies, count, parameters);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return set(node, parameters);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return set(ready, node, parameters);
}
/// The node still owns the arguments.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return write_out<KernelCall>(node, parameters, [](const KernelCall& call) {
    const auto& configuration = call.configuration;
    return cudaKernelNodeParams{const_cast<void*>(configuration.function),
                                configuration.grid,
                                configuration.block,
                                static_cast<unsigned>(configuration.dynamic_shared_bytes),
                                call.arguments.pointers(),
                                nullptr};
  });
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return with_call(node, [&](KernelCall& call) {
    if (!value)
      return cudaErrorInvalidValue;
    cudaLaunchAttribute attribute{};
    attribute.id = id;
    attribute.val = *value;
    KernelConfiguration changed = call.configuration;
    if (const cudaError_t error = apply(attribute, changed); error != cudaSuccess)
      return error;
    call.attributes[id] = *value;
    call.configuration = changed;
    return cudaSuccess;
  });
}
/// An attribute that was never set has the value 0.
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return with_call(node, [&](const KernelCall& call) {
    if (!value)
      return cudaErrorInvalidValue;
    const auto found = call.attributes.find(id);
    *value = found == call.attributes.end() ? cudaLaunchAttributeValue{} : found->second;
    if (id == cudaLaunchAttributeCooperative)
      value->cooperative = call.configuration.cooperative;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with_call(from, [&](const KernelCall& source) {
    auto* const target = is_live(to) ? std::get_if<KernelCall>(&to->operation) : nullptr;
    if (!target)
      return cudaErrorInvalidValue;
    target->attributes = source.attributes;
    target->configuration.cooperative = source.configuration.cooperative;
    target->configuration.cluster = source.configuration.cluster;
    return cudaSuccess;
  });
}

// Copies.

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* box) {
  return add(node, graph, dependencies, count, box);
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* box) {
  return set(node, box);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* box) {
  return set(ready, node, box);
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* box) {
  return write_out(node, box);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, Copy1D{to, from, bytes, kind});
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return set(node, Copy1D{to, from, bytes, kind});
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t ready, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return set(ready, node, Copy1D{to, from, bytes, kind});
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, CopyToSymbol{symbol, from, bytes, offset, kind});
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set(node, CopyToSymbol{symbol, from, bytes, offset, kind});
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                     const void* symbol, const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  return set(ready, node, CopyToSymbol{symbol, from, bytes, offset, kind});
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                             const void* symbol, std::size_t bytes, std::size_t offset,
                                             cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, CopyFromSymbol{to, symbol, bytes, offset, kind});
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                   std::size_t bytes, std::size_t offset,
                                                   cudaMemcpyKind kind) {
  return set(node, CopyFromSymbol{to, symbol, bytes, offset, kind});
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t ready, cudaGraphNode_t node, void* to,
                                                       const void* symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
  return set(ready, node, CopyFromSymbol{to, symbol, bytes, offset, kind});
}

// Fills.

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* fill) {
  return add(node, graph, dependencies, count, fill);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* fill) {
  return set(node, fill);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                             const cudaMemsetParams* fill) {
  return set(ready, node, fill);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* fill) {
  return write_out(node, fill);
}

// Host functions.

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* call) {
  return add(node, graph, dependencies, count, call);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* call) {
  return set(node, call);
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                           const cudaHostNodeParams* call) {
  return set(ready, node, call);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* call) {
  return write_out(node, call);
}

// Child graphs.

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return add(node, graph, dependencies, count, child);
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return set(ready, node, child);
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  return write_out<SubGraph>(node, child, [](const SubGraph& owned) { return owned.graph.get(); });
}

// Events.

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add(node, graph, dependencies, count, EventRecord{event});
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, EventRecord{event});
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set(ready, node, EventRecord{event});
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return write_out<EventRecord>(node, event, [](const EventRecord& recorded) { return recorded.event; });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add(node, graph, dependencies, count, EventWait{event});
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, EventWait{event});
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t ready, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set(ready, node, EventWait{event});
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return write_out<EventWait>(node, event, [](const EventWait& awaited) { return awaited.event; });
}

// Memory.

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return add(node, graph, dependencies, count, parameters);
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return write_out<Allocate>(node, parameters, [](const Allocate& allocate) { return allocate.parameters; });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count, void* pointer) {
  return add(node, graph, dependencies, count, Release{pointer});
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return write_out<Release>(node, static_cast<void**>(pointer),
                            [](const Release& release) { return release.pointer; });
}

} // extern "C"
