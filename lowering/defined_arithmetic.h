// Operations that LLVM leaves undefined for some operands, and that a GPU does not trap at: PTX says what
// comes out, or only that something does.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

namespace warplens::lowering {

/// sdiv, udiv, srem or urem. By zero the quotient is all ones and the remainder the dividend, as on NVIDIA's
/// GPUs (PTX leaves it open); of the least integer by -1 they are that integer and 0.
llvm::Value* divide(llvm::IRBuilderBase& builder, llvm::Instruction::BinaryOps operation, llvm::Value* value,
                    llvm::Value* by);

/// shl, lshr or ashr: by the width or more gives what is shifted in. The amount, of any width, is unsigned.
llvm::Value* shift(llvm::IRBuilderBase& builder, llvm::Instruction::BinaryOps operation, llvm::Value* value,
                   llvm::Value* amount);

/// A floating-point number cut to an integer: clamped to what the type holds. NaN becomes 0, but where double
/// or 64-bit integers are involved the highest bit alone (PTX ISA, cvt).
llvm::Value* to_integer(llvm::IRBuilderBase& builder, llvm::Value* value, llvm::Type* type, bool is_signed);

/// Zero of the same sign in place of a subnormal number (PTX ISA, .ftz).
llvm::Value* flush_subnormal(llvm::IRBuilderBase& builder, llvm::Value* value);

/// min or max: of a NaN and a number the number; -0 is less than +0.
llvm::Value* pick(llvm::IRBuilderBase& builder, bool least, llvm::Value* x, llvm::Value* y);

} // namespace warplens::lowering
