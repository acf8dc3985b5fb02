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
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// A copy with added parameters at the end; the last is the lane.
Function* clone(Function& source, const Twine& name, std::initializer_list<Type*> added) {
  SmallVector<Type*, 16> types(source.getFunctionType()->params());
  types.append(added);
  auto* body = Function::Create(FunctionType::get(source.getReturnType(), types, false),
                                GlobalValue::InternalLinkage, name, source.getParent());
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
      if (const Function* callee = call->getCalledFunction();
          callee && (callee->getName() == probe_function || callee->getName() == observe_function))
        call->eraseFromParent();
}

/// May its lane wait there?
bool suspends(Function& body) {
  return any_of(instructions(body), [](const Instruction& instruction) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    return call && may_suspend(*call);
  });
}

/// The two forms of the functions that stay calls. The traced one takes the call's first key, too.
class KeptForms {
public:
  KeptForms(Module& module, const std::vector<KeptFunction>& kept) {
    auto* pointer = PointerType::getUnqual(module.getContext());
    auto* key = Type::getInt32Ty(module.getContext());
    for (const KeptFunction& function : kept)
      if (Function* source = module.getFunction(function.symbol)) {
        Function* untraced = clone(*source, function.symbol + ".untraced", {pointer});
        Function* traced = clone(*source, function.symbol + traced_suffix, {key, pointer});
        traced->addFnAttr(takes_first_key);
        delete_probes(*untraced);
        forms_[source] = {untraced, traced};
        in_order_.insert(in_order_.end(), {untraced, traced});
      }
    for (const auto& [source, forms] : forms_) {
      redirect(*forms.untraced, false);
      redirect(*forms.traced, true);
    }
  }

  /// Calls of the sources become calls of one form.
  void redirect(Function& body, bool traced) const {
    std::vector<CallInst*> calls;
    for (Instruction& instruction : instructions(body))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && forms_.count(call->getCalledFunction()))
        calls.push_back(call);
    for (CallInst* call : calls) {
      IRBuilder<> builder(call);
      SmallVector<Value*, 16> arguments(call->args());
      const Forms& forms = forms_.at(call->getCalledFunction());
      if (traced) {
        Value* key = builder.getInt32(first_key(*call));
        arguments.push_back(body.hasFnAttribute(takes_first_key) ? builder.CreateAdd(key, first_key_of(body))
                                                                 : key);
      }
      arguments.push_back(body.getArg(body.arg_size() - 1));
      CallInst* form = builder.CreateCall(traced ? forms.traced : forms.untraced, arguments);
      form->setAttributes(call->getAttributes());
      call->replaceAllUsesWith(form);
      call->eraseFromParent();
    }
  }

  void erase_sources() {
    for (const auto& [source, forms] : forms_)
      source->deleteBody();
    for (const auto& [source, forms] : forms_)
      source->eraseFromParent();
  }

  /// Loops in which a lane lets others run are found late.
  void note_waiting() const {
    for (Function* form : in_order_)
      if (suspends(*form))
        form->removeFnAttr(kept_call);
  }

private:
  struct Forms {
    Function *untraced, *traced;
  };
  std::map<Function*, Forms> forms_;
  std::vector<Function*> in_order_; ///< callees first
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

void make_untraced(Kernel& kernel, Function& body) {
  const bool needs_lanes =
      kernel.checks.has(cpu::Check::synchronisation) || kernel.checks.has(cpu::Check::races);
  if (needs_lanes) {
    kernel.untraced_lane = make_lane_entry(body, kernel.symbol + ".lane");
    return;
  }
  if (!suspends(body)) {
    kernel.untraced_block = make_block_entry(body, kernel.symbol + ".block");
    return;
  }
  if (stops_with_all(body))
    if (const Regions regions = cut_at_stops(body); !regions.regions.empty()) {
      kernel.untraced_block = make_block_entry(body, regions, kernel.symbol + ".block");
      kernel.frame_bytes = regions.frame_bytes;
      body.eraseFromParent();
      return;
    }
  kernel.untraced_lane = make_lane_entry(body, kernel.symbol + ".lane");
}

} // namespace

void make_forms(Module& module, std::vector<Kernel>& kernels, const std::vector<KeptFunction>& kept,
                TargetMachine& machine) {
  auto* pointer = PointerType::getUnqual(module.getContext());
  KeptForms kept_forms(module, kept);
  std::vector<Function*> untraced;
  for (Kernel& kernel : kernels) {
    const KernelTask task(kernel.symbol);
    untraced.push_back(clone(*kernel.source, kernel.symbol + ".untraced", {pointer}));
    delete_probes(*untraced.back());
    kept_forms.redirect(*untraced.back(), false);
    kernel.traced_body = clone(*kernel.source, kernel.symbol + traced_suffix, {pointer});
    kept_forms.redirect(*kernel.traced_body, true);
    kernel.source->eraseFromParent();
    kernel.source = nullptr;
  }
  kept_forms.erase_sources();
  clean_up(module, machine);
  kept_forms.note_waiting();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Kernel& kernel = kernels[i];
    const KernelTask task(kernel.symbol);
    for (Function* body : {untraced[i], kernel.traced_body})
      share_parameters(*body);
    make_untraced(kernel, *untraced[i]);
    kernel.traced_lane = make_lane_entry(*kernel.traced_body, kernel.symbol + ".traced_lane");
    // Logging takes most of its time, so that unrolled loops would only take the compiler's.
    kernel.traced_lane->addFnAttr(Attribute::OptimizeForSize);
  }
}

} // namespace warplens::lowering
