// Places in the source, for messages at compile time and, passed to the runtime, while a kernel runs.
#pragma once

#include <filesystem>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <optional>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Sets the folders below which files are not the user's.
void set_system_folders(llvm::Module& module, const std::vector<std::filesystem::path>& folders);

/// Returns whether a function is declared in a file of the user's.
bool is_users(const llvm::Module& module, const llvm::DISubprogram& function);

/// Returns the location itself if it is in the user's code, or the nearest one there that it was inlined
/// into; null: none.
const llvm::DILocation* users_location(const llvm::Module& module, const llvm::DILocation* location);

/// Returns "file:line" of an instruction. In a system header it is the user's line that leads there, with the
/// header's in brackets. Without a line it is the function's name.
std::string place_of(const llvm::Instruction& instruction);

/// Returns "atomicAdd() of sm_60_atomic_functions.hpp": the function of a system header that the user's code
/// calls and that leads to this instruction; nothing for the user's own instructions.
std::optional<std::string> system_function_of(const llvm::Instruction& instruction);

/// Inserts a store of its place to LaneContext::place before each call that may end or suspend a lane.
void store_places(llvm::Module& module);

} // namespace warplens::lowering
