// Graphs of operations: the targets of the API's opaque pointers to graphs, nodes and executable graphs.
#pragma once

#include "runtime/cpu/cudart/operation.h"

#include <list>
#include <map>
#include <memory>
#include <vector>

struct CUuserObject_st;

struct CUgraphNode_st {
  CUgraphNode_st(CUgraph_st& of, warplens::cpu::Operation what);
  ~CUgraphNode_st();
  CUgraphNode_st(const CUgraphNode_st&) = delete;

  CUgraph_st& graph;
  warplens::cpu::Operation operation;
  std::vector<CUgraphNode_st*> dependencies; ///< ordered by the calls that added them
  CUgraphNode_st* original = nullptr;        ///< a clone's original
  bool enabled = true;                       ///< false: disabled in an executable graph
};

struct CUgraph_st {
  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;

  std::list<std::unique_ptr<CUgraphNode_st>> nodes; ///< ordered by their addition
  std::map<CUuserObject_st*, unsigned>
      user_objects; ///< user objects and the number of references that the graph holds
};

struct CUgraphExec_st {
  CUgraphExec_st();
  ~CUgraphExec_st();
  CUgraphExec_st(const CUgraphExec_st&) = delete;

  std::unique_ptr<CUgraph_st> graph; ///< a clone
  unsigned long long flags = 0;
};

namespace warplens::cpu {

/// Return whether the handle is valid and not destroyed.
bool is_live(const CUgraph_st* graph);
bool is_live(const CUgraphNode_st* node);
bool is_live(const CUgraphExec_st* ready);

/// Adds a node. cudaErrorInvalidValue: a dependency is not in the graph, or listed twice.
cudaError_t add_node(CUgraph_st& graph, Operation operation, const cudaGraphNode_t* dependencies,
                     std::size_t count, cudaGraphNode_t* node);
/// Clones a graph with its child graphs; nodes refer to their originals.
std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph);
/// Returns the node that was cloned from `original`, in the graph or a child graph; null if there is none.
CUgraphNode_st* find_clone(const CUgraph_st& graph, const CUgraphNode_st* original);

/// Returns the nodes, each after those it depends on. Nodes on a cycle, and those that depend on one, are
/// missing.
std::vector<CUgraphNode_st*> topological_order(const CUgraph_st& graph);
/// Runs all enabled nodes and stops at the first error.
cudaError_t run_graph(const CUgraph_st& graph);

/// Describes a conditional node with empty graphs, which are written to the parameters.
cudaError_t create_conditional(cudaConditionalNodeParams& parameters, Operation& made);
/// Sets the conditions of a graph that is launched to their defaults.
void reset_conditions(const CUgraph_st& graph);

cudaGraphNodeType type_of(const Operation& operation);

} // namespace warplens::cpu
