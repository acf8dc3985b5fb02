// The PTX instructions that the CPU back end knows, by opcode. Meanings: PTX ISA, "Instruction Set". Tests:
// test/lowering/ptx_*test.cpp; of textures end_to_end/kernels/textures.cu.
#pragma once

#include "lowering/ptx/block.h"

#include <functional>

namespace warplens::lowering::ptx {

using Operands = std::vector<Operand>;

/// Emits one instruction. False: it is not known in this form. What a rule has emitted until then does no
/// harm, since the program is refused.
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

/// add, min and the like exist for integers and for floating point.
bool integer_arithmetic(Block& block, llvm::StringRef opcode, Modifiers& modifiers, const Type& type,
                        const Operands& operands);
bool floating_arithmetic(Block& block, llvm::StringRef opcode, Modifiers& modifiers, const Type& type,
                         const Operands& operands);

/// Cache operators and eviction priorities change no value.
void take_cache_hints(Modifiers& modifiers);

/// The runtime's or LLVM's floating-point value, rounded to half in the direction that the modifier names
/// ("rn", "rz", "rm" or "rp").
llvm::Value* round_to_half(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::StringRef rounding);
/// The bits of the bfloat16 nearest to a float or double.
llvm::Value* round_to_bfloat(llvm::IRBuilder<>& builder, llvm::Value* value);
/// .sat: to [0, 1], NaN to 0.
llvm::Value* saturate(llvm::IRBuilder<>& builder, llvm::Value* value);

} // namespace warplens::lowering::ptx
