// The PTX instructions that the CPU back end knows, by opcode. Semantics: PTX ISA, "Instruction Set". Tests:
// test/lowering/ptx_*test.cpp; for textures end_to_end/kernels/textures.cu.
#pragma once

#include "lowering/ptx/block.h"

#include <functional>

namespace warplens::lowering::ptx {

using Operands = std::vector<Operand>;

/// Emits one instruction; returns false if this form of it is unknown. Code emitted by then does no harm,
/// since the program is refused.
using Rule = std::function<bool(Block&, Modifiers&, const Operands&)>;
using Rules = std::map<llvm::StringRef, Rule>;

const Rules& integer_rules();
const Rules& floating_rules();
const Rules& conversion_rules();
const Rules& memory_rules();
const Rules& asynchronous_rules();
const Rules& texture_rules();
const Rules& thread_rules();
const Rules& video_rules();

/// Emit add, min and the like, which exist for integers and for floating point.
bool integer_arithmetic(Block& block, llvm::StringRef opcode, Modifiers& modifiers, const Type& type,
                        const Operands& operands);
bool floating_arithmetic(Block& block, llvm::StringRef opcode, Modifiers& modifiers, const Type& type,
                         const Operands& operands);

/// Takes cache operators and eviction priorities, which change no value.
void take_cache_hints(Modifiers& modifiers);

/// Returns the floating-point value of the runtime or LLVM, rounded to half in the direction that the
/// modifier names ("rn", "rz", "rm" or "rp").
llvm::Value* round_to_half(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::StringRef rounding);
/// Returns the bits of the bfloat16 nearest to a float or double.
llvm::Value* round_to_bfloat(llvm::IRBuilder<>& builder, llvm::Value* value);
/// Implements .sat: clamps to [0, 1]; NaN becomes 0.
llvm::Value* saturate(llvm::IRBuilder<>& builder, llvm::Value* value);

} // namespace warplens::lowering::ptx
