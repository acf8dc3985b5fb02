// The device link of -rdc: the bitcode of all objects as one module, and the objects that it came from.
#pragma once

#include "support/expected.h"

#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include <vector>

namespace warplens::lowering {

struct LinkedBitcode {
  std::unique_ptr<llvm::Module> module;
  /// The symbols by which the linker finds the objects that the bitcode lay in (cpu::linked_symbol_prefix).
  std::vector<std::string> object_symbols;
};

/// Links all the bitcode in objects and archives into one module. Other files contain none.
Expected<LinkedBitcode> link_bitcode(const std::vector<std::string>& files, llvm::LLVMContext& context);

/// Refers to the symbols, which other objects define.
void add_references(llvm::Module& module, const std::vector<std::string>& symbols);

} // namespace warplens::lowering
