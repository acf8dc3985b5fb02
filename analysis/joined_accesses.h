// Finds accesses to neighbouring elements that compiled code makes as one.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace warplens::analysis {

/// One load or store of several elements.
struct JoinedAccess {
  std::vector<const llvm::Instruction*>
      parts;          ///< the joined instructions by address, without those that only fill a gap
  unsigned bytes = 0; ///< at most 16 (PTX ISA, "Vectors")
};

/// Finds the loads and stores of optimised device code that nvcc joins: `a[i].x` to `a[i].w` of a float4 are
/// one ld.v4. LLVM's code generation for NVPTX does the same with LoadStoreVectorizer, which runs here on a
/// copy of the module; `machine` may be null, then it joins nothing.
std::vector<JoinedAccess> joined_accesses(const llvm::Module& module, llvm::TargetMachine* machine);

} // namespace warplens::analysis
