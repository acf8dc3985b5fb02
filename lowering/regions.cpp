// Cuts a kernel's body at its barriers. Each region is a copy of the part of the body that is reached before
// the next barrier. A value that is needed after a barrier is stored in the thread's frame, unless
// recomputing it is as cheap: then its computation precedes each region. The frames of a block's threads are
// interleaved by slot, so that loops over threads access neighbouring words.
#include "lowering/regions.h"

#include "lowering/lane_binding.h"
#include "lowering/runtime_calls.h"
#include "runtime/abi/abi.h"

#include <cstddef>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <map>
#include <optional>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr std::size_t max_instructions = 20000; ///< sum over all regions

bool is_whole_block_barrier(const CallInst& call) {
  const auto is_zero = [&](unsigned argument) {
    const auto* number = dyn_cast<ConstantInt>(call.getArgOperand(argument));
    return number && number->isZero();
  };
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == "__warplens_cpu_barrier" && is_zero(1) && is_zero(2);
}

/// Returns the position of a lock-step stop.
std::optional<std::uint32_t> position_of_stop(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  const auto* position = callee && callee->getName() == lock_step_function
                             ? dyn_cast<ConstantInt>(call.getArgOperand(1))
                             : nullptr;
  return position ? std::optional(static_cast<std::uint32_t>(position->getZExtValue())) : std::nullopt;
}

bool is_stop(const CallInst& call) {
  return is_whole_block_barrier(call) || position_of_stop(call);
}

std::vector<CallInst*> stops_of(Function& body) {
  std::vector<CallInst*> stops;
  for (Instruction& instruction : instructions(body))
    if (auto* call = dyn_cast<CallInst>(&instruction); call && is_stop(*call))
      stops.push_back(call);
  return stops;
}

/// Returns whether no struct parameter is written. Written structs are copied for each thread where the
/// function begins, and a region is a function.
bool shares_parameters(const Function& body) {
  return none_of(body.args(), [](const Argument& parameter) { return parameter.hasByValAttr(); });
}

bool has_known_frame(Function& body) {
  return all_of(instructions(body), [](const Instruction& instruction) {
    const auto* local = dyn_cast<AllocaInst>(&instruction);
    return !local || local->isStaticAlloca();
  });
}

/// The location of a value in the frames.
struct Slot {
  std::uint64_t offset, bytes;
  Type* type;
};

class Cutter {
public:
  explicit Cutter(Function& body) : body_(body), layout_(body.getParent()->getDataLayout()) {}

  Regions run() {
    if (!shares_parameters(body_) || !has_known_frame(body_))
      return {};
    clone_whole_kernel();
    Regions result;
    starts_.push_back(begin_);
    result.positions.push_back(Regions::at_barrier);
    for (CallInst* stop : stops_of(*whole_kernel_)) {
      BasicBlock* before = stop->getParent();
      starts_.push_back(SplitBlock(before, stop->getNextNode()));
      stops_[before] = {stop, static_cast<unsigned>(starts_.size() - 1)};
      result.positions.push_back(position_of_stop(*stop).value_or(Regions::at_barrier));
    }
    if (instructions_of_all() > max_instructions) {
      whole_kernel_->eraseFromParent();
      return {};
    }
    live_.resize(starts_.size());
    move_locals();
    keep_values();
    for (unsigned number = 0; number < starts_.size(); ++number)
      result.regions.push_back(make_region(number));
    result.frame_bytes = alignTo(frame_bytes_, 16);
    whole_kernel_->eraseFromParent();
    return result;
  }

private:
  struct Stop {
    CallInst* call;
    unsigned next;
  };

  Function* declare(const Twine& name, Type* result) {
    SmallVector<Type*, 16> types(body_.getFunctionType()->params());
    types.insert(types.end() - 1,
                 {PointerType::getUnqual(body_.getContext()), Type::getInt64Ty(body_.getContext())});
    auto* function = Function::Create(FunctionType::get(result, types, false), GlobalValue::InternalLinkage,
                                      name, body_.getParent());
    for (const char* attribute : {"target-cpu", "target-features", takes_lane})
      if (body_.hasFnAttribute(attribute))
        function->addFnAttr(body_.getFnAttribute(attribute));
    function->setDoesNotThrow();
    const unsigned frames = function->arg_size() - 3;
    function->addParamAttr(frames, Attribute::NoAlias);
    for (unsigned i = 0; i < frames; ++i)
      function->addParamAttrs(i, AttrBuilder(body_.getContext(), body_.getAttributes().getParamAttrs(i)));
    return function;
  }
  static Value* frames(Function& function) { return function.getArg(function.arg_size() - 3); }
  static Value* threads(Function& function) { return function.getArg(function.arg_size() - 2); }
  static Value* lane(Function& function) { return function.getArg(function.arg_size() - 1); }

