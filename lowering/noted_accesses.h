// Reads the rewriter's notes on accesses without a probe. The rewriter has analysed the code as optimised for
// a GPU; here loops are not unrolled yet, and data that a GPU has in registers, or loads once, looks as in
// the source.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace llvm {
class AllocaInst;
class Instruction;
class Module;
} // namespace llvm

namespace warplens::lowering {

/// Stores the annotation in the module if it is a note of the rewriter (rewriter/print.cpp); returns whether
/// it is.
bool keep_note(llvm::Module& module, llvm::StringRef annotation);

/// Marks the local variables that a GPU accesses in memory without probes, and the accesses that a GPU does
/// not execute. Must run while instructions still have their places in the source.
void mark_noted_accesses(llvm::Module& module);

/// Returns whether a GPU accesses the variable in memory where there is no probe.
bool has_unseen_accesses(const llvm::AllocaInst& variable);

/// Returns whether the access is part of an asynchronous copy with probes, which see it at other addresses.
bool is_of_probed_copy(const llvm::Instruction& access);

/// Returns whether the compiler for GPUs removes accesses without a probe from this one's place.
bool is_removed_on_gpus(const llvm::Instruction& access);

} // namespace warplens::lowering
