// Inlines everything that a kernel calls, so that one function shows the program's order. Recursive functions
// and those whose address is taken stay calls. So do the largest callees of a function that would otherwise
// grow beyond its bound, provided that no lane can wait in them.
#include "lowering/debugging.h"
#include "lowering/pipelines.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

namespace warplens::lowering {

using namespace llvm;

/// Declares that the rewriter's probe reads no memory and keeps no pointer, so that locals whose address it
/// does not receive can become values. Texture look-ups may be removed if their results are unused.
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
  for (Function& function : module) // a call site may forbid inlining, too
    for (User* user : function.users())
      if (auto* call = dyn_cast<CallBase>(user); call && function.hasFnAttribute(Attribute::AlwaysInline))
        call->removeFnAttr(Attribute::NoInline);
}

// No pass below may move blocks: their layout is the program's order, from which the keys are assigned.

static FunctionPassManager value_passes() {
  FunctionPassManager simplify;
  simplify.addPass(SROAPass(SROAOptions::PreserveCFG));
  simplify.addPass(EarlyCSEPass());
  simplify.addPass(InstSimplifyPass());
  return simplify;
}

namespace {

bool uses_shared_memory(const Value& value) {
  if (const auto* variable = dyn_cast<GlobalVariable>(&value))
    return variable->getAddressSpace() == 3;
  const auto* constant = dyn_cast<Constant>(&value);
  return constant && !isa<GlobalValue>(constant) &&
         any_of(constant->operands(), [](const Use& operand) { return uses_shared_memory(*operand); });
}

/// Returns whether the call is a probe whose site, size or kind is chosen by the caller.
bool is_probe_of_any_site(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == access_function && any_of(call.args(), [&](const Use& argument) {
           return call.getArgOperandNo(&argument) != 1 && !isa<ConstantInt>(argument);
         });
}

/// Returns whether the function may stay a call. Such functions serve kernels with different layouts of
/// shared memory, and are left only by returning. Volatile accesses may rely on lock step, whose stops belong
/// to kernels; a loop that waits for another thread must see the memory that it tests.
bool may_be_kept(Function& function) {
  return all_of(instructions(function), [](const Instruction& instruction) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    return !(call && (may_suspend(*call) || is_probe_of_any_site(*call))) && !isa<InvokeInst>(instruction) &&
           !instruction.isVolatile() && !instruction.isAtomic() &&
           none_of(instruction.operands(), [](const Use& operand) { return uses_shared_memory(*operand); });
  });
}

/// Inlines callees before their callers and simplifies each function once all its calls are inlined: a
/// function with many callers is small by then, and LLVM's time grows faster than its functions. Without
/// `simplify` a kernel grows with every line of every callee.
class BottomUpInliner {
public:
  BottomUpInliner(Module& module, TargetMachine& machine, bool simplify, std::uint64_t max_instructions)
      : module_(module), simplify_(simplify), max_instructions_(max_instructions), analyses_(machine),
        passes_(value_passes()) {}

  void run() {
    CallGraph graph(module_);
    std::vector<Function*> callees_first;
    for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
      for (CallGraphNode* node : *component)
        if (Function* function = node->getFunction(); function && !function->isDeclaration())
          callees_first.push_back(function);
    // Functions that may be called from elsewhere than kernels and their callees have no lane to pass on.
    keeps_ = none_of(callees_first, [](const Function* function) {
      return function->hasAddressTaken() || !function->hasFnAttribute(Attribute::AlwaysInline);
    });
    for (Function* function : callees_first) {
      inline_into(*function);
      if (simplify_) {
        removeUnreachableBlocks(*function);
        analyses_.run(passes_, *function);
      }
    }
    for (Function* function : kept_) {
      function->removeFnAttr(Attribute::AlwaysInline);
      function->addFnAttr(Attribute::NoInline);
    }
  }

private:
  struct Callee {
    Function* function;
    std::uint64_t instructions; ///< the sum over all its copies
  };

  std::vector<Callee> callees_of(const std::vector<CallBase*>& calls) const {
    std::vector<Callee> callees;
    for (const CallBase* call : calls) {
      Function* callee = call->getCalledFunction();
      auto known = find_if(callees, [&](const Callee& other) { return other.function == callee; });
      if (known == callees.end())
        known = callees.insert(known, {callee, 0});
      known->instructions += callee->getInstructionCount();
    }
    return callees;
  }

  /// Returns the callees that stay calls in this caller.
  SmallPtrSet<Function*, 4> choose_kept(const Function& caller, const std::vector<CallBase*>& calls) const {
    SmallPtrSet<Function*, 4> kept;
    auto callees = callees_of(calls);
    std::uint64_t total = caller.getInstructionCount();
    for (const Callee& callee : callees)
      total += callee.instructions;
    stable_sort(callees, [](const Callee& left, const Callee& right) {
      return left.instructions > right.instructions;
    });
    const std::uint64_t hardly_larger_than_a_call = max_instructions_ / 200;
    for (const Callee& callee : callees)
      if (keeps_ && total > max_instructions_ &&
          callee.function->getInstructionCount() >= hardly_larger_than_a_call &&
          may_be_kept(*callee.function)) {
        kept.insert(callee.function);
        total -= callee.instructions;
      }
    return kept;
  }

  void inline_into(Function& caller) {
    std::vector<CallBase*> calls;
    for (Instruction& instruction : instructions(caller))
      if (auto* call = dyn_cast<CallBase>(&instruction))
        if (Function* callee = call->getCalledFunction(); callee && callee != &caller &&
                                                          callee->hasFnAttribute(Attribute::AlwaysInline) &&
                                                          isInlineViable(*callee).isSuccess())
          calls.push_back(call);
    const auto kept = choose_kept(caller, calls);
    for (Function* function : kept) {
      kept_.insert(function);
      function->addFnAttr(kept_call);
    }
    for (CallBase* call : calls)
      if (!kept.count(call->getCalledFunction())) {
        InlineFunctionInfo info;
        InlineFunction(*call, info, /*MergeAttributes=*/true);
      }
  }

  Module& module_;
  bool simplify_;
  std::uint64_t max_instructions_;
  bool keeps_ = true;
  SetVector<Function*> kept_;
  FunctionAnalyses analyses_;
  FunctionPassManager passes_;
};

} // namespace

void inline_calls(Module& module, TargetMachine& machine, bool simplify, std::uint64_t max_instructions) {
  describe_access(module);
  mark_for_inlining(module);
  BottomUpInliner(module, machine, simplify, max_instructions).run();
  remove_unreachable(module, machine);
}

void make_values(Module& module, TargetMachine& machine) {
  if (is_debugged(module)) {
    run_pipeline(module, machine, [](PassBuilder&, ModulePassManager& passes) {
      passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
    });
    keep_variables(module);
  }
  run_pipeline(module, machine, [](PassBuilder&, ModulePassManager& passes) {
    passes.addPass(createModuleToFunctionPassAdaptor(value_passes()));
  });
}

} // namespace warplens::lowering
