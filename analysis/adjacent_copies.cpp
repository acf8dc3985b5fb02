#include "analysis/adjacent_copies.h"

#include "analysis/access_instructions.h"
#include "analysis/location_keeper.h"
#include "analysis/unrolled_copies.h"

#include <algorithm>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/CodeMetrics.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>
#include <optional>
#include <set>
#include <vector>

namespace warplens::analysis {

namespace {

constexpr unsigned loop_overhead = 2; ///< the comparison and the branch, which the copies share
constexpr std::uint64_t max_full = 405, max_full_in_two_steps = 460, max_full_requested = 16384,
                        max_partial = 195;
constexpr unsigned max_partial_copies = 32, default_copies = 4;
constexpr std::uint64_t max_iterations_in_second_step = 10;
constexpr unsigned folded_in_second_step = 3; ///< instructions of an iteration: the index, as a constant

std::uint64_t unrolled_size(const UnrolledLoop& loop, std::uint64_t copies, unsigned shared = loop_overhead) {
  return (loop.instructions - std::min(loop.instructions, shared)) * copies + shared;
}

/// Returns the copies in the larger one of the blocks that the way out of the loop separates.
unsigned largest_block(const UnrolledLoop& loop, unsigned copies) {
  if (loop.iterations == 0)
    return copies;
  if (copies >= loop.iterations)
    return static_cast<unsigned>(loop.iterations);
  const auto rest = static_cast<unsigned>(loop.iterations % copies);
  return rest == 0 ? copies : std::max(rest, copies - rest);
}

/// Returns the copies of a partly unrolled loop, 1 if there is no fitting number.
unsigned dividing_copies(const UnrolledLoop& loop) {
  unsigned copies = max_partial_copies;
  while (copies > 1 && (loop.iterations % copies != 0 || unrolled_size(loop, copies) > max_partial))
    copies /= 2;
  return copies;
}

bool is_fully_unrolled(const UnrolledLoop& loop, unsigned partly) {
  if (loop.requested_full)
    return unrolled_size(loop, loop.iterations) <= max_full_requested;
  return unrolled_size(loop, loop.iterations) <= max_full ||
         (partly > 1 && loop.iterations / partly <= max_iterations_in_second_step &&
          unrolled_size(loop, loop.iterations, loop_overhead + folded_in_second_step) <=
              max_full_in_two_steps);
}

/// Returns the loop as nvcc sees it, or nothing if it does not unroll it into one basic block.
std::optional<UnrolledLoop> describe(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                     const llvm::TargetTransformInfo& costs,
                                     llvm::AssumptionCache& assumptions) {
  if (loop.getNumBlocks() != 1 || llvm::hasUnrollTransformation(&loop) == llvm::TM_SuppressedByUser ||
      llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
    return std::nullopt;
  llvm::SmallPtrSet<const llvm::Value*, 32> only_for_assumptions;
  llvm::CodeMetrics::collectEphemeralValues(&loop, &assumptions, only_for_assumptions);
  const llvm::UnrollCostEstimator estimate(&loop, costs, only_for_assumptions, loop_overhead);
  if (!estimate.canUnroll())
    return std::nullopt;
  UnrolledLoop result;
  result.instructions = static_cast<unsigned>(estimate.getRolledLoopSize());
  result.iterations = evolution.getSmallConstantTripCount(&loop);
  result.requested =
      static_cast<unsigned>(llvm::getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count").value_or(0));
  result.requested_full = llvm::getBooleanLoopAttribute(&loop, "llvm.loop.unroll.full") ||
                          llvm::getBooleanLoopAttribute(&loop, "llvm.loop.unroll.enable");
  return result;
}

enum class Memory { unknown, global, shared, local };

/// Returns the memory that an address is in. A kernel's pointer arguments point to global memory.
Memory memory_of(const llvm::Value* address) {
  const llvm::Value* object = llvm::getUnderlyingObject(address, 0);
  if (llvm::isa<llvm::AllocaInst>(object))
    return Memory::local;
  switch (object->getType()->getPointerAddressSpace()) { // LLVM, "User Guide for NVPTX Back-end"
  case 1: return Memory::global;
  case 3: return Memory::shared;
  case 5: return Memory::local;
  default: break;
  }
  const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
  const bool of_kernel = argument && !argument->getParent()->hasLocalLinkage();
  return of_kernel && !argument->hasByValAttr() ? Memory::global : Memory::unknown;
}

/// Returns whether nvcc loads through ld.global.nc, which no store can change.
bool is_only_read(const llvm::Instruction& load) {
  const auto* plain = llvm::dyn_cast<llvm::LoadInst>(&load);
  if (!plain)
    return !load.mayWriteToMemory(); // __ldg, a texture fetch
  if (plain->hasMetadata(llvm::LLVMContext::MD_invariant_load))
    return true;
  const auto* argument =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(plain->getPointerOperand(), 0));
  return argument && argument->hasNoAliasAttr() && argument->onlyReadsMemory();
}

bool is_barrier(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::FenceInst>(instruction))
    return true;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && access_of(instruction).other && call->mayWriteToMemory() &&
         !call->onlyAccessesInaccessibleMemory(); // warp shuffles and votes
}

/// An address as a sum. Indices are assumed not to overflow, whatever their type.
struct LinearAddress {
  std::int64_t constant = 0;
  std::map<const llvm::Loop*, std::int64_t> steps; ///< bytes further in each iteration
  std::map<const llvm::SCEV*, std::int64_t> terms; ///< with their factors
  bool has_constant_steps = true;

