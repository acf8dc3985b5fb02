// Inserts run-time checks where the compiler cannot bound a thread's stack: a function that could not be
// inlined (it recurs, or its address is taken) begins with a call of the runtime, which ends the kernel if
// the stack is too small. Stacks have no guard pages of their own (runtime/cpu/execution/fiber.h).
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <vector>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr char nested[] = "warplens-nested";

void check(IRBuilder<>& builder, Value* bytes) {
  call_runtime(builder, "__warplens_cpu_check_stack", Effects::acts, builder.getVoidTy(), {bytes});
}

void check_where_allocated(AllocaInst& local) {
  IRBuilder<> builder(&local);
  Value* count = builder.CreateZExtOrTrunc(local.getArraySize(), builder.getInt64Ty());
  const std::uint64_t each = local.getModule()->getDataLayout().getTypeAllocSize(local.getAllocatedType());
  // The size cannot overflow: no element has 2^31 bytes, and no stack 2^32.
  check(builder, builder.CreateSelect(builder.CreateICmpUGT(count, builder.getInt64(0xffffffff)),
                                      builder.getInt64(~std::uint64_t{0}),
                                      builder.CreateMul(count, builder.getInt64(each))));
}

} // namespace

void mark_nested(Module& module, const std::vector<Kernel>& kernels) {
  for (Function& function : module)
    if (!function.isDeclaration() &&
        none_of(kernels, [&](const Kernel& kernel) { return kernel.source == &function; }))
      function.addFnAttr(nested);
}

void check_stacks(Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration())
      continue;
    std::vector<AllocaInst*> of_any_size;
    for (Instruction& instruction : instructions(function))
      if (auto* local = dyn_cast<AllocaInst>(&instruction); local && !local->isStaticAlloca())
        of_any_size.push_back(local);
    for (AllocaInst* local : of_any_size)
      check_where_allocated(*local);
    if (function.hasFnAttribute(nested)) {
      IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      check(builder, builder.getInt64(0)); // the function's frame is already there
    }
  }
}

} // namespace warplens::lowering
