// A kernel's two forms. Each is a body - the kernel with the lane as an added last parameter - inside an
// entry that the runtime calls: one that runs one thread, or, where untraced threads wait for nothing but
// their block, one that runs a whole block as loops.
#include "lowering/entries.h"
#include "lowering/lane_binding.h"
#include "lowering/parameters.h"
#include "lowering/pipelines.h"
#include "lowering/regions.h"
#include "lowering/runtime_calls.h"
#include "lowering/spinning.h"
#include "lowering/stages.h"

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

/// Does it need a fiber of its own?
bool suspends(Function& body) {
  return any_of(instructions(body), [](const Instruction& instruction) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    return call && may_suspend(*call);
  });
}

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

void make_untraced(Kernel& kernel, Function& body) {
  if (!suspends(body)) {
    kernel.untraced_block = make_block_entry(body, kernel.symbol + ".block");
    return;
  }
  if (stops_at_barriers_only(body))
    if (const Regions regions = cut_at_barriers(body); !regions.regions.empty()) {
      kernel.untraced_block = make_block_entry(body, regions, kernel.symbol + ".block");
      kernel.frame_bytes = regions.frame_bytes;
      body.eraseFromParent();
      return;
    }
  kernel.untraced_lane = make_lane_entry(body, kernel.symbol + ".lane");
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
    for (Function* body : {untraced[i], kernel.traced_body})
      share_parameters(*body);
    make_untraced(kernel, *untraced[i]);
    kernel.traced_lane = make_lane_entry(*kernel.traced_body, kernel.symbol + ".traced_lane");
  }
}

} // namespace warplens::lowering
