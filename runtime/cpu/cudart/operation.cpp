#include "runtime/cpu/cudart/operation.h"

#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/graph.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/memory/copy.h"

#include <cstring>

namespace warplens::cpu {
namespace {

struct Performer {
  cudaError_t operator()(std::monostate) const { return cudaSuccess; }
  cudaError_t operator()(const KernelCall& call) const {
    return run_kernel(call.configuration, call.arguments.pointers());
  }
  cudaError_t operator()(const cudaMemcpy3DParms& box) const { return copy_box(&box); }
  cudaError_t operator()(const cudaMemsetParams& fill) const { return fill_elements(fill); }
  cudaError_t operator()(const cudaHostNodeParams& call) const {
    call_program(call.fn, call.userData);
    return cudaSuccess;
  }
  cudaError_t operator()(const SubGraph& child) const { return run_graph(*child.graph); }
  cudaError_t operator()(const EventRecord& node) const { return record_event(node.event); }
  cudaError_t operator()(const EventWait& node) const {
    return is_event(node.event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  cudaError_t operator()(const Allocate& node) const { return begin_graph_allocation(*node.allocation); }
  cudaError_t operator()(const Release& node) const { return release_memory(node.pointer); }
  cudaError_t operator()(const Conditional& node) const { return run_conditional(node); }
};

} // namespace

KernelArguments::KernelArguments(const KernelRecord& kernel, void* const* arguments)
    : kept_(std::make_shared<Kept>()) {
  const auto count = kernel.parameter_count;
  const std::size_t bytes =
      count ? std::size_t{kernel.parameters[count - 1].offset} + kernel.parameters[count - 1].bytes : 0;
  kept_->memory.resize((bytes + sizeof(Chunk) - 1) / sizeof(Chunk));
  for (std::uint32_t i = 0; i < count; ++i) {
    const ParameterRecord& parameter = kernel.parameters[i];
    std::byte* const place = kept_->memory.data()->bytes + parameter.offset;
    std::memcpy(place, arguments[i], parameter.bytes);
    kept_->pointers.push_back(place);
  }
}

cudaError_t create_kernel_call(const cudaKernelNodeParams& parameters, KernelCall& call) {
  call.configuration.function = parameters.func;
  call.configuration.grid = parameters.gridDim;
  call.configuration.block = parameters.blockDim;
  call.configuration.dynamic_shared_bytes = parameters.sharedMemBytes;
  if (const cudaError_t error = check_kernel(call.configuration); error != cudaSuccess)
    return error;
  const KernelRecord& kernel = *find_kernel(parameters.func)->record;
  if (parameters.extra || (kernel.parameter_count && !parameters.kernelParams))
    return cudaErrorInvalidValue;
  call.arguments = KernelArguments(kernel, parameters.kernelParams);
  return cudaSuccess;
}

cudaError_t perform(const Operation& operation) {
  return std::visit(Performer(), operation);
}

cudaError_t check(const Operation& operation) {
  if (const auto* call = std::get_if<KernelCall>(&operation))
    return check_kernel(call->configuration);
  if (const auto* fill = std::get_if<cudaMemsetParams>(&operation))
    return fill->dst && (fill->elementSize == 1 || fill->elementSize == 2 || fill->elementSize == 4)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  if (const auto* call = std::get_if<cudaHostNodeParams>(&operation))
    return call->fn ? cudaSuccess : cudaErrorInvalidValue;
  if (const auto* node = std::get_if<EventRecord>(&operation))
    return is_event(node->event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  if (const auto* node = std::get_if<EventWait>(&operation))
    return is_event(node->event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  return cudaSuccess;
}

cudaMemcpy3DParms linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return plane_copy(to, bytes, from, bytes, bytes, 1, kind);
}

cudaMemcpy3DParms plane_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms box{};
  box.dstPtr = {to, to_pitch, width, height};
  box.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  box.extent = {width, height, 1};
  box.kind = kind;
  return box;
}

} // namespace warplens::cpu
