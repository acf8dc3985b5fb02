// The lane that a function runs for.
#pragma once

#include <cstddef>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// The attribute of functions whose last parameter is the LaneContext*. Others ask the runtime.
inline constexpr char takes_lane[] = "warplens-takes-lane";

/// The attribute of functions whose last parameter but one is the first key of their call: theirs count from
/// it.
inline constexpr char takes_first_key[] = "warplens-takes-first-key";
inline llvm::Value* first_key_of(llvm::Function& function) {
  return function.getArg(function.arg_size() - 2);
}
/// The ending of a traced form's name.
inline constexpr char traced_suffix[] = ".traced";

/// A u32 of the BlockContext, which does not change while the block runs.
llvm::Value* load_block_field(llvm::IRBuilderBase& builder, llvm::Value* block, std::size_t offset);
/// The same of a pointer.
llvm::Value* load_block_pointer(llvm::IRBuilderBase& builder, llvm::Value* block, std::size_t offset);

/// Is it a placeholder for what does not change while the lane runs: a special register, the lane itself, the
/// begin of shared memory?
bool is_lane_value(llvm::StringRef function);

} // namespace warplens::lowering
