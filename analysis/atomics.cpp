#include "analysis/atomics.h"

#include "analysis/access_instructions.h"
#include "analysis/location_keeper.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace warplens::analysis {

namespace {

/// The values of a function that are not the same in all lanes of a warp.
class DivergentValues {
public:
  DivergentValues(const llvm::Function& function, const llvm::DominatorTree& dominators,
                  const llvm::LoopInfo& loops)
      : dominators_(dominators), loops_(loops) {
    if (function.hasLocalLinkage()) // not a kernel, whose parameters are the launch's
      for (const llvm::Argument& argument : function.args())
        values_.insert(&argument);
    for (bool changed = true; changed;) {
      changed = false;
      for (const llvm::Instruction& instruction : llvm::instructions(function))
        if (!values_.contains(&instruction) && is_divergent(instruction))
          changed |= values_.insert(&instruction).second;
    }
  }

  bool contains(const llvm::Value* value) const { return values_.contains(value); }

private:
  bool is_divergent(const llvm::Instruction& instruction) const {
    if (is_source(instruction))
      return true;
    if (llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
          return values_.contains(operand.get()) || leaves_loop(operand.get(), instruction);
        }))
      return true;
    return llvm::isa<llvm::PHINode>(instruction) && joins_divergent_ways(*instruction.getParent());
  }

  static bool is_source(const llvm::Instruction& instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand(), 0));
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (!callee || !callee->isIntrinsic())
        return true;
      switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return false;
      default:
        return callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.") || call->isConvergent() ||
               !call->onlyReadsMemory();
      }
    }
    return instruction.isAtomic() || llvm::isa<llvm::AllocaInst>(instruction);
  }

  bool branches(const llvm::BasicBlock& block) const {
    const llvm::Instruction* end = block.getTerminator();
    return end->getNumSuccessors() > 1 && values_.contains(end->getOperand(0));
  }

  /// Returns whether lanes may come to the block by different ways: a branch between it and its dominator, or
  /// in the loop that it begins, is divergent.
  bool joins_divergent_ways(const llvm::BasicBlock& block) const {
    const auto* node = dominators_.getNode(&block);
    const llvm::BasicBlock* first = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 16> left(llvm::pred_begin(&block), llvm::pred_end(&block));
    while (!left.empty()) {
      const llvm::BasicBlock* one = left.pop_back_val();
      if (!seen.insert(one).second)
        continue;
      if (branches(*one))
        return true;
      if (one != first)
        left.append(llvm::pred_begin(one), llvm::pred_end(one));
    }
    return false;
  }

  /// Returns whether the value comes out of a loop that lanes leave in different iterations.
  bool leaves_loop(const llvm::Value* value, const llvm::Instruction& user) const {
    const auto* computed = llvm::dyn_cast<llvm::Instruction>(value);
    if (!computed)
      return false;
    for (const llvm::Loop* loop = loops_.getLoopFor(computed->getParent());
         loop && !loop->contains(user.getParent()); loop = loop->getParentLoop()) {
      llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
      loop->getExitingBlocks(exiting);
      if (llvm::any_of(exiting, [&](const llvm::BasicBlock* block) { return branches(*block); }))
        return true;
    }
    return false;
  }

  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  llvm::SmallPtrSet<const llvm::Value*, 32> values_;
};

LaneAggregation aggregation_of(const llvm::AtomicRMWInst& atomic, const DivergentValues& divergent) {
  using Operation = llvm::AtomicRMWInst;
  const Operation::BinOp operation = atomic.getOperation();
  const bool adds = operation == Operation::Add || operation == Operation::Sub;
  if (!divergent.contains(atomic.getPointerOperand())) {
    if (adds && !divergent.contains(atomic.getValOperand()))
      return LaneAggregation::added;
    const bool reduces = adds || operation == Operation::And || operation == Operation::Or ||
                         operation == Operation::Xor || operation == Operation::Min ||
                         operation == Operation::Max || operation == Operation::UMin ||
                         operation == Operation::UMax;
    if (reduces && atomic.getType()->isIntegerTy(32) && atomic.use_empty())
      return LaneAggregation::reduced;
  }
  const auto* value = llvm::dyn_cast<llvm::ConstantInt>(atomic.getValOperand());
  const bool counts = operation == Operation::Add && value && value->isOne() &&
                      atomic.getType()->isIntegerTy(32) && atomic.use_empty();
  return counts ? LaneAggregation::counted : LaneAggregation::none;
}

} // namespace

llvm::PreservedAnalyses FindAtomics::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  std::optional<DivergentValues> divergent;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    const bool is_other = llvm::isa<llvm::AtomicCmpXchgInst>(instruction) ||
                          (llvm::isa<llvm::CallBase>(instruction) && access_of(instruction).other &&
                           instruction.mayWriteToMemory());
    if (!(atomic || is_other) || !is_located(instruction.getDebugLoc()))
      continue;
    AtomicCode code{instruction.use_empty(), LaneAggregation::none};
    if (atomic) {
      if (!divergent)
        divergent.emplace(function, analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                          analyses.getResult<llvm::LoopAnalysis>(function));
      code.aggregation = aggregation_of(*atomic, *divergent);
    }
    for (const llvm::DILocation* level = instruction.getDebugLoc(); level; level = level->getInlinedAt()) {
      const auto [known, is_new] = result_->try_emplace(position_of(*level), code);
      known->second.is_reduction &= code.is_reduction;
      if (known->second.aggregation != code.aggregation)
        known->second.aggregation = LaneAggregation::none;
    }
  }
  return llvm::PreservedAnalyses::all();
}

} // namespace warplens::analysis
