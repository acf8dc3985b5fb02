// Binds functions to the lane that runs them.
#pragma once

#include <cstddef>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// The attribute of functions whose last parameter is the LaneContext*. Other functions query the runtime.
inline constexpr char takes_lane[] = "warplens-takes-lane";

/// The attribute of functions whose last parameter but one is the first key of their call, from which their
/// keys count.
inline constexpr char takes_first_key[] = "warplens-takes-first-key";
inline llvm::Value* first_key_of(llvm::Function& function) {
  return function.getArg(function.arg_size() - 2);
}
/// The suffix of a traced variant's name.
inline constexpr char traced_suffix[] = ".traced";

/// Loads a u32 of the BlockContext, which does not change while the block runs.
llvm::Value* load_block_field(llvm::IRBuilderBase& builder, llvm::Value* block, std::size_t offset);
/// Loads a pointer of the BlockContext in the same way.
llvm::Value* load_block_pointer(llvm::IRBuilderBase& builder, llvm::Value* block, std::size_t offset);

/// Returns whether the function is a placeholder for a value that does not change while the lane runs: a
/// special register, the lane itself, or the begin of shared memory.
bool is_lane_value(llvm::StringRef function);

} // namespace warplens::lowering
