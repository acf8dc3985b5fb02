// An operation on a stream as a value: performed at once, or stored in a graph (CUDA Runtime API, "Graph
// Management").
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/cpu/memory/allocation.h"
#include "trace/records.h"

#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace warplens::cpu {

/// A launch without its arguments.
struct KernelConfiguration {
  const void* function = nullptr;
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  dim3 cluster{1, 1, 1}; ///< that the launch sets
  std::optional<trace::AccessWindow> window = {};
};

/// Returns the error that the launch reports before it runs.
cudaError_t check_kernel(const KernelConfiguration& configuration);
/// Checks the launch and runs the kernel to its end.
cudaError_t run_kernel(const KernelConfiguration& configuration, void** arguments);
/// Applies a launch attribute to the configuration; one that this back end cannot follow is refused by name.
/// Hints are accepted.
cudaError_t apply(const cudaLaunchAttribute& attribute, KernelConfiguration& configuration);

/// A kernel's arguments, copied for a graph's node. Copies share the constant data.
class KernelArguments {
public:
  KernelArguments() = default;
  KernelArguments(const KernelRecord& kernel, void* const* arguments);
  void** pointers() const { return kept_ ? kept_->pointers.data() : nullptr; }

private:
  struct alignas(128) Chunk { // no parameter is aligned more strictly
    std::byte bytes[128];
  };
  struct Kept {
    std::vector<Chunk> memory;
    std::vector<void*> pointers;
  };
  std::shared_ptr<Kept> kept_;
};

using LaunchAttributes = std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue>;

struct KernelCall {
  KernelConfiguration configuration;
  KernelArguments arguments;
  LaunchAttributes attributes;
};

/// Checks and copies the arguments. `extra` arguments, one packed buffer, belong to the driver API.
cudaError_t create_kernel_call(const cudaKernelNodeParams& parameters, KernelCall& call);

/// A child graph, owned by its node.
struct SubGraph {
  std::shared_ptr<CUgraph_st> graph;
};
struct EventRecord {
  cudaEvent_t event;
};
struct EventWait {
  cudaEvent_t event;
};

struct Allocate {
  cudaMemAllocNodeParams parameters;
  std::shared_ptr<GraphAllocation> allocation;
};
struct Release {
  void* pointer;
};

/// The value that a conditional node goes by. A handle is its address; device code sets it.
struct Condition {
  unsigned value = 0, default_value = 0;
  bool is_reset = false; ///< to the default when its graph is launched
};
/// A node that runs one of its graphs, or one as long as the condition holds.
struct Conditional {
  Condition* condition; ///< of a handle, which lives until the process ends
  cudaGraphConditionalNodeType type;
  std::vector<std::shared_ptr<CUgraph_st>> bodies;
  std::shared_ptr<std::vector<cudaGraph_t>> handles; ///< the same graphs, for the program
};

/// The first alternative is a node that only orders others.
using Operation =
    std::variant<std::monostate, KernelCall, cudaMemcpy3DParms, cudaMemsetParams, cudaHostNodeParams,
                 SubGraph, EventRecord, EventWait, Allocate, Release, Conditional>;

cudaError_t perform(const Operation& operation);
/// Runs the graphs that the node's condition chooses.
cudaError_t run_conditional(const Conditional& node);
/// Returns the errors that can be found without accessing memory; performs nothing.
cudaError_t check(const Operation& operation);

/// Describe cudaMemcpy and cudaMemcpy2D as 3D copies.
cudaMemcpy3DParms linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaMemcpy3DParms plane_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind);

/// Describe cudaMemcpyToSymbol and cudaMemcpyFromSymbol as 3D copies.
cudaError_t describe_copy_to_symbol(cudaMemcpy3DParms& box, const void* symbol, const void* from,
                                    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t describe_copy_from_symbol(cudaMemcpy3DParms& box, void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind);

/// Sets the event's time to now. cudaErrorInvalidResourceHandle: the handle is no event.
cudaError_t record_event(cudaEvent_t event);
bool is_event(cudaEvent_t event);

} // namespace warplens::cpu
