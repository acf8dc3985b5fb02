// Forward data flow over Clang's control-flow graph, independent of the facts that flow.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Analysis/Analyses/PostOrderCFGView.h>
#include <clang/Analysis/CFG.h>
#include <clang/Analysis/FlowSensitive/DataflowWorklist.h>
#include <llvm/ADT/DenseMap.h>
#include <memory>
#include <vector>

namespace warplens::analysis {

/// The facts about each variable at one point of a function. `Fact` has `bool join(const Fact&)`, which forms
/// the least upper bound and returns whether it changed something. A variable without an entry has no value
/// yet (the lattice's bottom).
template <class Fact> class Variables {
public:
  Fact get(const clang::VarDecl* variable) const { return facts_.lookup(variable); }
  void assign(const clang::VarDecl* variable, Fact fact) { facts_[variable] = std::move(fact); }
  void weaken(const clang::VarDecl* variable, const Fact& fact) { facts_[variable].join(fact); }
  bool join(const Variables& other) {
    bool changed = false;
    for (const auto& [variable, fact] : other.facts_)
      changed |= facts_[variable].join(fact);
    return changed;
  }

private:
  llvm::DenseMap<const clang::VarDecl*, Fact> facts_;
};

/// Returns the graph of a function's body with every expression as an element of its own, in evaluation
/// order, or null if Clang builds none.
inline std::unique_ptr<clang::CFG> build_graph(const clang::FunctionDecl& function,
                                               clang::ASTContext& context) {
  clang::CFG::BuildOptions options;
  options.setAllAlwaysAdd();
  options.AddInitializers = true;
  options.AddImplicitDtors = false;
  return clang::CFG::buildCFG(&function, function.getBody(), &context, options);
}

/// Runs `transfer(element, state)` over the graph until the states at all block entries are stable (Kildall's
/// worklist algorithm).
template <class State, class Transfer>
void run_forward(const clang::CFG& graph, const State& at_entry, Transfer&& transfer) {
  std::vector<State> states(graph.getNumBlockIDs());
  std::vector<bool> seen(graph.getNumBlockIDs(), false);
  clang::PostOrderCFGView order(&graph);
  clang::ForwardDataflowWorklist worklist(graph, &order);
  const clang::CFGBlock* entry = &graph.getEntry();
  states[entry->getBlockID()] = at_entry;
  seen[entry->getBlockID()] = true;
  worklist.enqueueBlock(entry);
  while (const clang::CFGBlock* block = worklist.dequeue()) {
    State state = states[block->getBlockID()];
    for (const clang::CFGElement& element : *block)
      transfer(element, state);
    for (const clang::CFGBlock* successor : block->succs()) {
      if (!successor)
        continue;
      const unsigned id = successor->getBlockID();
      const bool changed = states[id].join(state);
      if (changed || !seen[id])
        worklist.enqueueBlock(successor);
      seen[id] = true;
    }
  }
}

} // namespace warplens::analysis
