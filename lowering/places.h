// Places in the source, for messages: at compile time and, handed to the runtime, while a kernel runs.
#pragma once

#include <filesystem>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <optional>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Whose files are not the user's: those below these folders.
void set_system_folders(llvm::Module& module, const std::vector<std::filesystem::path>& folders);

/// "file:line" of an instruction. In a system header: the user's line that leads there, with the header's in
/// brackets. The function's name where there is no line.
std::string place_of(const llvm::Instruction& instruction);

/// "atomicAdd() of sm_60_atomic_functions.hpp": the function of a system header that the user's code calls
/// and that leads to this instruction; nothing where the instruction is the user's own.
std::optional<std::string> system_function_of(const llvm::Instruction& instruction);

/// Each call that may end or suspend a lane is preceded by a store of its place to LaneContext::place.
void store_places(llvm::Module& module);

} // namespace warplens::lowering
