// A kernel's two forms. Each is a body - the kernel with the lane as an added last parameter - inside an
// entry that the runtime calls: one that runs one thread, or, where the kernel never waits for other threads,
// one that runs a whole block as a loop.
#include "lowering/lane_binding.h"
#include "lowering/pipelines.h"
#include "lowering/runtime_calls.h"
#include "lowering/spinning.h"
#include "lowering/stages.h"
#include "runtime/cpu/abi.h"

#include <cstddef>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

Function* clone_body(const Kernel& kernel, const char* suffix) {
  Function& source = *kernel.source;
  SmallVector<Type*, 16> types(source.getFunctionType()->params());
  types.push_back(PointerType::getUnqual(source.getContext()));
  auto* body = Function::Create(FunctionType::get(source.getReturnType(), types, false),
                                GlobalValue::InternalLinkage, kernel.symbol + suffix, source.getParent());
  ValueToValueMapTy map;
  for (Argument& argument : source.args())
    map[&argument] = body->getArg(argument.getArgNo());
  SmallVector<ReturnInst*, 4> returns;
  CloneFunctionInto(body, &source, map, CloneFunctionChangeType::LocalChangesOnly, returns);
  body->addFnAttr(takes_lane);
  return body;
}

void delete_probes(Function& function) {
  for (Instruction& instruction : make_early_inc_range(instructions(function)))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (const Function* callee = call->getCalledFunction(); callee && callee->getName() == probe_function)
        call->eraseFromParent();
}

/// Does it need a fiber of its own? A function that could not be inlined may do anything.
bool suspends(Function& body) {
  for (Instruction& instruction : instructions(body)) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    if (!call || call->getIntrinsicID() != Intrinsic::not_intrinsic)
      continue;
    const Function* callee = call->getCalledFunction();
    if (!callee || !callee->isDeclaration() || callee->getName() == "__warplens_cpu_exit")
      return true;
    if (callee->isConvergent() && may_stop_lane(*call))
      return true;
  }
  return false;
}

/// Loads what the arguments point to, in the types of the body's parameters. A struct by value stays where it
/// is: the inliner copies it for each thread that writes to it.
SmallVector<Value*, 16> unpack(IRBuilder<>& builder, Value* arguments, Function& body) {
  SmallVector<Value*, 16> values;
  for (Argument& parameter : body.args()) {
    if (parameter.getArgNo() + 1 == body.arg_size())
      break;
    Value* slot = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), arguments, parameter.getArgNo()));
    if (parameter.hasByValAttr())
      values.push_back(slot);
    else if (parameter.getType()->isIntegerTy(1))
      values.push_back(
          builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), slot), parameter.getType()));
    else
      values.push_back(builder.CreateLoad(parameter.getType(), slot));
  }
  return values;
}

void call_body(IRBuilder<>& builder, Function& body, ArrayRef<Value*> values, Value* lane) {
  SmallVector<Value*, 16> all(values);
  all.push_back(lane);
  auto* call = builder.CreateCall(&body, all);
  call->setAttributes(body.getAttributes());
  call->setAttributes(call->getAttributes().removeFnAttributes(body.getContext()));
}

Function* make_entry(Function& body, const Twine& name) {
  auto& context = body.getContext();
  auto* pointer = PointerType::getUnqual(context);
  auto* entry = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false),
                                 GlobalValue::InternalLinkage, name, body.getParent());
  entry->setDoesNotThrow();
  for (const char* attribute : {"target-cpu", "target-features"})
    entry->addFnAttr(body.getFnAttribute(attribute));
  BasicBlock::Create(context, "", entry);
  body.removeFnAttr(Attribute::NoInline);
  body.addFnAttr(Attribute::AlwaysInline);
  return entry;
}

Function* make_lane_entry(Function& body, const Twine& name) {
  Function* entry = make_entry(body, name);
  IRBuilder<> builder(&entry->getEntryBlock());
  const auto values = unpack(builder, entry->getArg(0), body);
  call_body(builder, body, values, entry->getArg(1));
  builder.CreateRetVoid();
  return entry;
}

