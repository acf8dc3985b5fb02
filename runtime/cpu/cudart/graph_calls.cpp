// Graphs and their edges: CUDA Runtime API, "Graph Management".
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/cudart/graph.h"
#include "runtime/cpu/cudart/user_object.h"
#include "runtime/cpu/device/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <mutex>

/// The target of the API's opaque pointers to user objects.
struct CUuserObject_st {
  void* data;
  cudaHostFn_t destroy;
  unsigned references;
};

namespace warplens::cpu {
namespace {

std::mutex references_mutex;

} // namespace

void retain(CUuserObject_st& object, unsigned count) {
  const std::lock_guard lock(references_mutex);
  object.references += count;
}

bool release(CUuserObject_st& object, unsigned count) {
  {
    const std::lock_guard lock(references_mutex);
    if (object.references < count)
      return false;
    object.references -= count;
    if (object.references > 0)
      return true;
  }
  call_program(object.destroy, object.data);
  delete &object;
  return true;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

namespace {

/// Calls `then()` if the handle is valid.
template <class Handle, class Then> cudaError_t with_valid_handle(Handle handle, Then then) {
  return cuda_entry([&] { return is_live(handle) ? then() : cudaErrorInvalidValue; });
}

/// Writes a list as the API returns lists: without an array only its length; with an array larger than
/// needed, the rest is null.
cudaError_t write_out(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t* nodes, std::size_t* count) {
  if (!count)
    return cudaErrorInvalidValue;
  if (nodes)
    for (std::size_t i = 0; i < *count; ++i)
      nodes[i] = i < all.size() ? all[i] : nullptr;
  if (!nodes || *count > all.size())
    *count = all.size();
  return cudaSuccess;
}

/// Clears the edges' data: each edge only orders two nodes.
void clear(cudaGraphEdgeData* edges, std::size_t count) {
  for (std::size_t i = 0; edges && i < count; ++i)
    edges[i] = {};
}

std::vector<cudaGraphNode_t> dependents_of(const CUgraphNode_st& node) {
  std::vector<cudaGraphNode_t> found;
  for (const auto& other : node.graph.nodes)
    if (std::ranges::find(other->dependencies, &node) != other->dependencies.end())
      found.push_back(other.get());
  return found;
}

/// Calls `change(from, to)` for each edge, after checking that all are between the graph's nodes.
template <class Change>
cudaError_t for_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                      std::size_t count, Change change) {
  return with_valid_handle(graph, [&] {
    if (count && (!from || !to))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      for (const cudaGraphNode_t node : {from[i], to[i]})
        if (!is_live(node) || &node->graph != graph)
          return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (std::size_t i = 0; i < count && error == cudaSuccess; ++i)
      error = change(*from[i], to[i]->dependencies);
    return error;
  });
}

std::string label(const CUgraphNode_st& node) {
  static constexpr const char* names[] = {"empty",       "kernel",       "memcpy",     "memset",     "host",
                                          "child graph", "event record", "event wait", "allocation", "free"};
  const auto* call = std::get_if<KernelCall>(&node.operation);
  const Kernel* kernel = call ? find_kernel(call->configuration.function) : nullptr;
  return kernel ? kernel->demangled : names[node.operation.index()];
}

} // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return cuda_entry([&] {
    if (!graph || flags != 0)
      return cudaErrorInvalidValue;
    *graph = new CUgraph_st;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return with_valid_handle(graph, [&] {
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  return with_valid_handle(graph, [&] {
    if (!copy)
      return cudaErrorInvalidValue;
    *copy = clone(*graph).release();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t copy) {
  return with_valid_handle(copy, [&] {
    if (!node)
      return cudaErrorInvalidValue;
    *node = find_clone(*copy, original);
    return *node ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return with_valid_handle(node, [&] {
    if (!type)
      return cudaErrorInvalidValue;
    *type = type_of(node->operation);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return with_valid_handle(graph, [&] {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes)
      all.push_back(node.get());
    return write_out(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return with_valid_handle(graph, [&] {
    std::vector<cudaGraphNode_t> roots;
    for (const auto& node : graph->nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    return write_out(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, std::size_t* count) {
  return with_valid_handle(graph, [&] {
    if (!count || !from != !to)
      return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> starts, ends;
    for (const auto& node : graph->nodes)
      for (const cudaGraphNode_t dependency : node->dependencies) {
        starts.push_back(dependency);
        ends.push_back(node.get());
      }
    std::size_t capacity = *count;
    clear(edges, from ? std::min(capacity, starts.size()) : 0);
    write_out(starts, from, &capacity);
    return write_out(ends, to, count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, std::size_t* count) {
  return with_valid_handle(node, [&] {
    clear(edges, nodes && count ? std::min(*count, node->dependencies.size()) : 0);
    return write_out(node->dependencies, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* edges, std::size_t* count) {
  return with_valid_handle(node, [&] {
    const auto all = dependents_of(*node);
    clear(edges, nodes && count ? std::min(*count, all.size()) : 0);
    return write_out(all, nodes, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*, std::size_t count) {
  return for_edges(graph, from, to, count, [](CUgraphNode_st& start, std::vector<cudaGraphNode_t>& before) {
    if (std::ranges::find(before, &start) != before.end())
      return cudaErrorInvalidValue;
    before.push_back(&start);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        std::size_t count) {
  return for_edges(graph, from, to, count, [](CUgraphNode_st& start, std::vector<cudaGraphNode_t>& before) {
    return std::erase(before, &start) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_valid_handle(node, [&] {
    CUgraph_st& graph = node->graph;
    for (const auto& other : graph.nodes)
      std::erase(other->dependencies, node);
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == node; });
    return cudaSuccess;
  });
}

/// Ignores the flags, which request more detail.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return with_valid_handle(graph, [&] {
    std::ofstream file(path ? path : "");
    file << "digraph graph_1 {\n";
    std::map<const CUgraphNode_st*, std::size_t> numbers;
    for (const auto& node : graph->nodes) {
      numbers.emplace(node.get(), numbers.size());
      file << fmt::format("  node_{} [label=\"{}\"];\n", numbers.at(node.get()), label(*node));
    }
    for (const auto& node : graph->nodes)
      for (const auto* dependency : node->dependencies)
        file << fmt::format("  node_{} -> node_{};\n", numbers.at(dependency), numbers.at(node.get()));
    file << "}\n";
    return file.flush() ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return cuda_entry([&] {
    if (!object || !destroy || references == 0 || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    *object = new CUuserObject_st{data, destroy, references};
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return cuda_entry([&] {
    if (!object || count == 0)
      return cudaErrorInvalidValue;
    retain(*object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return cuda_entry(
      [&] { return object && count && release(*object, count) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return with_valid_handle(graph, [&] {
    if (!object || count == 0 || flags > cudaGraphUserObjectMove)
      return cudaErrorInvalidValue;
    if (flags != cudaGraphUserObjectMove) // else the caller's references become the graph's
      retain(*object, count);
    graph->user_objects[object] += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return with_valid_handle(graph, [&] {
    const auto held = graph->user_objects.find(object);
    if (held == graph->user_objects.end() || count == 0 || held->second < count)
      return cudaErrorInvalidValue;
    held->second -= count;
    if (held->second == 0)
      graph->user_objects.erase(held);
    release(*object, count);
    return cudaSuccess;
  });
}

} // extern "C"