  /// Copies the body into a function with the regions' parameters, and adds a front block with the code that
  /// all regions begin with.
  void clone_whole_kernel() {
    whole_kernel_ = declare(body_.getName() + ".whole", body_.getReturnType());
    ValueToValueMapTy map;
    for (Argument& argument : body_.args())
      map[&argument] = argument.getArgNo() + 1 == body_.arg_size()
                           ? lane(*whole_kernel_)
                           : whole_kernel_->getArg(argument.getArgNo());
    SmallVector<ReturnInst*, 4> returns;
    const AttributeList attributes = whole_kernel_->getAttributes();
    CloneFunctionInto(whole_kernel_, &body_, map, CloneFunctionChangeType::LocalChangesOnly, returns);
    whole_kernel_->setAttributes(attributes);
    begin_ = &whole_kernel_->getEntryBlock();
    front_ = BasicBlock::Create(whole_kernel_->getContext(), "", whole_kernel_, begin_);
    IRBuilder<> builder(front_);
    Value* number = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), lane(*whole_kernel_),
                                                       offsetof(cpu::LaneContext, linear_thread));
    linear_ = builder.CreateZExt(builder.CreateLoad(builder.getInt32Ty(), number), builder.getInt64Ty());
    builder.CreateBr(begin_);
  }

  Slot add_slot(Type* type, Align alignment) {
    const std::uint64_t bytes = alignTo(layout_.getTypeAllocSize(type).getFixedValue(), alignment);
    frame_bytes_ = alignTo(frame_bytes_, alignment);
    const Slot slot{frame_bytes_, bytes, type};
    frame_bytes_ += bytes;
    return slot;
  }

  static Value* address_of(IRBuilder<>& builder, const Slot& slot, Function& function, Value* linear) {
    Value* column = builder.CreateGEP(
        builder.getInt8Ty(), frames(function),
        builder.CreateMul(threads(function), builder.getInt64(slot.offset), "", true, true));
    return builder.CreateGEP(builder.getInt8Ty(), column,
                             builder.CreateMul(linear, builder.getInt64(slot.bytes), "", true, true));
  }

  /// Moves locals that did not become values into the frame.
  void move_locals() {
    std::vector<AllocaInst*> locals;
    for (Instruction& instruction : instructions(*whole_kernel_))
      if (auto* local = dyn_cast<AllocaInst>(&instruction))
        locals.push_back(local);
    for (AllocaInst* local : locals) {
      for (User* user : make_early_inc_range(local->users()))
        if (auto* mark = dyn_cast<IntrinsicInst>(user); mark && mark->isLifetimeStartOrEnd())
          mark->eraseFromParent();
      const auto count = cast<ConstantInt>(local->getArraySize())->getZExtValue();
      const Slot slot =
          add_slot(ArrayType::get(local->getAllocatedType(), count), std::min(local->getAlign(), Align(16)));
      IRBuilder<> builder(front_->getTerminator());
      local->replaceAllUsesWith(
          builder.CreateAddrSpaceCast(address_of(builder, slot, *whole_kernel_, linear_), local->getType()));
      local->eraseFromParent();
    }
  }

  bool is_cheap(const Instruction& instruction) const {
    const auto is_at_hand = [&](const Value* operand) {
      const auto* other = dyn_cast<Instruction>(operand);
      return !other || cheap_.count(other) || other->getParent() == front_;
    };
    if (const auto* call = dyn_cast<CallInst>(&instruction)) {
      const Function* callee = call->getCalledFunction();
      return callee && is_lane_value(callee->getName());
    }
    return !isa<PHINode>(instruction) && !instruction.isTerminator() && !instruction.mayReadOrWriteMemory() &&
           isSafeToSpeculativelyExecute(&instruction) && all_of(instruction.operands(), is_at_hand);
  }

  /// Returns the starts after a barrier at which the value is still needed.
  std::vector<unsigned> starts_that_need(Instruction& value) const {
    std::set<BasicBlock*> needed;
    std::vector<BasicBlock*> rest;
    const auto need = [&](BasicBlock* block) {
      if (needed.insert(block).second)
        rest.push_back(block);
    };
    const auto need_at_end = [&](BasicBlock* block) {
      if (block != value.getParent())
        need(block);
    };
    for (Use& use : value.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (auto* phi = dyn_cast<PHINode>(user))
        need_at_end(phi->getIncomingBlock(use));
      else if (user->getParent() != value.getParent())
        need(user->getParent());
    }
    while (!rest.empty()) {
      BasicBlock* block = rest.back();
      rest.pop_back();
      for (BasicBlock* before : predecessors(block))
        need_at_end(before);
    }
    std::vector<unsigned> starts;
    for (unsigned number = 1; number < starts_.size(); ++number)
      if (needed.count(starts_[number]))
        starts.push_back(number);
    return starts;
  }

  /// Recomputes or stores in the frame each value that is needed after a barrier.
  void keep_values() {
    std::vector<std::pair<Instruction*, std::vector<unsigned>>> kept;
    std::vector<Instruction*> again;
    for (BasicBlock* block : ReversePostOrderTraversal<Function*>(whole_kernel_))
      for (Instruction& instruction : *block) {
        if (block == front_)
          continue;
        const bool cheap = is_cheap(instruction);
        if (cheap)
          cheap_.insert(&instruction);
        auto starts = starts_that_need(instruction);
        if (starts.empty())
          continue;
        if (cheap)
          again.push_back(&instruction);
        else
          kept.push_back({&instruction, std::move(starts)});
      }
    for (Instruction* instruction : again)
      move_to_front(*instruction);
    for (auto& [value, starts] : kept) {
      const Slot slot = add_slot(value->getType(), layout_.getABITypeAlign(value->getType()));
      AllocaInst* variable = DemoteRegToStack(*value, false, front_->getTerminator()->getIterator());
      for (const unsigned start : starts)
        live_[start].push_back({variable, slot});
    }
  }

  /// Moves the instruction with its operands.
  void move_to_front(Instruction& instruction) {
    if (instruction.getParent() == front_)
      return;
    for (Value* operand : instruction.operands())
      if (auto* other = dyn_cast<Instruction>(operand))
        move_to_front(*other);
    instruction.moveBefore(front_->getTerminator());
  }

  std::vector<BasicBlock*> blocks_from(BasicBlock* start) const {
    std::vector<BasicBlock*> found{start};
    std::set<BasicBlock*> seen{start};
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!stops_.count(found[i]))
        for (BasicBlock* next : successors(found[i]))
          if (seen.insert(next).second)
            found.push_back(next);
    return found;
  }

  std::size_t instructions_of_all() const {
    std::size_t sum = 0;
    for (BasicBlock* start : starts_)
      for (const BasicBlock* block : blocks_from(start))
        sum += block->size();
    return sum;
  }

  Region make_region(unsigned number) {
    Function* function = declare(body_.getName() + "." + Twine(number), Type::getInt32Ty(body_.getContext()));
    function->addFnAttr(Attribute::AlwaysInline);
    ValueToValueMapTy map;
    for (Argument& argument : whole_kernel_->args())
      map[&argument] = function->getArg(argument.getArgNo());
    auto blocks = blocks_from(starts_[number]);
    blocks.insert(blocks.begin(), front_);
    std::vector<std::pair<BasicBlock*, BasicBlock*>> copies;
    for (BasicBlock* block : blocks) {
      BasicBlock* copy = CloneBasicBlock(block, map, "", function);
      map[block] = copy;
      copies.push_back({block, copy});
    }
    auto* front = cast<BasicBlock>(map[front_]);
    front->getTerminator()->setSuccessor(0, starts_[number]); // mapped with the rest
    const std::set<BasicBlock*> here(blocks.begin(), blocks.end());
    Region region{function, {}};
    for (const auto& [block, copy] : copies) {
      for (PHINode& phi : make_early_inc_range(copy->phis()))
        for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
          if (!here.count(phi.getIncomingBlock(i)))
            phi.removeIncomingValue(i, false);
      if (const auto stop = stops_.find(block); stop != stops_.end()) {
        end(*cast<Instruction>(map[stop->second.call]), stop->second.next, region, map);
      } else if (isa<ReturnInst>(copy->getTerminator())) {
        end(*copy->getTerminator(), static_cast<unsigned>(starts_.size()), region, map);
      }
    }
    for (const auto& [block, copy] : copies)
      for (Instruction& instruction : *copy)
        RemapInstruction(&instruction, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    IRBuilder<> builder(front->getTerminator());
    for (const auto& [variable, slot] : live_[number])
      builder.CreateStore(builder.CreateLoad(slot.type, address_of(builder, slot, *function, map[linear_])),
                          map[variable]);
    return region;
  }

  /// Replaces `first` and the instructions after it: stores the values that the next region needs, and
  /// returns its number.
  void end(Instruction& first, unsigned next, Region& region, ValueToValueMapTy& map) {
    BasicBlock* block = first.getParent();
    while (&block->back() != &first)
      block->back().eraseFromParent();
    IRBuilder<> builder(&first);
    if (next < starts_.size())
      for (const auto& [variable, slot] : live_[next])
        builder.CreateStore(builder.CreateLoad(slot.type, map[variable]),
                            address_of(builder, slot, *region.function, map[linear_]));
    builder.CreateRet(builder.getInt32(next));
    first.eraseFromParent();
    region.next.insert(next);
  }

  Function& body_;
  const DataLayout& layout_;
  Function* whole_kernel_ = nullptr;
  BasicBlock* begin_ = nullptr; ///< the kernel's begin
  BasicBlock* front_ = nullptr; ///< executed before every region
  Value* linear_ = nullptr;     ///< the thread's number, in front_
  std::vector<BasicBlock*> starts_;
  std::map<BasicBlock*, Stop> stops_;
  std::vector<std::vector<std::pair<AllocaInst*, Slot>>> live_; ///< one list for each start
  std::set<const Instruction*> cheap_;
  std::uint64_t frame_bytes_ = sizeof(std::uint32_t);
};

} // namespace

bool stops_with_all(Function& body) {
  return all_of(instructions(body), [](const Instruction& instruction) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    return !call || !may_suspend(*call) || is_stop(*call);
  });
}

Regions cut_at_stops(Function& body) {
  return Cutter(body).run();
}

} // namespace warplens::lowering