  void add(const llvm::SCEV* expression, std::int64_t factor, llvm::ScalarEvolution& evolution) {
    if (const std::optional<std::int64_t> number = number_of(expression)) {
      constant += factor * *number;
    } else if (llvm::isa<llvm::SCEVSignExtendExpr, llvm::SCEVZeroExtendExpr>(expression)) {
      add(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), factor, evolution);
    } else if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(expression)) {
      for (const llvm::SCEV* operand : sum->operands())
        add(operand, factor, evolution);
    } else if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(expression);
               product && product->getNumOperands() == 2 && number_of(product->getOperand(0))) {
      add(product->getOperand(1), factor * *number_of(product->getOperand(0)), evolution);
    } else if (const auto* repeated = llvm::dyn_cast<llvm::SCEVAddRecExpr>(expression);
               repeated && number_of(repeated->getStepRecurrence(evolution))) {
      add(repeated->getStart(), factor, evolution);
      steps[repeated->getLoop()] += factor * *number_of(repeated->getStepRecurrence(evolution));
    } else {
      has_constant_steps &= !llvm::isa<llvm::SCEVAddRecExpr>(expression);
      terms[expression] += factor;
    }
  }

private:
  static std::optional<std::int64_t> number_of(const llvm::SCEV* expression) {
    const auto* number = llvm::dyn_cast<llvm::SCEVConstant>(expression);
    return number ? std::optional(number->getAPInt().sextOrTrunc(64).getSExtValue()) : std::nullopt;
  }
};

/// One basic block.
class Block {
public:
  /// `copies` is the number of copies of the whole block; `loop` is the loop that it is, or null.
  Block(llvm::BasicBlock& block, const llvm::Loop* loop, unsigned copies, llvm::ScalarEvolution& evolution)
      : block_(block), loop_(loop), copies_(copies), evolution_(evolution) {
    note_carried_values();
    for (llvm::Instruction& instruction : block)
      note(instruction);
  }

  void count(AdjacentCopiesAt& result) const {
    for (const auto& [position, accesses] : read_)
      raise(result[position].read, accesses);
    for (const auto& [position, accesses] : stored_)
      raise(result[position].stored, accesses);
    for (const auto& [position, accesses] : any_)
      raise(result[position].any, accesses);
  }

private:
  struct Access {
    llvm::Instruction* instruction = nullptr;
    unsigned depth = 0;   ///< loads of the block that its address needs, one after the other
    bool carried = false; ///< its address needs a value loaded in an earlier iteration
    unsigned section = 0; ///< barriers before it
    unsigned writers = 0; ///< waiting writers before it
    const llvm::DILocation* inlined_at = nullptr;
    unsigned iteration = 0; ///< the discriminator: UnrolledCopies
  };
  using Accesses = std::map<Position, std::vector<Access>>;

  struct Needed {
    unsigned depth = 0;
    bool carried = false;
  };