/// for z, for y, for x: the body, with the indices stored in a LaneContext of this function's, which is
/// values after inlining.
class BlockEntry {
public:
  BlockEntry(Function& body, const Twine& name)
      : body_(body), entry_(make_entry(body, name)), builder_(&entry_->getEntryBlock()) {
    Value* block = entry_->getArg(1);
    entry_->addParamAttr(1, Attribute::NoAlias);
    entry_->addParamAttr(1, Attribute::ReadOnly);
    entry_->addDereferenceableParamAttr(1, sizeof(cpu::BlockContext));
    lane_ = builder_.CreateAlloca(ArrayType::get(builder_.getInt64Ty(), (sizeof(cpu::LaneContext) + 7) / 8));
    builder_.CreateStore(block, field(offsetof(cpu::LaneContext, block)));
    for (const std::size_t offset : {offsetof(cpu::LaneContext, log_next),
                                     offsetof(cpu::LaneContext, log_end), offsetof(cpu::LaneContext, fiber)})
      builder_.CreateStore(ConstantPointerNull::get(builder_.getPtrTy()), field(offset));
    values_ = unpack(builder_, entry_->getArg(0), body);
    linear_ = builder_.CreateAlloca(builder_.getInt32Ty());
    builder_.CreateStore(builder_.getInt32(0), linear_);
    for (unsigned dimension = 0; dimension < 3; ++dimension)
      limits_[dimension] =
          load_block_field(builder_, block, offsetof(cpu::BlockContext, block_dim) + 4 * dimension);
  }

  Function* build() {
    loop(2);
    builder_.CreateRetVoid();
    return entry_;
  }

private:
  Value* field(std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), lane_, offset);
  }

  void loop(unsigned dimension) {
    BasicBlock* before = builder_.GetInsertBlock();
    auto* header = BasicBlock::Create(builder_.getContext(), "thread", entry_);
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    PHINode* index = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    index->addIncoming(builder_.getInt32(0), before);
    builder_.CreateStore(index, field(offsetof(cpu::LaneContext, thread_index) + 4 * dimension));
    if (dimension > 0)
      loop(dimension - 1);
    else
      thread();
    Value* next = builder_.CreateAdd(index, builder_.getInt32(1), "", true, true);
    index->addIncoming(next, builder_.GetInsertBlock());
    auto* after = BasicBlock::Create(builder_.getContext(), "", entry_);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, limits_[dimension]), header,
                          after); // no dimension is 0
    builder_.SetInsertPoint(after);
  }

  void thread() {
    Value* linear = builder_.CreateLoad(builder_.getInt32Ty(), linear_);
    builder_.CreateStore(linear, field(offsetof(cpu::LaneContext, linear_thread)));
    call_body(builder_, body_, values_, lane_);
    builder_.CreateStore(builder_.CreateAdd(linear, builder_.getInt32(1)), linear_);
  }

  Function& body_;
  Function* entry_;
  IRBuilder<> builder_;
  Value* lane_;
  Value* linear_;
  SmallVector<Value*, 16> values_;
  Value* limits_[3];
};

/// Redundant accesses go before they are counted, and loops that may wait for other threads let them run.
void clean_up(Module& module, TargetMachine& machine) {
  run_pipeline(module, machine, [](PassBuilder&, ModulePassManager& passes) {
    FunctionPassManager cleanup;
    cleanup.addPass(SROAPass(SROAOptions::ModifyCFG));
    cleanup.addPass(EarlyCSEPass(true));
    cleanup.addPass(SimplifyCFGPass());
    cleanup.addPass(InstCombinePass());
    cleanup.addPass(GVNPass());
    cleanup.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    cleanup.addPass(InstCombinePass());
    cleanup.addPass(SimplifyCFGPass());
    cleanup.addPass(YieldInSpinLoops());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(cleanup)));
  });
}

} // namespace

void make_forms(Module& module, std::vector<Kernel>& kernels, TargetMachine& machine) {
  std::vector<Function*> untraced;
  for (Kernel& kernel : kernels) {
    untraced.push_back(clone_body(kernel, ".untraced"));
    delete_probes(*untraced.back());
    kernel.traced_body = clone_body(kernel, ".traced");
    kernel.source->eraseFromParent();
    kernel.source = nullptr;
  }
  clean_up(module, machine);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Kernel& kernel = kernels[i];
    if (suspends(*untraced[i]))
      kernel.untraced_lane = make_lane_entry(*untraced[i], kernel.symbol + ".lane");
    else
      kernel.untraced_block = BlockEntry(*untraced[i], kernel.symbol + ".block").build();
    kernel.traced_lane = make_lane_entry(*kernel.traced_body, kernel.symbol + ".traced_lane");
  }
}

} // namespace warplens::lowering
