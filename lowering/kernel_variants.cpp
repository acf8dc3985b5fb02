// Makes the untraced and the traced variant of each kernel. Each is a body - the kernel with the lane as an
// added last parameter - inside an entry that the runtime calls. The entry runs one thread, or, where
// untraced threads wait only for their block, a whole block as loops.
#include "lowering/debugging.h"
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

/// Returns a copy with parameters added at the end; the last is the lane.
Function* clone(Function& source, const Twine& name, std::initializer_list<Type*> added) {
  SmallVector<Type*, 16> types(source.getFunctionType()->params());
  types.append(added);
  auto* body = Function::Create(FunctionType::get(source.getReturnType(), types, false),
                                GlobalValue::InternalLinkage, name, source.getParent());
  ValueToValueMapTy map;
  for (Argument& argument : source.args())
    map[&argument] = body->getArg(argument.getArgNo());
  SmallVector<ReturnInst*, 4> returns;
  // Each copy of a function that is described to debuggers has a description of its own.
  const auto changes = source.getSubprogram() ? CloneFunctionChangeType::GlobalChanges
                                              : CloneFunctionChangeType::LocalChangesOnly;
  CloneFunctionInto(body, &source, map, changes, returns);
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

/// Returns whether a lane may suspend in the function.
bool suspends(Function& body) {
  return any_of(instructions(body), [](const Instruction& instruction) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    return call && may_suspend(*call);
  });
}

/// Makes both variants of the functions that stay calls. The traced one takes the call's first key, too.
class KeptVariants {
public:
  KeptVariants(Module& module, const std::vector<KeptFunction>& kept) {
    auto* pointer = PointerType::getUnqual(module.getContext());
    auto* key = Type::getInt32Ty(module.getContext());
    for (const KeptFunction& function : kept)
      if (Function* source = module.getFunction(function.symbol)) {
        Function* untraced = clone(*source, function.symbol + ".untraced", {pointer});
        Function* traced = clone(*source, function.symbol + traced_suffix, {key, pointer});
        traced->addFnAttr(takes_first_key);
        delete_probes(*untraced);
        keep_as_written(*untraced);
        forget_description(*traced);
        variants_[source] = {untraced, traced};
        topological_order_.insert(topological_order_.end(), {untraced, traced});
      }
    for (const auto& [source, variants] : variants_) {
      redirect(*variants.untraced, false);
      redirect(*variants.traced, true);
    }
  }

  /// Replaces calls of the source functions by calls of one variant.
  void redirect(Function& body, bool traced) const {
    std::vector<CallInst*> calls;
    for (Instruction& instruction : instructions(body))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && variants_.count(call->getCalledFunction()))
        calls.push_back(call);
    for (CallInst* call : calls) {
      IRBuilder<> builder(call);
      SmallVector<Value*, 16> arguments(call->args());
      const Variants& variants = variants_.at(call->getCalledFunction());
      if (traced) {
        Value* key = builder.getInt32(first_key(*call));
        arguments.push_back(body.hasFnAttribute(takes_first_key) ? builder.CreateAdd(key, first_key_of(body))
                                                                 : key);
      }
      arguments.push_back(body.getArg(body.arg_size() - 1));
      CallInst* variant = builder.CreateCall(traced ? variants.traced : variants.untraced, arguments);
      variant->setAttributes(call->getAttributes());
      variant->setDebugLoc(call->getDebugLoc());
      call->replaceAllUsesWith(variant);
      call->eraseFromParent();
    }
  }

  void erase_sources() {
    for (const auto& [source, variants] : variants_)
      source->deleteBody();
    for (const auto& [source, variants] : variants_)
      source->eraseFromParent();
  }

  /// Removes the attribute from functions that may suspend: yields in loops are inserted late.
  void note_waiting() const {
    for (Function* variant : topological_order_)
      if (suspends(*variant))
        variant->removeFnAttr(kept_call);
  }

private:
  struct Variants {
    Function *untraced, *traced;
  };
  std::map<Function*, Variants> variants_;
  std::vector<Function*> topological_order_; ///< callees first
};

/// Removes redundant accesses before they are counted, and inserts yields into loops that may wait for other
/// threads.
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

/// Returns the name of one of a kernel's entries. A debugger that looks for the kernel must not find an
/// entry.
std::string entry_name(const Kernel& kernel, const char* suffix, const Module& module) {
  return (is_debugged(module) ? "warplens_entry." : "") + kernel.symbol + suffix;
}

void make_untraced(Kernel& kernel, Function& body) {
  const bool needs_lanes = kernel.checks.has(cpu::Check::synchronisation) ||
                           kernel.checks.has(cpu::Check::races) || is_debugged(body);
  if (needs_lanes) {
    kernel.untraced_lane = make_lane_entry(body, entry_name(kernel, ".lane", *body.getParent()));
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

void make_variants(Module& module, std::vector<Kernel>& kernels, const std::vector<KeptFunction>& kept,
                   TargetMachine& machine) {
  auto* pointer = PointerType::getUnqual(module.getContext());
  KeptVariants kept_variants(module, kept);
  std::vector<Function*> untraced;
  for (Kernel& kernel : kernels) {
    const KernelTask task(kernel.symbol);
    untraced.push_back(clone(*kernel.source, kernel.symbol + ".untraced", {pointer}));
    delete_probes(*untraced.back());
    keep_as_written(*untraced.back());
    kept_variants.redirect(*untraced.back(), false);
    kernel.traced_body = clone(*kernel.source, kernel.symbol + traced_suffix, {pointer});
    forget_description(*kernel.traced_body);
    kept_variants.redirect(*kernel.traced_body, true);
    kernel.source->eraseFromParent();
    kernel.source = nullptr;
  }
  kept_variants.erase_sources();
  clean_up(module, machine);
  kept_variants.note_waiting();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Kernel& kernel = kernels[i];
    const KernelTask task(kernel.symbol);
    for (Function* body : {untraced[i], kernel.traced_body})
      share_parameters(*body);
    make_untraced(kernel, *untraced[i]);
    kernel.traced_lane = make_lane_entry(*kernel.traced_body, entry_name(kernel, ".traced_lane", module));
    // A traced kernel spends most of its time logging, so unrolled loops would only cost compile time.
    kernel.traced_lane->addFnAttr(Attribute::OptimizeForSize);
  }
}

} // namespace warplens::lowering
