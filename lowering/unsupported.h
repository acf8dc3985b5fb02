// What a message says of a GPU's feature that the CPU back end does not have.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <string>

namespace warplens::lowering {

/// " (tensor cores; what to do)", by the instruction's first words: "wmma.load.a…", "cp.async.bulk.tensor…".
/// Of those without a name of their own only what to do.
std::string explanation(llvm::StringRef instruction);

} // namespace warplens::lowering
