// Conditional nodes of graphs: CUDA C++ Programming Guide, "Conditional Graph Nodes".
#include "runtime/abi/intrinsics.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/graph.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace warplens::cpu {
namespace {

/// All conditions: a handle is checked before use.
struct Conditions {
  std::mutex mutex;
  std::unordered_set<const Condition*> all;
};
Conditions& conditions() {
  static auto& instance = *new Conditions;
  return instance;
}

bool exists(const Condition* condition) {
  const std::lock_guard lock(conditions().mutex);
  return conditions().all.contains(condition);
}

unsigned value_of(Condition& condition) {
  return std::atomic_ref(condition.value).load();
}

} // namespace

cudaError_t create_conditional(cudaConditionalNodeParams& parameters, Operation& made) {
  const bool is_switch = parameters.type == cudaGraphCondTypeSwitch;
  const unsigned most = parameters.type == cudaGraphCondTypeWhile ? 1 : 2;
  if (!exists(reinterpret_cast<Condition*>(parameters.handle)) || parameters.size == 0 ||
      (!is_switch && parameters.size > most))
    return cudaErrorInvalidValue;
  Conditional node{reinterpret_cast<Condition*>(parameters.handle),
                   parameters.type,
                   {},
                   std::make_shared<std::vector<cudaGraph_t>>()};
  for (unsigned i = 0; i < parameters.size; ++i)
    node.handles->push_back(node.bodies.emplace_back(std::make_shared<CUgraph_st>()).get());
  parameters.phGraph_out = node.handles->data();
  made = std::move(node);
  return cudaSuccess;
}

cudaError_t run_conditional(const Conditional& node) {
  if (node.type == cudaGraphCondTypeWhile) {
    while (value_of(*node.condition) != 0)
      if (const cudaError_t error = run_graph(*node.bodies.front());
          error != cudaSuccess || context_error() != cudaSuccess)
        return error;
    return cudaSuccess;
  }
  const unsigned value = value_of(*node.condition);
  const unsigned chosen = node.type == cudaGraphCondTypeSwitch ? value : value != 0 ? 0 : 1;
  return chosen < node.bodies.size() ? run_graph(*node.bodies[chosen]) : cudaSuccess;
}

void reset_conditions(const CUgraph_st& graph) {
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<SubGraph>(&node->operation))
      reset_conditions(*child->graph);
    const auto* conditional = std::get_if<Conditional>(&node->operation);
    if (!conditional)
      continue;
    if (conditional->condition->is_reset)
      std::atomic_ref(conditional->condition->value).store(conditional->condition->default_value);
    for (const auto& body : conditional->bodies)
      reset_conditions(*body);
  }
}

} // namespace warplens::cpu

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  return cuda_entry([&] {
    if (!handle || !is_live(graph) || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0)
      return cudaErrorInvalidValue;
    // Copies of the graph share the condition, and kernels may set it whenever they run.
    auto* const condition =
        new Condition{default_value, default_value, (flags & cudaGraphCondAssignDefault) != 0};
    const std::lock_guard lock(conditions().mutex);
    conditions().all.insert(condition);
    *handle = reinterpret_cast<cudaGraphConditionalHandle>(condition);
    return cudaSuccess;
  });
}

void __warplens_cpu_set_condition(std::uint64_t handle, unsigned value) {
  std::atomic_ref(reinterpret_cast<Condition*>(handle)->value).store(value);
}

} // extern "C"
