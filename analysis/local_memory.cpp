#include "analysis/local_memory.h"

#include <algorithm>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace warplens::analysis {

using namespace llvm;

namespace {

/// The largest size that a loop may get by unrolling, in instructions without phis, casts and address
/// arithmetic. nvcc 13.0 for sm_80 unrolls loops over local arrays that become as large as 1800, and none
/// that become larger than 2000 (measured with 40 loops of 16 to 512 iterations).
constexpr std::uint64_t largest_unrolled_loop = 1900;

/// Up to this size ptxas 13.0 replaces dynamic indexing by selections among registers (measured with arrays
/// of 2 to 16 words; larger arrays only if each element is read but once).
constexpr std::uint64_t bytes_kept_in_registers = 16;

/// Returns whether a subscript of a local variable in the loop changes from one iteration to the next.
bool indexes_local_variable(const Loop& loop) {
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      const auto* subscript = dyn_cast<GetElementPtrInst>(&instruction);
      if (!subscript || !isa<AllocaInst>(getUnderlyingObject(subscript, 0)))
        continue;
      for (const Value* index : subscript->indices())
        if (!loop.isLoopInvariant(index) && none_of(loop.getSubLoops(), [&](const Loop* inner) {
              return inner->contains(cast<Instruction>(index));
            }))
          return true;
    }
  return false;
}

/// Counts trips as LLVM's unroller does: the exit that is taken first counts.
unsigned trip_count(const Loop& loop, ScalarEvolution& evolution) {
  SmallVector<BasicBlock*, 8> exits;
  loop.getExitingBlocks(exits);
  unsigned fewest = 0;
  for (const BasicBlock* exit : exits)
    if (const unsigned trips = evolution.getSmallConstantTripCount(&loop, exit);
        trips != 0 && (fewest == 0 || trips < fewest))
      fewest = trips;
  return fewest;
}

/// Returns the size without the comparison and the branch at the end of each iteration, which unrolling
/// removes.
std::uint64_t unrolled_size(const Loop& loop, unsigned trips) {
  constexpr std::uint64_t end_of_iteration = 2;
  std::uint64_t size = 0;
  for (const BasicBlock* block : loop.blocks())
    size += static_cast<std::uint64_t>(llvm::count_if(*block, [](const Instruction& instruction) {
      const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
      return !isa<PHINode, CastInst, GetElementPtrInst>(instruction) &&
             !(intrinsic && intrinsic->isAssumeLikeIntrinsic());
    }));
  return (std::max(size, end_of_iteration) - end_of_iteration) * trips;
}

/// All uses of a variable's address together.
struct Uses {
  bool indexed = false; ///< at an offset that is not constant
  bool stored = false;  ///< the variable is written through it
  bool escapes = false; ///< the address is passed to a function or stored
  bool printed = false; ///< the address is an argument of printf
  /// The address is passed to a function of the toolkit, recognised by its name. nvcc inlines these; they are
  /// not in the compiled module: libdevice's sincosf, surface accesses.
  bool library = false;
};

void follow(const Value& address, Uses& uses, SmallPtrSetImpl<const Value*>& seen) {
  if (!seen.insert(&address).second)
    return;
  for (const Use& use : address.uses()) {
    const auto* user = cast<Instruction>(use.getUser());
    if (const auto* subscript = dyn_cast<GetElementPtrInst>(user)) {
      uses.indexed |= !subscript->hasAllConstantIndices();
      follow(*subscript, uses, seen);
    } else if (isa<CastInst, PHINode, SelectInst>(user)) {
      follow(*user, uses, seen);
    } else if (const auto* call = dyn_cast<CallBase>(user)) {
      const auto* intrinsic = dyn_cast<IntrinsicInst>(call);
      const Function* callee = call->getCalledFunction();
      if (const auto* block = dyn_cast<MemIntrinsic>(call))
        uses.stored |= block->getRawDest() == &address;
      else if (callee && callee->getName() == "vprintf")
        uses.printed = true;
      else if (callee && callee->isDeclaration() && callee->getName().starts_with("__"))
        uses.library = true;
      else if (!(intrinsic && (intrinsic->isAssumeLikeIntrinsic() || intrinsic->isLifetimeStartOrEnd())) &&
               !(call->isArgOperand(&use) &&
                 call->isPassPointeeByValueArgument(call->getArgOperandNo(&use)))) // the pointee is copied
        uses.escapes = true;
    } else if (const auto* store = dyn_cast<StoreInst>(user)) {
      (store->getPointerOperand() == &address ? uses.stored : uses.escapes) = true;
    } else if (!isa<LoadInst, ICmpInst>(user)) {
      uses.stored = uses.escapes = true; // for example an atomic operation
    }
  }
}

Uses uses_of(const Value& variable) {
  Uses uses;
  SmallPtrSet<const Value*, 16> seen;
  follow(variable, uses, seen);
  return uses;
}

bool stays_in_memory(const AllocaInst& variable) {
  const Uses uses = uses_of(variable);
  if (uses.escapes)
    return true;
  if (uses.printed || (uses.library && !uses.indexed))
    return false;
  const auto size = variable.getAllocationSize(variable.getDataLayout());
  return !size || size->getFixedValue() > bytes_kept_in_registers;
}

/// A parameter is read where it was passed: a kernel's from a constant bank. A parameter that is written at
/// offsets known only at run time is copied to local memory first.
bool is_copied_to_memory(const Argument& parameter) {
  const Uses uses = uses_of(parameter);
  return uses.escapes || (uses.stored && uses.indexed);
}

} // namespace

PreservedAnalyses UnrollForLocalArrays::run(Loop& loop, LoopAnalysisManager&,
                                            LoopStandardAnalysisResults& results, LPMUpdater&) {
  if (hasUnrollTransformation(&loop) != TM_Unspecified)
    return PreservedAnalyses::all();
  const unsigned trips = trip_count(loop, results.SE);
  if (trips > 1 && indexes_local_variable(loop) && unrolled_size(loop, trips) <= largest_unrolled_loop)
    addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
  return PreservedAnalyses::all(); // only metadata changed
}

bool LocalMemory::contains(const Value* variable) {
  const auto [found, is_new] = known_.try_emplace(variable, false);
  if (is_new) {
    const auto* local = dyn_cast<AllocaInst>(variable);
    const auto* parameter = dyn_cast<Argument>(variable);
    found->second = (local && stays_in_memory(*local)) ||
                    (parameter && parameter->hasByValAttr() && is_copied_to_memory(*parameter));
  }
  return found->second;
}

LocalMemory::Objects LocalMemory::objects_at(const Value* address) {
  Objects found;
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, 0);
  for (const Value* object : objects) {
    const auto* parameter = dyn_cast<Argument>(object);
    if (contains(object))
      found.variables.push_back(object);
    else
      found.unknown |= !isa<AllocaInst, Constant>(object) && !(parameter && parameter->hasByValAttr());
  }
  return found;
}

} // namespace warplens::analysis
