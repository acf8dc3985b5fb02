#include "analysis/waits.h"

#include "analysis/location_keeper.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace warplens::analysis {
namespace {

/// Returns whether the atomic leaves the word as it is, or sets it to the same value in each iteration.
bool changes_nothing_new(const llvm::AtomicRMWInst& atomic, const llvm::Loop& loop) {
  using Operation = llvm::AtomicRMWInst;
  const auto* const value = llvm::dyn_cast<llvm::ConstantInt>(atomic.getValOperand());
  switch (atomic.getOperation()) {
  case Operation::Add:
  case Operation::Sub:
  case Operation::Xor: return value != nullptr && value->isZero();
  case Operation::Or:
  case Operation::And:
  case Operation::Xchg: return loop.isLoopInvariant(atomic.getValOperand());
  default: return false;
  }
}

/// Returns whether the instruction reads, in each iteration anew, a word that only others change.
bool reads_again(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return (load->isVolatile() || load->isAtomic()) && loop.isLoopInvariant(load->getPointerOperand());
  if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(swap->getPointerOperand()) && loop.isLoopInvariant(swap->getCompareOperand());
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return loop.isLoopInvariant(atomic->getPointerOperand()) && changes_nothing_new(*atomic, loop);
  return false;
}

/// Calls found(instruction) for each instruction of the loop that the conditions of its exits depend on.
template <class Found> void each_that_decides(const llvm::Loop& loop, Found&& found) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  llvm::SmallPtrSet<const llvm::Instruction*, 16> seen;
  llvm::SmallVector<const llvm::Instruction*, 16> left;
  for (const llvm::BasicBlock* const block : exiting)
    left.push_back(block->getTerminator());
  while (!left.empty()) {
    const llvm::Instruction* const instruction = left.pop_back_val();
    if (!loop.contains(instruction) || !seen.insert(instruction).second)
      continue;
    found(*instruction);
    for (const llvm::Use& operand : instruction->operands())
      if (const auto* const of_operand = llvm::dyn_cast<llvm::Instruction>(operand.get()))
        left.push_back(of_operand);
  }
}

bool has_known_end(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::any_of(exiting, [&](llvm::BasicBlock* block) {
    return !llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getExitCount(&loop, block));
  });
}

} // namespace

llvm::PreservedAnalyses FindWaits::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (const llvm::Loop* const loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (has_known_end(*loop, evolution))
      continue;
    each_that_decides(*loop, [&](const llvm::Instruction& instruction) {
      if (!reads_again(instruction, *loop) || !is_located(instruction.getDebugLoc()))
        return;
      for (const llvm::DILocation* level = instruction.getDebugLoc(); level; level = level->getInlinedAt())
        result_->insert(position_of(*level));
    });
  }
  return llvm::PreservedAnalyses::all();
}

} // namespace warplens::analysis
