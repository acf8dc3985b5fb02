// What the rewriter has noted of accesses without a probe. It has looked at the code as optimised for a GPU;
// here loops are not unrolled yet, and what a GPU has in registers, or loads once, looks as in the source.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace llvm {
class AllocaInst;
class Instruction;
class Module;
} // namespace llvm

namespace warplens::lowering {

/// Is it a note of the rewriter's (rewriter/print.cpp)? Then the module remembers it.
bool keep_note(llvm::Module& module, llvm::StringRef annotation);

/// Marks the local variables that a GPU accesses in memory, out of the probes' sight, and the accesses that a
/// GPU does not execute. To be called while instructions still have their places in the source.
void mark_noted_accesses(llvm::Module& module);

/// Does a GPU access the variable in memory where there is no probe?
bool has_unseen_accesses(const llvm::AllocaInst& variable);

/// Does the compiler for GPUs remove accesses without a probe from where this one comes from?
bool is_removed_on_gpus(const llvm::Instruction& access);

} // namespace warplens::lowering