  /// Finds the values of the loop's header that loads of an earlier iteration computed.
  void note_carried_values() {
    if (!loop_)
      return;
    for (bool changed = true; changed;) {
      changed = false;
      llvm::SmallPtrSet<const llvm::Value*, 32> computed(carried_.begin(), carried_.end());
      for (const llvm::Instruction& instruction : block_)
        if (access_of(instruction) || llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
              return !llvm::isa<llvm::PHINode>(instruction) && computed.contains(operand.get());
            }))
          computed.insert(&instruction);
      for (const llvm::PHINode& value : block_.phis())
        if (computed.contains(value.getIncomingValueForBlock(&block_)))
          changed |= carried_.insert(&value).second;
    }
  }

  Needed needed_for(const llvm::Value* value) const {
    const auto known = needed_.find(value);
    Needed result = known == needed_.end() ? Needed{} : known->second;
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
        instruction && instruction->getParent() == &block_ && access_of(*instruction))
      ++result.depth;
    return result;
  }

  void note(llvm::Instruction& instruction) {
    Needed needed{0, carried_.contains(&instruction)};
    if (!llvm::isa<llvm::PHINode>(instruction))
      for (const llvm::Use& operand : instruction.operands()) {
        const Needed of_operand = needed_for(operand.get());
        needed.depth = std::max(needed.depth, of_operand.depth);
        needed.carried |= of_operand.carried;
      }
    needed_[&instruction] = needed;
    if (is_barrier(instruction))
      ++sections_;
    const InstructionAccess access = access_of(instruction);
    if (!access)
      return;
    if (const llvm::DILocation* innermost = instruction.getDebugLoc();
        is_located(instruction.getDebugLoc())) {
      const llvm::Value* address = access.read ? access.read : access.written;
      const Needed of_address = address ? needed_for(address) : needed;
      Access here{&instruction,
                  of_address.depth,
                  of_address.carried,
                  sections_,
                  static_cast<unsigned>(writers_.size()),
                  nullptr,
                  innermost->getDiscriminator()};
      for (const llvm::DILocation* level = innermost; level; level = level->getInlinedAt()) {
        here.inlined_at = level->getInlinedAt();
        const Position position = position_of(*level);
        any_[position].push_back(here);
        if (level == innermost && access.read)
          read_[position].push_back(here);
        if (level == innermost && access.written)
          stored_[position].push_back(here);
      }
    }
    if (access.written && (needed.depth > 0 || needed.carried))
      writers_.push_back({&instruction, access.written});
  }

  struct Writer {
    const llvm::Instruction* instruction = nullptr;
    const llvm::Value* address = nullptr;
  };

  static std::int64_t bytes_of(const llvm::Instruction& access) {
    if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&access))
      return static_cast<std::int64_t>(
          access.getDataLayout().getTypeStoreSize(atomic->getType()).getFixedValue());
    if (!llvm::getLoadStorePointerOperand(&access))
      return 1 << 20; // a copy of an object
    llvm::Type* type = llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&access));
    return static_cast<std::int64_t>(access.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  /// Returns whether the writer may change what the access reads `first` to `last` iterations later.
  bool conflict(const Access& access, const Writer& writer, unsigned first, unsigned last) const {
    const llvm::Value* address = access_of(*access.instruction).read;
    if (!address || is_only_read(*access.instruction))
      return false;
    const Memory of_read = memory_of(address), of_written = memory_of(writer.address);
    if (of_read != Memory::unknown && of_written != Memory::unknown && of_read != of_written)
      return false;
    LinearAddress read, written;
    read.add(evolution_.getSCEV(const_cast<llvm::Value*>(address)), 1, evolution_);
    written.add(evolution_.getSCEV(const_cast<llvm::Value*>(writer.address)), 1, evolution_);
    const auto step = read.steps.find(loop_);
    if (read.terms != written.terms || read.steps != written.steps ||
        (last > 0 && (!read.has_constant_steps || step == read.steps.end())))
      return true;
    const std::int64_t read_bytes = bytes_of(*access.instruction),
                       written_bytes = bytes_of(*writer.instruction);
    for (unsigned later = first; later <= last; ++later) {
      const std::int64_t offset = read.constant - written.constant + (later > 0 ? step->second * later : 0);
      if (offset < written_bytes && -offset < read_bytes)
        return true;
    }
    return false;
  }

  bool conflicts_between(const Access& earlier, const Access& later) const {
    constexpr unsigned max_compared = 256; // else compilation takes time that grows with the block's square
    if (later.writers - earlier.writers > max_compared)
      return true;
    return std::any_of(writers_.begin() + earlier.writers, writers_.begin() + later.writers,
                       [&](const Writer& writer) { return conflict(later, writer, 0, 0); });
  }

  unsigned copies_of_block(const Access& access) const {
    const bool alone = sections_ > 0 || access.carried || llvm::any_of(writers_, [&](const Writer& writer) {
                         return conflict(access, writer, 1, copies_ - 1);
                       });
    return alone ? 1 : copies_;
  }

  /// Raises the count to that of the accesses of one kind at one position. Copies that stand in one place of
  /// the source count together; those that were inlined into another do not.
  void raise(unsigned& known, const std::vector<Access>& accesses) const {
    if (llvm::any_of(accesses, [&](const Access& one) { return one.depth != accesses.front().depth; }))
      return;
    std::map<const llvm::DILocation*, std::vector<const Access*>> by_place;
    for (const Access& access : accesses)
      by_place[access.inlined_at].push_back(&access);
    for (const auto& [place, copies] : by_place) {
      std::set<unsigned> iterations; // since the last interruption
      std::size_t most = 0;
      for (std::size_t i = 0; i < copies.size(); ++i) {
        if (i > 0 &&
            (copies[i]->section != copies[i - 1]->section || conflicts_between(*copies[i - 1], *copies[i])))
          iterations.clear();
        iterations.insert(copies[i]->iteration);
        most = std::max(most, iterations.size());
      }
      unsigned times = copies_;
      for (const Access* access : copies)
        times = times > 1 ? std::min(times, copies_of_block(*access)) : 1;
      known =
          std::max(known, static_cast<unsigned>(std::min<std::size_t>(most * times, max_adjacent_copies)));
    }
  }

  llvm::BasicBlock& block_;
  const llvm::Loop* loop_;
  unsigned copies_;
  llvm::ScalarEvolution& evolution_;
  llvm::SmallPtrSet<const llvm::Value*, 8> carried_; ///< phis that values loaded before flow into
  llvm::DenseMap<const llvm::Value*, Needed> needed_;
  unsigned sections_ = 0;
  std::vector<Writer> writers_; ///< stores and atomics that wait for a loaded value
  Accesses read_, stored_, any_;
};

} // namespace

