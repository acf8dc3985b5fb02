// Everything a kernel calls moves into it, so that one function shows the program's order. Recursive
// functions and those whose address is taken stay calls.
#include "lowering/pipelines.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>

namespace warplens::lowering {

using namespace llvm;

/// The rewriter's probe reads no memory and keeps no pointer; so locals whose address it is not given can
/// become values. What it asks before of a texture goes where nobody wants to know.
static void describe_access(Module& module) {
  for (const char* name : lookup_functions)
    if (Function* lookup = module.getFunction(name)) {
      lookup->removeFnAttr(Attribute::Convergent);
      lookup->setOnlyReadsMemory();
      lookup->setDoesNotThrow();
      lookup->setWillReturn();
    }
  Function* access = module.getFunction(access_function);
  if (!access)
    return;
  access->removeFnAttr(Attribute::Convergent);
  access->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  access->setDoesNotThrow();
  access->setWillReturn();
  if (access->arg_size() > 1) {
    access->addParamAttr(1, Attribute::NoCapture);
    access->addParamAttr(1, Attribute::ReadNone);
  }
}

static void mark_for_inlining(Module& module) {
  CallGraph graph(module);
  for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
    for (CallGraphNode* node : *component) {
      Function* function = node->getFunction();
      if (!function || function->isDeclaration())
        continue;
      function->removeFnAttr(Attribute::NoInline);
      function->removeFnAttr(Attribute::OptimizeNone);
      function->removeFnAttr(Attribute::OptimizeForSize);
      function->removeFnAttr(Attribute::MinSize);
      if (component.hasCycle()) {
        function->removeFnAttr(Attribute::AlwaysInline);
        function->addFnAttr(Attribute::NoInline);
      } else {
        function->addFnAttr(Attribute::AlwaysInline);
      }
    }
  for (Function& function : module) // a call site may forbid it too
    for (User* user : function.users())
      if (auto* call = dyn_cast<CallBase>(user); call && function.hasFnAttribute(Attribute::AlwaysInline))
        call->removeFnAttr(Attribute::NoInline);
}

// Nothing in these two may move blocks: their layout is the program's order, which the keys are taken from
// afterwards.

void inline_calls(Module& module, TargetMachine& machine) {
  describe_access(module);
  mark_for_inlining(module);
  run_pipeline(module, machine, [](PassBuilder&, ModulePassManager& passes) {
    passes.addPass(AlwaysInlinerPass(true));
    passes.addPass(GlobalDCEPass());
  });
}

void make_values(Module& module, TargetMachine& machine) {
  run_pipeline(module, machine, [](PassBuilder&, ModulePassManager& passes) {
    FunctionPassManager simplify;
    simplify.addPass(SROAPass(SROAOptions::PreserveCFG));
    simplify.addPass(EarlyCSEPass());
    simplify.addPass(InstSimplifyPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(simplify)));
  });
}

} // namespace warplens::lowering
