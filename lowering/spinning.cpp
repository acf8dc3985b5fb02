#include "lowering/spinning.h"

#include "lowering/runtime_calls.h"

#include <limits>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

namespace warplens::lowering {

using namespace llvm;

static bool may_read_others_stores(const Instruction& instruction, const Loop& loop) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return load->isVolatile() || load->isAtomic();
  if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(swap->getCompareOperand());
  if (isa<AtomicRMWInst>(instruction))
    return !instruction.use_empty();
  return false;
}

static bool may_spin(const Loop& loop, ScalarEvolution& evolution) {
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  const bool ends_by_itself = !exiting.empty() && any_of(exiting, [&](BasicBlock* block) {
    return !isa<SCEVCouldNotCompute>(evolution.getExitCount(&loop, block));
  });
  if (ends_by_itself)
    return false;
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (may_read_others_stores(instruction, loop))
        return true;
  return false;
}

/// Returns the position of the loop's end in program order, if it matters.
static Value* position_of_end(IRBuilder<>& builder, const Loop& loop) {
  const MDNode* known = loop.getLoopID();
  const MDNode* position =
      known ? findOptionMDForLoopID(const_cast<MDNode*>(known), position_metadata) : nullptr;
  return position ? mdconst::extract<ConstantInt>(position->getOperand(1))
                  : builder.getInt32(std::numeric_limits<std::uint32_t>::max());
}

PreservedAnalyses YieldInSpinLoops::run(Function& function, FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!may_spin(*loop, evolution))
      continue;
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) {
      IRBuilder<> builder(latch->getTerminator());
      call_runtime(builder, "__warplens_cpu_yield", Effects::suspends, builder.getVoidTy(),
                   {current_lane(builder), position_of_end(builder, *loop)});
      changed = true;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace warplens::lowering
