// Operations that LLVM leaves undefined for some operands, and that do not trap on a GPU: PTX defines their
// result, or only that there is one.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

namespace warplens::lowering {

/// Emits sdiv, udiv, srem or urem. Division by 0 gives all ones as the quotient and the dividend as the
/// remainder, as on NVIDIA's GPUs (PTX leaves it open); the least integer divided by -1 gives that integer
/// and 0.
llvm::Value* divide(llvm::IRBuilderBase& builder, llvm::Instruction::BinaryOps operation, llvm::Value* value,
                    llvm::Value* by);

/// Emits shl, lshr or ashr. A shift by the width or more gives only bits shifted in; the amount is unsigned.
llvm::Value* shift(llvm::IRBuilderBase& builder, llvm::Instruction::BinaryOps operation, llvm::Value* value,
                   llvm::Value* amount);

/// Converts a floating-point number to an integer, clamped to the type's range. NaN becomes 0; where double
/// or 64-bit integers are involved it becomes the highest bit alone (PTX ISA, cvt).
llvm::Value* to_integer(llvm::IRBuilderBase& builder, llvm::Value* value, llvm::Type* type, bool is_signed);

/// Returns zero with the same sign in place of a subnormal number (PTX ISA, .ftz).
llvm::Value* flush_subnormal(llvm::IRBuilderBase& builder, llvm::Value* value);

/// Emits min or max: of a NaN and a number it returns the number; -0 is less than +0.
llvm::Value* pick(llvm::IRBuilderBase& builder, bool least, llvm::Value* x, llvm::Value* y);

} // namespace warplens::lowering