unsigned copies_in_one_block(const UnrolledLoop& loop) {
  if (loop.requested > 0)
    return largest_block(loop, loop.requested);
  if (loop.iterations > 0) {
    const unsigned partly = dividing_copies(loop);
    if (is_fully_unrolled(loop, partly))
      return static_cast<unsigned>(std::min<std::uint64_t>(loop.iterations, max_adjacent_copies));
    if (partly > 1)
      return partly;
  }
  unsigned copies = default_copies;
  while (copies > 1 && unrolled_size(loop, copies) > max_partial)
    copies /= 2;
  return largest_block(loop, copies);
}

llvm::PreservedAnalyses CountAdjacentCopies::run(llvm::Function& function,
                                                 llvm::FunctionAnalysisManager& analyses) {
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::ScalarEvolution& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const llvm::TargetTransformInfo& costs = analyses.getResult<llvm::TargetIRAnalysis>(function);
  llvm::AssumptionCache& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  for (llvm::BasicBlock& block : function) {
    llvm::Loop* loop = loops.getLoopFor(&block);
    std::optional<UnrolledLoop> unrolled;
    if (loop && loop->getNumBlocks() == 1)
      unrolled = describe(*loop, evolution, costs, assumptions);
    const unsigned copies = unrolled ? copies_in_one_block(*unrolled) : 1;
    if (const llvm::DILocation* start = unrolled ? start_of(*loop) : nullptr;
        start && copies == std::min<std::uint64_t>(unrolled->iterations, max_adjacent_copies))
      unrolled_fully_->insert(position_of(*start));
    Block(block, unrolled ? loop : nullptr, copies, evolution).count(*result_);
  }
  return llvm::PreservedAnalyses::all();
}

} // namespace warplens::analysis
