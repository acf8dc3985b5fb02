#include "lowering/runtime_calls.h"

namespace warplens::lowering {

using namespace llvm;

static void assume(Function& function, Effects effects) {
  function.setDoesNotThrow();
  switch (effects) {
  case Effects::suspends: function.setConvergent(); return;
  case Effects::ends: function.setDoesNotReturn(); return;
  case Effects::acts: return;
  case Effects::reads: function.setOnlyReadsMemory(); break;
  case Effects::none: function.setDoesNotAccessMemory(); break;
  }
  function.setWillReturn();
  function.setDoesNotFreeMemory();
  function.addFnAttr(Attribute::NoCallback);
}

FunctionCallee runtime_function(Module& module, StringRef name, Effects effects, Type* result,
                                ArrayRef<Type*> parameters) {
  auto callee = module.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
  assume(*cast<Function>(callee.getCallee()), effects);
  return callee;
}

CallInst* call_runtime(IRBuilderBase& builder, StringRef name, Effects effects, Type* result,
                       ArrayRef<Value*> arguments) {
  SmallVector<Type*, 8> types;
  for (Value* argument : arguments)
    types.push_back(argument->getType());
  auto* call = builder.CreateCall(
      runtime_function(*builder.GetInsertBlock()->getModule(), name, effects, result, types), arguments);
  if (effects == Effects::suspends)
    call->setConvergent();
  return call;
}

Value* current_lane(IRBuilderBase& builder) {
  return call_runtime(builder, lane_function, Effects::none, builder.getPtrTy(), {});
}

Function* declare_probe(Module& module) {
  auto& context = module.getContext();
  auto callee = module.getOrInsertFunction(probe_function, Type::getVoidTy(context),
                                           PointerType::getUnqual(context), Type::getInt32Ty(context));
  auto* probe = cast<Function>(callee.getCallee());
  probe->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  probe->setDoesNotThrow();
  probe->setWillReturn();
  probe->setDoesNotFreeMemory();
  probe->addFnAttr(Attribute::NoCallback);
  probe->addParamAttr(0, Attribute::NoCapture);
  probe->addParamAttr(0, Attribute::ReadNone);
  return probe;
}

/// Calls a placeholder that no code can see the memory of.
static void mark(IRBuilderBase& builder, StringRef name, ArrayRef<Value*> arguments) {
  CallInst* call = call_runtime(builder, name, Effects::acts, builder.getVoidTy(), arguments);
  Function& placeholder = *call->getCalledFunction();
  placeholder.setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  placeholder.setWillReturn();
  placeholder.addFnAttr(Attribute::NoCallback);
}

void mark_copy(IRBuilderBase& builder, Value* to, std::uint64_t bytes) {
  mark(builder, copy_function,
       {builder.CreateAddrSpaceCast(to, builder.getPtrTy()), builder.getInt64(bytes)});
}

void mark_copies_end(IRBuilderBase& builder) {
  mark(builder, copies_end_function, {});
}

void mark_copies_wait(IRBuilderBase& builder, Value* pending) {
  mark(builder, copies_wait_function, {pending});
}

bool is_kept_call(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->hasFnAttribute(kept_call);
}

constexpr char first_key_metadata[] = "warplens.first_key";

void set_first_key(CallInst& call, std::uint32_t key) {
  auto* number = ConstantInt::get(Type::getInt32Ty(call.getContext()), key);
  call.setMetadata(first_key_metadata, MDNode::get(call.getContext(), ConstantAsMetadata::get(number)));
}

std::uint32_t first_key(const CallInst& call) {
  const MDNode* node = call.getMetadata(first_key_metadata);
  return static_cast<std::uint32_t>(mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue());
}

bool may_stop_lane(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName().starts_with("__warplens_cpu_") &&
         (callee->isConvergent() || callee->doesNotReturn());
}

bool synchronises(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !may_stop_lane(call) || callee->doesNotReturn())
    return false;
  const StringRef name = callee->getName();
  return !name.starts_with("__warplens_cpu_check") &&
         !is_contained({"__warplens_cpu_barrier_arrive", "__warplens_cpu_yield", "__warplens_cpu_sleep",
                        "__warplens_cpu_log_full"},
                       name);
}

bool may_suspend(const CallInst& call) {
  if (call.getIntrinsicID() != Intrinsic::not_intrinsic || is_kept_call(call))
    return false;
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->getName() == "__warplens_cpu_exit")
    return true;
  return callee->isConvergent() && may_stop_lane(call);
}

} // namespace warplens::lowering
