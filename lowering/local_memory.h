// Local variables that a GPU keeps in memory, where accesses to them have no probe.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace llvm {
class AllocaInst;
class Module;
} // namespace llvm

namespace warplens::lowering {

/// Is it the rewriter's note of such accesses? Then the module remembers it.
bool keep_local_memory_note(llvm::Module& module, llvm::StringRef annotation);

/// Marks the local variables that a GPU accesses in memory, out of the probes' sight. To be called while
/// instructions still have their places in the source.
void mark_local_memory(llvm::Module& module);

/// Is the variable one that mark_local_memory() has marked?
bool has_unseen_accesses(const llvm::AllocaInst& variable);

} // namespace warplens::lowering
