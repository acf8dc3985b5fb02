// Compiles a module in which every kernel is complete to one object, in parts of a few kernels each. Parts
// are compiled in parallel and each is looked up in the cache.
#pragma once

#include "lowering/kernel.h"
#include "lowering/lower.h"
#include "lowering/progress.h"

#include <llvm/IR/Module.h>
#include <memory>

namespace warplens::lowering {

/// Takes the module as assign_order_keys leaves it, without debug information.
Expected<void> compile_in_parts(std::unique_ptr<llvm::Module> module, std::vector<Kernel> kernels,
                                const std::vector<KeptFunction>& kept, std::vector<DeviceVariable> variables,
                                const Output& output, Progress& progress);

} // namespace warplens::lowering
