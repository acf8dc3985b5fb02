// Graphs of operations: what the API's opaque pointers to graphs, their nodes and what was made ready of
// them point to.
#pragma once

#include "runtime/cpu/operation.h"

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
  std::vector<CUgraphNode_st*> dependencies; ///< in the order they were given
  CUgraphNode_st* original = nullptr;        ///< of a clone's
  bool enabled = true;                       ///< of what was made ready
};

struct CUgraph_st {
  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;

  std::list<std::unique_ptr<CUgraphNode_st>> nodes;  ///< in the order they were added
  std::map<CUuserObject_st*, unsigned> user_objects; ///< with the references that the graph holds
};

struct CUgraphExec_st {
  CUgraphExec_st();
  ~CUgraphExec_st();
  CUgraphExec_st(const CUgraphExec_st&) = delete;

  std::unique_ptr<CUgraph_st> graph; ///< a clone
  unsigned long long flags = 0;
};

namespace warplens::cpu {

/// Is it one, and not destroyed?
bool is_live(const CUgraph_st* graph);
bool is_live(const CUgraphNode_st* node);
bool is_live(const CUgraphExec_st* ready);

/// cudaErrorInvalidValue: a dependency is not in the graph, or given twice.
cudaError_t add_node(CUgraph_st& graph, Operation operation, const cudaGraphNode_t* dependencies,
                     std::size_t count, cudaGraphNode_t* node);
/// All of a graph again, child graphs too; nodes know which they were cloned from.
std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph);
/// The node that was cloned from `original`, in the graph or a child graph; null: none.
CUgraphNode_st* find_clone(const CUgraph_st& graph, const CUgraphNode_st* original);

/// The nodes, each behind those it depends on; fewer than there are: some depend on each other in a circle.
std::vector<CUgraphNode_st*> in_order(const CUgraph_st& graph);
/// Runs all enabled nodes. The first error ends it.
cudaError_t run_graph(const CUgraph_st& graph);

cudaGraphNodeType type_of(const Operation& operation);

} // namespace warplens::cpu
