// The explanation, in messages, of a GPU feature that the CPU back end lacks.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <string>

namespace warplens::lowering {

/// Returns " (tensor cores; what to do)" for an instruction, by its first words: "wmma.load.a…",
/// "cp.async.bulk.tensor…". For a feature without a name of its own it returns only what to do.
std::string explanation(llvm::StringRef instruction);

} // namespace warplens::lowering
