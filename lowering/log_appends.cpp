// Turns each probe of traced code into an append of (address, key) to the lane's log, inline. Traced code
// also counts the accesses that it executes, with or without a probe: Warplens' coverage thus does not depend
// on the code that inserted the probes.
#include "lowering/lane_binding.h"
#include "lowering/noted_accesses.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "runtime/abi/abi.h"
#include "vocabulary/access.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// A pointer as a constant offset from a base.
struct Place {
  const Value* base;
  std::int64_t offset;
};

Place place(const Value* pointer, const DataLayout& layout) {
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  return {base, offset.getSExtValue()};
}

/// Determines which memory of a function the probes see.
class ProbedMemory {
public:
  ProbedMemory(const std::vector<CallInst*>& probes, const std::vector<Key>& keys, const DataLayout& layout)
      : layout_(layout) {
    for (const CallInst* probe : probes)
      if (const auto* key = dyn_cast<ConstantInt>(probe->getArgOperand(1)))
        if (const auto at = place(probe->getArgOperand(0), layout); keys[key->getZExtValue()].site)
          ranges_[at.base].push_back({at.offset, at.offset + keys[key->getZExtValue()].bytes});
  }

  bool contains(const Value* pointer) const {
    const auto at = place(pointer, layout_);
    return contains(at.base, at.offset);
  }

  /// Returns whether the probes see the memory; a copy or a fill is tested at both ends.
  bool contains(const Value* pointer, const Instruction& access) const {
    const auto at = place(pointer, layout_);
    const auto* block = dyn_cast<MemIntrinsic>(&access);
    const auto* length = block ? dyn_cast<ConstantInt>(block->getLength()) : nullptr;
    return contains(at.base, at.offset) &&
           (!length || length->isZero() || contains(at.base, at.offset + length->getSExtValue() - 1));
  }

private:
  bool contains(const Value* base, std::int64_t offset) const {
    const auto found = ranges_.find(base);
    return found != ranges_.end() && any_of(found->second, [&](const auto& range) {
             return range.first <= offset && offset < range.second;
           });
  }

  const DataLayout& layout_;
  std::map<const Value*, std::vector<std::pair<std::int64_t, std::int64_t>>> ranges_;
};

/// Most locals, parameters, the lane's own state and the compiler's constants are not memory on a GPU, or
/// memory that no code changes.
bool is_memory(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer, 0);
  if (const auto* variable = dyn_cast<AllocaInst>(object))
    return has_unseen_accesses(*variable);
  if (const auto* argument = dyn_cast<Argument>(object))
    return !argument->hasPointeeInMemoryValueAttr();
  if (const auto* call = dyn_cast<CallInst>(object); call && call->getCalledFunction())
    return call->getCalledFunction()->getName() != lane_function;
  if (const auto* variable = dyn_cast<GlobalVariable>(object))
    return !(variable->isConstant() && variable->hasPrivateLinkage());
  return true;
}

/// Returns the memory that an instruction reads or writes: none, one pointer, or a copy's two. Local
/// variables count if they are in local memory, other accesses if the compiler for GPUs leaves them: the
/// rewriter gives probes to no others.
SmallVector<const Value*, 2> accessed(const Instruction& instruction, const ProbedMemory& probed) {
  SmallVector<const Value*, 2> pointers;
  if (const Value* pointer = getLoadStorePointerOperand(&instruction))
    pointers.push_back(pointer);
  else if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    pointers.push_back(update->getPointerOperand());
  else if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction))
    pointers.push_back(swap->getPointerOperand());
  else if (const auto* fill = dyn_cast<MemIntrinsic>(&instruction)) {
    pointers.push_back(fill->getRawDest());
    if (const auto* copy = dyn_cast<MemTransferInst>(&instruction))
      pointers.push_back(copy->getRawSource());
  }
  erase_if(pointers, [&](const Value* pointer) {
    return (!is_memory(pointer) || is_removed_on_gpus(instruction)) && !probed.contains(pointer);
  });
  return pointers;
}

/// Larger functions append by calls: an inline append has two branches, and their number would dominate
/// LLVM's time.
constexpr std::size_t max_appends_inline = 256;

