// The lane that a function runs for.
#pragma once

#include <cstddef>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

/// The attribute of functions whose last parameter is the LaneContext*. Others ask the runtime.
inline constexpr char takes_lane[] = "warplens-takes-lane";

/// A u32 of the BlockContext, which does not change while the block runs.
llvm::Value* load_block_field(llvm::IRBuilderBase& builder, llvm::Value* block, std::size_t offset);

} // namespace warplens::lowering
