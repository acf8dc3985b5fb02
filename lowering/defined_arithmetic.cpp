#include "lowering/defined_arithmetic.h"

#include "lowering/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering {

using namespace llvm;

Value* divide(IRBuilderBase& b, Instruction::BinaryOps operation, Value* value, Value* by) {
  const bool is_signed = operation == Instruction::SDiv || operation == Instruction::SRem;
  const bool quotient = operation == Instruction::SDiv || operation == Instruction::UDiv;
  const auto number = [&](std::int64_t n) { return ConstantInt::getSigned(value->getType(), n); };
  if (const auto* constant = dyn_cast<ConstantInt>(by);
      constant && !constant->isZero() && !(is_signed && constant->isMinusOne()))
    return b.CreateBinOp(operation, value, by);
  // A divisor of 0 or -1 is replaced by 1, which traps nowhere; their results are selected below.
  Value *zero = b.CreateICmpEQ(by, number(0)),
        *minus_one = is_signed ? b.CreateICmpEQ(by, number(-1)) : nullptr;
  Value* special = is_signed ? b.CreateOr(zero, minus_one) : zero;
  Value* result = b.CreateBinOp(operation, value, b.CreateSelect(special, number(1), by));
  if (quotient && is_signed)
    result = b.CreateSelect(minus_one, b.CreateSub(number(0), value), result);
  return b.CreateSelect(zero, quotient ? number(-1) : value, result);
}

Value* shift(IRBuilderBase& b, Instruction::BinaryOps operation, Value* value, Value* amount) {
  const unsigned bits = value->getType()->getIntegerBitWidth();
  const auto limit = [&](std::uint64_t n) { return ConstantInt::get(amount->getType(), n); };
  if (amount->getType()->getIntegerBitWidth() < 32) // the type may be too narrow for the limit
    return shift(b, operation, value, b.CreateZExt(amount, b.getInt32Ty()));
  Value* small = b.CreateICmpULT(amount, limit(bits));
  Value* by = b.CreateZExtOrTrunc(b.CreateSelect(small, amount, limit(bits - 1)), value->getType());
  Value* shifted = b.CreateBinOp(operation, value, by);
  if (operation == Instruction::AShr)
    return shifted;
  return b.CreateSelect(small, shifted, ConstantInt::get(value->getType(), 0));
}

Value* to_integer(IRBuilderBase& b, Value* value, Type* type, bool is_signed) {
  // LLVM 19 converts a half that is no number to 0x8000 on processors with AVX512-FP16, and not to 0.
  if (value->getType()->isHalfTy())
    value = b.CreateFPExt(value, b.getFloatTy());
  Value* result = b.CreateIntrinsic(is_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                                    {type, value->getType()}, {value});
  const unsigned bits = type->getIntegerBitWidth();
  if (!value->getType()->isDoubleTy() && bits != 64)
    return result;
  return b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt(APInt::getSignMask(bits)), result);
}

Value* flush_subnormal(IRBuilderBase& b, Value* value) {
  const auto& semantics = value->getType()->getFltSemantics();
  Value* least = ConstantFP::get(value->getType(), APFloat::getSmallestNormalized(semantics));
  Value* tiny = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(Intrinsic::fabs, value), least);
  Value* zero = b.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(value->getType(), 0.0), value);
  return b.CreateSelect(tiny, zero, value);
}

Value* pick(IRBuilderBase& b, bool least, Value* x, Value* y) {
  Value* result = b.CreateBinaryIntrinsic(least ? Intrinsic::minimum : Intrinsic::maximum, x, y);
  Value* number = b.CreateSelect(b.CreateFCmpUNO(x, x), y, x);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), number, result);
}

/// Converts to 32 bits first and cuts the narrow integers of C++ from that, as nvcc does.
static Value* defined_conversion(IRBuilderBase& b, CastInst& cast) {
  const bool is_signed = isa<FPToSIInst>(cast);
  const unsigned bits = cast.getType()->getIntegerBitWidth();
  if (bits == 32 || bits == 64)
    return to_integer(b, cast.getOperand(0), cast.getType(), is_signed);
  if (bits < 32)
    return b.CreateTrunc(to_integer(b, cast.getOperand(0), b.getInt32Ty(), is_signed), cast.getType());
  return nullptr; // __int128: PTX has no such conversion
}

static Value* defined(IRBuilderBase& b, Instruction& instruction) {
  if (!instruction.getType()->isIntegerTy()) // only the toolkit's headers convert vectors
    return nullptr;
  switch (instruction.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return divide(b, cast<BinaryOperator>(instruction).getOpcode(), instruction.getOperand(0),
                  instruction.getOperand(1));
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return isa<ConstantInt>(instruction.getOperand(1))
               ? nullptr
               : shift(b, cast<BinaryOperator>(instruction).getOpcode(), instruction.getOperand(0),
                       instruction.getOperand(1));
  case Instruction::FPToSI:
  case Instruction::FPToUI: return defined_conversion(b, cast<CastInst>(instruction));
  default: return nullptr;
  }
}

void define_arithmetic(Module& module) {
  std::vector<Instruction*> all;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      all.push_back(&instruction);
  for (Instruction* instruction : all) {
    IRBuilder<> builder(instruction);
    if (Value* value = defined(builder, *instruction)) {
      instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
  }
}

} // namespace warplens::lowering