class TracedFunction {
public:
  TracedFunction(Function& function, const std::vector<Key>& keys)
      : function_(function), keys_(keys), layout_(function.getParent()->getDataLayout()) {
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction(); callee && callee->getName() == probe_function)
          probes_.push_back(call);
  }

  void run() {
    IRBuilder<> builder(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    lane_ = current_lane(builder);
    count_accesses();
    const bool by_calls = probes_.size() > max_appends_inline && function_.hasFnAttribute(takes_lane);
    for (CallInst* probe : probes_)
      if (is_mark(*probe))
        count(*probe, by_calls);
      else if (by_calls)
        call_append(*probe);
      else
        append(*probe);
  }

private:
  Value* field(IRBuilder<>& builder, std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), lane_, offset);
  }

  Value* distance_to_key(IRBuilder<>& builder) {
    auto* distance =
        builder.CreateLoad(builder.getInt64Ty(), field(builder, offsetof(cpu::LaneContext, log_keys)));
    distance->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
    return distance;
  }

  /// Counts in two locals, which become registers, and adds them to the lane's counters at the function's
  /// end.
  void count_accesses() {
    const ProbedMemory probed(probes_, keys_, layout_);
    std::vector<std::pair<BasicBlock*, std::pair<unsigned, unsigned>>> counts;
    for (BasicBlock& block : function_) {
      unsigned executed = 0, seen = 0;
      for (const Instruction& instruction : block)
        for (const Value* pointer : accessed(instruction, probed)) {
          ++executed;
          seen += probed.contains(pointer, instruction) || is_of_probed_copy(instruction);
        }
      if (executed)
        counts.push_back({&block, {executed, seen}});
    }
    if (counts.empty())
      return;
    IRBuilder<> builder(&*function_.getEntryBlock().begin());
    Value* executed = builder.CreateAlloca(builder.getInt64Ty());
    Value* seen = builder.CreateAlloca(builder.getInt64Ty());
    builder.CreateStore(builder.getInt64(0), executed);
    builder.CreateStore(builder.getInt64(0), seen);
    const auto add = [](IRBuilder<>& at, Value* sum, Value* amount) {
      at.CreateStore(at.CreateAdd(at.CreateLoad(at.getInt64Ty(), sum), amount), sum);
    };
    std::vector<Instruction*> ends;
    for (Instruction& instruction : instructions(function_)) {
      const auto* call = dyn_cast<CallInst>(&instruction);
      if (isa<ReturnInst>(instruction) || (call && call->doesNotReturn()))
        ends.push_back(&instruction);
    }
    for (const auto& [block, amount] : counts) {
      // Adds at the block's begin, before any call that may end the function, after the locals'
      // initialisation.
      Instruction* first = &*block->getFirstNonPHIOrDbgOrAlloca();
      while (block->isEntryBlock() && isa<StoreInst>(first) &&
             (first->getOperand(1) == executed || first->getOperand(1) == seen))
        first = first->getNextNode();
      IRBuilder<> at(first);
      add(at, executed, at.getInt64(amount.first));
      if (amount.second)
        add(at, seen, at.getInt64(amount.second));
    }
    for (Instruction* end : ends) {
      IRBuilder<> at(end);
      add(at, field(at, offsetof(cpu::LaneContext, executed_accesses)),
          at.CreateLoad(at.getInt64Ty(), executed));
      add(at, field(at, offsetof(cpu::LaneContext, probed_accesses)), at.CreateLoad(at.getInt64Ty(), seen));
    }
  }

  Value* key_of(IRBuilder<>& builder, const CallInst& probe) {
    Value* key = probe.getArgOperand(1);
    return function_.hasFnAttribute(takes_first_key) ? builder.CreateAdd(key, first_key_of(function_)) : key;
  }

  bool is_mark(const CallInst& probe) const {
    const auto* key = dyn_cast<ConstantInt>(probe.getArgOperand(1));
    return key && AccessKind(keys_[key->getZExtValue()].kind) == AccessKind::mark;
  }

  /// Emits: if the lane's last entry has the same key, it counts one more; else it appends a count of 1. So a
  /// loop without accesses leaves one entry.
  void count(CallInst& mark, bool by_calls) {
    Instruction* at = &mark;
    IRBuilder<> builder(at);
    if (!function_.hasFnAttribute(takes_lane)) {
      Value* end =
          builder.CreateLoad(builder.getPtrTy(), field(builder, offsetof(cpu::LaneContext, log_end)));
      at = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(end), at->getIterator(), false);
      builder.SetInsertPoint(at);
    }
    Value* next =
        builder.CreateLoad(builder.getPtrTy(), field(builder, offsetof(cpu::LaneContext, log_next)));
    Value* last = builder.CreateInBoundsGEP(builder.getInt8Ty(), next,
                                            builder.getInt64(std::uint64_t{0} - sizeof(cpu::LogRow)));
    Value* key = key_of(builder, mark);
    Value* last_key = builder.CreateLoad(
        builder.getInt32Ty(), builder.CreateInBoundsGEP(builder.getInt8Ty(), last, distance_to_key(builder)));
    Instruction *same = nullptr, *other = nullptr;
    SplitBlockAndInsertIfThenElse(builder.CreateICmpEQ(last_key, key), at->getIterator(), &same, &other);
    builder.SetInsertPoint(same);
    builder.CreateStore(
        builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), last), builder.getInt64(1)), last);
    builder.SetInsertPoint(other);
    CallInst* first = builder.CreateCall(
        mark.getCalledFunction(),
        {ConstantExpr::getIntToPtr(builder.getInt64(1), builder.getPtrTy()), mark.getArgOperand(1)});
    mark.eraseFromParent();
    if (by_calls)
      call_append(*first);
    else
      append(*first);
  }

  void call_append(CallInst& probe) {
    IRBuilder<> builder(&probe);
    builder.CreateCall(append_function(), {probe.getArgOperand(0), key_of(builder, probe), lane_});
    probe.eraseFromParent();
  }

  /// Makes a function that contains one probe only: (ptr address, u32 key, ptr lane).
  Function* append_function() {
    constexpr char name[] = "warplens.append";
    Module& module = *function_.getParent();
    if (Function* made = module.getFunction(name))
      return made;
    auto& context = module.getContext();
    auto* pointer = PointerType::getUnqual(context);
    auto* made = Function::Create(
        FunctionType::get(Type::getVoidTy(context), {pointer, Type::getInt32Ty(context), pointer}, false),
        GlobalValue::InternalLinkage, name, module);
    for (const char* attribute : {"target-cpu", "target-features"})
      made->addFnAttr(function_.getFnAttribute(attribute));
    made->setDoesNotThrow();
    made->addFnAttr(takes_lane);
    made->addFnAttr(Attribute::NoInline);
    IRBuilder<> builder(BasicBlock::Create(context, "", made));
    builder.CreateCall(declare_probe(module), {made->getArg(0), made->getArg(1)});
    builder.CreateRetVoid();
    TracedFunction(*made, keys_).run();
    return made;
  }

  /// Emits: if (next == end) log_full(lane); the address and the key at next; next += a row. Functions
  /// without a traced variant run untraced too: there the log is unlimited.
  void append(CallInst& probe) {
    auto& context = function_.getContext();
    Instruction* at = &probe;
    const auto unlikely = MDBuilder(context).createUnlikelyBranchWeights();
    IRBuilder<> builder(at);
    if (!function_.hasFnAttribute(takes_lane)) {
      Value* end =
          builder.CreateLoad(builder.getPtrTy(), field(builder, offsetof(cpu::LaneContext, log_end)));
      at = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(end), at->getIterator(), false, unlikely);
      builder.SetInsertPoint(at);
    }
    Value* next =
        builder.CreateLoad(builder.getPtrTy(), field(builder, offsetof(cpu::LaneContext, log_next)));
    Value* end = builder.CreateLoad(builder.getPtrTy(), field(builder, offsetof(cpu::LaneContext, log_end)));
    BasicBlock* before = builder.GetInsertBlock();
    Instruction* full =
        SplitBlockAndInsertIfThen(builder.CreateICmpEQ(next, end), at->getIterator(), false, unlikely);
    IRBuilder<> in_full(full);
    call_runtime(in_full, "__warplens_cpu_log_full", Effects::suspends, in_full.getVoidTy(), {lane_});
    Value* emptied =
        in_full.CreateLoad(in_full.getPtrTy(), field(in_full, offsetof(cpu::LaneContext, log_next)));
    builder.SetInsertPoint(at);
    PHINode* entry = PHINode::Create(builder.getPtrTy(), 2, "", at->getParent()->begin());
    entry->addIncoming(next, before);
    entry->addIncoming(emptied, full->getParent());
    builder.CreateStore(builder.CreatePtrToInt(probe.getArgOperand(0), builder.getInt64Ty()), entry);
    builder.CreateStore(key_of(builder, probe),
                        builder.CreateInBoundsGEP(builder.getInt8Ty(), entry, distance_to_key(builder)));
    builder.CreateStore(builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry, sizeof(cpu::LogRow)),
                        field(builder, offsetof(cpu::LaneContext, log_next)));
    probe.eraseFromParent();
  }

  Function& function_;
  const std::vector<Key>& keys_;
  const DataLayout& layout_;
  std::vector<CallInst*> probes_;
  Value* lane_ = nullptr;
};

} // namespace

void append_to_logs(Module& module, const std::vector<Kernel>& kernels,
                    const std::vector<KeptFunction>& kept) {
  for (const Kernel& kernel : kernels)
    TracedFunction(*kernel.traced_body, kernel.keys).run();
  for (const KeptFunction& function : kept)
    if (Function* form = module.getFunction(function.symbol + traced_suffix))
      TracedFunction(*form, function.keys).run();
  // Other functions that stay calls serve both variants; their keys are the same in all kernels.
  std::vector<Function*> shared;
  for (Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(takes_lane) &&
        none_of(kernels, [&](const Kernel& kernel) {
          return &function == kernel.untraced_block || &function == kernel.untraced_lane ||
                 &function == kernel.traced_lane;
        }))
      shared.push_back(&function);
  for (Function* function : shared)
    TracedFunction(*function, kernels.empty() ? std::vector<Key>() : kernels.front().keys).run();
  if (Function* probe = module.getFunction(probe_function))
    probe->eraseFromParent();
}

} // namespace warplens::lowering
