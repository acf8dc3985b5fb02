#include "analysis/waits.h"

#include "analysis/access_instructions.h"
#include "analysis/location_keeper.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <vector>

namespace warplens::analysis {
namespace {

/// Returns whether the atomic leaves the word as it is: programs read so what others change.
bool only_reads(const llvm::AtomicRMWInst& atomic) {
  using Operation = llvm::AtomicRMWInst;
  const auto* const value = llvm::dyn_cast<llvm::ConstantInt>(atomic.getValOperand());
  if (value == nullptr)
    return false;
  switch (atomic.getOperation()) {
  case Operation::Add:
  case Operation::Sub:
  case Operation::Xor:
  case Operation::Or:
  case Operation::UMax: return value->isZero();
  case Operation::And:
  case Operation::UMin: return value->isMinusOne();
  case Operation::Max: return value->isMinValue(true) || value->isZero(); // of counts, which are not negative
  default: return false;
  }
}

/// Returns the address of a word that the instruction reads, in each iteration anew, and does not change;
/// null: it is no such instruction.
const llvm::Value* read_again(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  const llvm::Value* address = nullptr;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (load->isVolatile() || load->isAtomic())
      address = load->getPointerOperand();
  } else if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    if (swap->getCompareOperand() == swap->getNewValOperand())
      address = swap->getPointerOperand();
  } else if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    if (only_reads(*atomic))
      address = atomic->getPointerOperand();
  }
  return address != nullptr && loop.isLoopInvariant(address) ? address : nullptr;
}

/// Returns whether the loop itself changes what it reads at the address, as far as the same pointer says.
bool changes(const llvm::Loop& loop, const llvm::Value* address) {
  const llvm::Value* const object = llvm::getUnderlyingObject(address);
  for (const llvm::BasicBlock* const block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (read_again(instruction, loop) == address)
        continue;
      const InstructionAccess access = access_of(instruction);
      if (access.written != nullptr && llvm::getUnderlyingObject(access.written) == object)
        return true;
    }
  return false;
}

/// Returns the instructions by which the loop waits at this exit: its condition depends on them, and besides
/// on nothing that the loop changes. Empty: the loop makes progress by itself.
std::vector<const llvm::Instruction*> waits_at(const llvm::BasicBlock& exiting, const llvm::Loop& loop) {
  std::vector<const llvm::Instruction*> waits;
  llvm::SmallPtrSet<const llvm::Instruction*, 16> seen;
  llvm::SmallVector<const llvm::Instruction*, 16> left{exiting.getTerminator()};
  while (!left.empty()) {
    const llvm::Instruction* const instruction = left.pop_back_val();
    if (!loop.contains(instruction) || !seen.insert(instruction).second)
      continue;
    if (const llvm::Value* const address = read_again(*instruction, loop)) {
      if (changes(loop, address))
        return {};
      waits.push_back(instruction);
      continue; // its operands do not change
    }
    const bool counts = llvm::isa<llvm::PHINode>(instruction) && instruction->getParent() == loop.getHeader();
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(instruction);
    const bool votes = call != nullptr && call->isConvergent() && call->onlyAccessesInaccessibleMemory();
    if (counts || (instruction->mayReadOrWriteMemory() && !votes))
      return {};
    for (const llvm::Use& operand : instruction->operands())
      if (const auto* const of_operand = llvm::dyn_cast<llvm::Instruction>(operand.get()))
        left.push_back(of_operand);
  }
  return waits;
}

} // namespace

llvm::PreservedAnalyses FindWaits::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  for (const llvm::Loop* const loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
    loop->getExitingBlocks(exiting);
    for (const llvm::BasicBlock* const block : exiting)
      for (const llvm::Instruction* const instruction : waits_at(*block, *loop))
        if (is_located(instruction->getDebugLoc()))
          for (const llvm::DILocation* level = instruction->getDebugLoc(); level;
               level = level->getInlinedAt())
            result_->insert(position_of(*level));
  }
  return llvm::PreservedAnalyses::all();
}

} // namespace warplens::analysis
