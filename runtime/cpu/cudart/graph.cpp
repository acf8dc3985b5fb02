#include "runtime/cpu/cudart/graph.h"

#include "runtime/cpu/cudart/user_object.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_set>

namespace warplens::cpu {
namespace {

/// All live graphs, nodes and executable graphs: handles are checked before use.
struct Handles {
  std::mutex mutex;
  std::unordered_set<const void*> all;
};
Handles& handles() {
  static auto& instance = *new Handles;
  return instance;
}

void begin_life(const void* handle) {
  const std::lock_guard lock(handles().mutex);
  handles().all.insert(handle);
}
void end_life(const void* handle) {
  const std::lock_guard lock(handles().mutex);
  handles().all.erase(handle);
}
bool lives(const void* handle) {
  const std::lock_guard lock(handles().mutex);
  return handles().all.contains(handle);
}

Operation clone_operation(const Operation& operation) {
  if (const auto* child = std::get_if<SubGraph>(&operation))
    return SubGraph{clone(*child->graph)};
  if (const auto* node = std::get_if<Conditional>(&operation)) {
    Conditional copy{node->condition, node->type, {}, std::make_shared<std::vector<cudaGraph_t>>()};
    for (const auto& body : node->bodies)
      copy.handles->push_back(copy.bodies.emplace_back(clone(*body)).get());
    return copy;
  }
  return operation;
}

} // namespace

bool is_live(const CUgraph_st* graph) {
  return lives(graph);
}
bool is_live(const CUgraphNode_st* node) {
  return lives(node);
}
bool is_live(const CUgraphExec_st* ready) {
  return lives(ready);
}

cudaError_t add_node(CUgraph_st& graph, Operation operation, const cudaGraphNode_t* dependencies,
                     std::size_t count, cudaGraphNode_t* node) {
  if (count && !dependencies)
    return cudaErrorInvalidValue;
  const std::set<cudaGraphNode_t> before(dependencies, dependencies + count);
  if (before.size() != count || std::ranges::any_of(before, [&](cudaGraphNode_t one) {
        return !is_live(one) || &one->graph != &graph;
      }))
    return cudaErrorInvalidValue;
  auto made = std::make_unique<CUgraphNode_st>(graph, std::move(operation));
  made->dependencies.assign(dependencies, dependencies + count);
  if (node)
    *node = made.get();
  graph.nodes.push_back(std::move(made));
  return cudaSuccess;
}

std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph) {
  auto copy = std::make_unique<CUgraph_st>();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> clones;
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<CUgraphNode_st>(*copy, clone_operation(node->operation));
    made->original = node.get();
    made->enabled = node->enabled;
    clones[node.get()] = made.get();
    copy->nodes.push_back(std::move(made));
  }
  for (const auto& node : copy->nodes) // a dependency may have been added before the nodes that depend on it
    for (CUgraphNode_st* dependency : node->original->dependencies)
      node->dependencies.push_back(clones.at(dependency));
  for (const auto& [object, count] : graph.user_objects) {
    retain(*object, count);
    copy->user_objects[object] = count;
  }
  return copy;
}

CUgraphNode_st* find_clone(const CUgraph_st& graph, const CUgraphNode_st* original) {
  for (const auto& node : graph.nodes) {
    if (node->original == original)
      return node.get();
    if (const auto* child = std::get_if<SubGraph>(&node->operation))
      if (CUgraphNode_st* inside = find_clone(*child->graph, original))
        return inside;
    if (const auto* conditional = std::get_if<Conditional>(&node->operation))
      for (const auto& body : conditional->bodies)
        if (CUgraphNode_st* inside = find_clone(*body, original))
          return inside;
  }
  return nullptr;
}

std::vector<CUgraphNode_st*> topological_order(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> order;
  std::set<const CUgraphNode_st*> done;
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : graph.nodes)
      if (!done.contains(node.get()) &&
          std::ranges::all_of(node->dependencies, [&](const auto* one) { return done.contains(one); })) {
        done.insert(node.get());
        order.push_back(node.get());
        found = true;
      }
  }
  return order;
}

cudaError_t run_graph(const CUgraph_st& graph) {
  for (const CUgraphNode_st* node : topological_order(graph)) {
    const cudaError_t error = node->enabled ? perform(node->operation) : cudaSuccess;
    if (error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

cudaGraphNodeType type_of(const Operation& operation) {
  constexpr cudaGraphNodeType types[] = {
      cudaGraphNodeTypeEmpty,       cudaGraphNodeTypeKernel,     cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,      cudaGraphNodeTypeHost,       cudaGraphNodeTypeGraph,
      cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,  cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree,     cudaGraphNodeTypeConditional};
  static_assert(std::size(types) == std::variant_size_v<Operation>);
  return types[operation.index()];
}

} // namespace warplens::cpu

using namespace warplens::cpu;

CUgraphNode_st::CUgraphNode_st(CUgraph_st& of, Operation what) : graph(of), operation(std::move(what)) {
  begin_life(this);
}
CUgraphNode_st::~CUgraphNode_st() {
  end_life(this);
}
CUgraph_st::CUgraph_st() {
  begin_life(this);
}
CUgraph_st::~CUgraph_st() {
  end_life(this);
  for (const auto& [object, count] : user_objects)
    release(*object, count);
}
CUgraphExec_st::CUgraphExec_st() {
  begin_life(this);
}
CUgraphExec_st::~CUgraphExec_st() {
  end_life(this);
}
