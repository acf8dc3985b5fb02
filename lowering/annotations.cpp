// Reads the annotations that the rewriter and the compatibility headers leave on functions for the lowering.
#include "lowering/kernel.h"
#include "lowering/noted_accesses.h"
#include "lowering/refused_code.h"
#include "lowering/stages.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

static StringRef text_of(const Value* value) {
  const auto* variable = dyn_cast<GlobalVariable>(value->stripPointerCasts());
  const auto* data = variable && variable->hasInitializer()
                         ? dyn_cast<ConstantDataSequential>(variable->getInitializer())
                         : nullptr;
  return data && data->isCString() ? data->getAsCString() : StringRef();
}

/// "__cluster_dims__(2, 1, 1)"
static bool requires_several_blocks(StringRef annotation) {
  if (!annotation.consume_front("__cluster_dims__(") || !annotation.consume_back(")"))
    return false;
  SmallVector<StringRef, 3> sizes;
  annotation.split(sizes, ',');
  return any_of(sizes, [](StringRef size) { return size.trim() != "1"; });
}

void check_annotations(Module& module) {
  GlobalVariable* all = module.getNamedGlobal("llvm.global.annotations");
  if (!all || !all->hasInitializer())
    return;
  std::set<Function*> carriers; // functions that exist only to carry an annotation
  for (const Use& use : cast<Constant>(all->getInitializer())->operands()) {
    const auto* entry = dyn_cast<ConstantStruct>(use); // function, annotation, file, line, arguments
    if (entry && keep_note(module, text_of(entry->getOperand(1)))) {
      carriers.insert(cast<Function>(entry->getOperand(0)->stripPointerCasts()));
      continue;
    }
    if (entry && requires_several_blocks(text_of(entry->getOperand(1))))
      mark_refused(
          *cast<Function>(entry->getOperand(0)->stripPointerCasts()),
          fmt::format(
              "{}:{}: a kernel in clusters of several blocks, {}, is not supported on the CPU back end "
              "(choose a way of the program's without it, or a GPU: --backend gpu)",
              text_of(entry->getOperand(2)).str(), cast<ConstantInt>(entry->getOperand(3))->getZExtValue(),
              text_of(entry->getOperand(1)).str()));
  }
  all->eraseFromParent(); // the list would keep functions alive
  removeFromUsedLists(module, [&](Constant* used) { return carriers.contains(dyn_cast<Function>(used)); });
  for (Function* carrier : carriers)
    carrier->eraseFromParent();
}

} // namespace warplens::lowering
