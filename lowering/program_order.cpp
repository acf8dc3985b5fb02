#include "lowering/program_order.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <map>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

using Positions = std::map<const BasicBlock*, std::size_t>;

bool is_back_edge(const BasicBlock* from, const BasicBlock* to, const LoopInfo& loops) {
  const Loop* loop = loops.getLoopFor(to);
  return loop && loop->getHeader() == to && loop->contains(from);
}

/// Clang lays blocks out in the source's order, and inlining inserts a callee's blocks at the call.
bool layout_is_program_order(const std::vector<BasicBlock*>& layout, const Positions& position,
                             const LoopInfo& loops) {
  for (BasicBlock* block : layout)
    for (BasicBlock* next : successors(block))
      if (position.at(next) <= position.at(block) && !is_back_edge(block, next, loops))
        return false;
  return true;
}

/// Orders other code (goto, mostly): a topological order of a region in which each inner loop is one node;
/// among the free nodes the first in layout is next.
class Region {
public:
  Region(const Loop* region, const LoopInfo& loops, const Positions& layout)
      : region_(region), loops_(loops), layout_(layout) {}

  void order(std::vector<BasicBlock*>& result) {
    std::map<const BasicBlock*, std::set<BasicBlock*>> members; // keyed by the node's first block
    for (const auto& [block, at] : layout_)
      if (!region_ || region_->contains(block))
        members[node_of(block)].insert(const_cast<BasicBlock*>(block));
    std::map<const BasicBlock*, std::set<const BasicBlock*>> before;
    for (const auto& [node, blocks] : members)
      for (const BasicBlock* block : blocks)
        for (const BasicBlock* next : successors(block))
          if (members.count(node_of(next)) && node_of(next) != node &&
              !(region_ && next == region_->getHeader()))
            before[node_of(next)].insert(node);
    while (!members.empty()) {
      const BasicBlock* best = nullptr;
      bool best_is_free = false;
      for (const auto& [node, blocks] : members) {
        const bool is_free =
            before[node].empty(); // no node of an irreducible loop may be free: then the first in layout
        if (!best || is_free > best_is_free ||
            (is_free == best_is_free && layout_.at(node) < layout_.at(best))) {
          best = node;
          best_is_free = is_free;
        }
      }
      const Loop* inner = inner_loop(best);
      if (inner)
        Region(inner, loops_, layout_).order(result);
      else
        result.push_back(const_cast<BasicBlock*>(best));
      members.erase(best);
      for (auto& [node, predecessors] : before)
        predecessors.erase(best);
    }
  }

private:
  /// Returns the outermost loop within the region that contains the block.
  const Loop* inner_loop(const BasicBlock* block) const {
    const Loop* loop = loops_.getLoopFor(block);
    if (loop == region_)
      return nullptr;
    while (loop && loop->getParentLoop() != region_)
      loop = loop->getParentLoop();
    return loop;
  }
  const BasicBlock* node_of(const BasicBlock* block) const {
    if (region_ && !region_->contains(block))
      return nullptr;
    const Loop* inner = inner_loop(block);
    return inner ? inner->getHeader() : block;
  }

  const Loop* region_;
  const LoopInfo& loops_;
  const Positions& layout_;
};

} // namespace

std::vector<BasicBlock*> program_order(Function& function, const LoopInfo& loops) {
  std::set<BasicBlock*> reachable;
  for (BasicBlock* block : post_order(&function))
    reachable.insert(block);
  std::vector<BasicBlock*> layout;
  Positions position;
  for (BasicBlock& block : function)
    if (reachable.count(&block)) {
      position[&block] = layout.size();
      layout.push_back(&block);
    }
  if (layout_is_program_order(layout, position, loops))
    return layout;
  std::vector<BasicBlock*> result;
  Region(nullptr, loops, position).order(result);
  return result;
}

} // namespace warplens::lowering
