// Memory accesses in LLVM's intermediate representation.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace warplens::analysis {

/// The addresses that an instruction reads and writes; `other` is a call that may access memory in a way that
/// the analyses do not look into (intrinsics like ld.global.nc, inline assembly, functions).
struct InstructionAccess {
  const llvm::Value* read = nullptr;
  const llvm::Value* written = nullptr;
  bool other = false;
  explicit operator bool() const { return read || written || other; }
};

/// Declares Clang's texture functions, which are inline PTX to LLVM, as readers of memory. nvcc treats a
/// fetch so: it stays where memory may have been written since, and disappears where its value is unused.
void describe_texture_fetches(llvm::Module& module);

InstructionAccess access_of(const llvm::Instruction& instruction);

/// Returns whether the address is that of a scalar which is in memory only because Clang leaves it to LLVM to
/// put it into a register.
bool is_local_scalar(const llvm::Value* address);

/// Returns whether an access, as Clang emits it, does more than read or write a local scalar.
bool is_access_in_source(const InstructionAccess& access);

} // namespace warplens::analysis
