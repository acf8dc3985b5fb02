// Memory accesses in LLVM's intermediate representation.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace warplens::analysis {

/// Where an instruction reads and writes memory; `other` is a call that may access memory in a way we do not
/// look into (intrinsics like ld.global.nc, inline assembly, functions).
struct InstructionAccess {
  const llvm::Value* read = nullptr;
  const llvm::Value* written = nullptr;
  bool other = false;
  explicit operator bool() const { return read || written || other; }
};

/// Clang's texture functions are inline PTX, of which LLVM knows nothing. nvcc takes a fetch for what reads
/// memory: it stays where something may have been written since, goes where nobody wants what it gives.
void describe_texture_fetches(llvm::Module& module);

InstructionAccess access_of(const llvm::Instruction& instruction);

/// Whether an address is that of a scalar which is in memory only because Clang leaves it to LLVM to put it
/// into a register.
bool is_local_scalar(const llvm::Value* address);

/// Whether an access, as Clang emits it, stands for more than reading or writing a local scalar.
bool is_access_in_source(const InstructionAccess& access);

} // namespace warplens::analysis
