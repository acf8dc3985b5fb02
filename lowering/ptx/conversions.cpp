// PTX ISA: "Data Movement and Conversion Instructions": cvt, cvta, mov.
#include "lowering/defined_arithmetic.h"
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"

#include <llvm/IR/Intrinsics.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

struct ConversionManner {
  StringRef to_integer; ///< "rni", …: to an integral value
  StringRef rounding;   ///< "rn", …
  bool saturates = false, flushes = false;

  /// Flushes subnormals if .ftz is given, which concerns single precision only.
  Value* flushed(Builder& b, Value* value) const {
    return flushes && value->getType()->isFloatTy() ? flush_subnormal(b, value) : value;
  }
};

Intrinsic::ID integral(StringRef rounding) {
  return rounding == "rni"   ? Intrinsic::roundeven
         : rounding == "rmi" ? Intrinsic::floor
         : rounding == "rpi" ? Intrinsic::ceil
                             : Intrinsic::trunc;
}

Value* call(Builder& b, const std::string& name, llvm::Type* result, Value* argument) {
  Module& module = *b.GetInsertBlock()->getModule();
  return b.CreateCall(module.getOrInsertFunction(name, result, argument->getType()), {argument});
}

const char* suffix(StringRef rounding) {
  return rounding == "rz" ? "_rz" : rounding == "rm" ? "_rd" : "_ru";
}

Value* float_to_integer(Builder& b, const ConversionManner& how, Value* value, const Type& to) {
  if (how.to_integer.empty())
    return nullptr;
  Value* whole = b.CreateUnaryIntrinsic(integral(how.to_integer), value);
  return lowering::to_integer(b, whole, b.getIntNTy(to.bits), to.is_signed());
}

/// Converts an integer to the floating-point value of type `to`, rounded as `how` requires.
Value* integer_to_float(Builder& b, const ConversionManner& how, Value* value, const Type& from,
                        const Type& to) {
  if (how.rounding.empty())
    return nullptr;
  const auto convert = [&](llvm::Type* type) {
    return from.is_signed() ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  };
  if (to.kind == Type::Kind::brain) // double holds 32 bits exactly
    return from.bits <= 32 && how.rounding == "rn" ? round_to_bfloat(b, convert(b.getDoubleTy())) : nullptr;
  if (to.bits == 16) // values that double does not hold exactly are out of half's range
    return to_bits(b, round_to_half(b, convert(b.getDoubleTy()), how.rounding));
  auto* type = to.bits == 32 ? b.getFloatTy() : b.getDoubleTy();
  if (how.rounding == "rn" || (to.bits == 64 && from.bits <= 32))
    return to_bits(b, convert(type));
  if (from.bits < 32)
    return to_bits(b, convert(type)); // exact
  const std::string name = std::string("__nv_") + (from.is_signed() ? "" : "u") +
                           (from.bits == 64 ? "ll" : "int") + "2" + (to.bits == 32 ? "float" : "double") +
                           suffix(how.rounding);
  return to_bits(b, call(b, name, type, value));
}

/// Converts `value`, which is half, float (also for bfloat16) or double; returns bits.
Value* float_to_float(Builder& b, const ConversionManner& how, Value* value, const Type& from,
                      const Type& to) {
  const unsigned from_bits = from.kind == Type::Kind::brain ? 32 : from.bits;
  if (!how.to_integer.empty()) {
    if (from.bits != to.bits || from.kind != to.kind)
      return nullptr;
    value = b.CreateUnaryIntrinsic(integral(how.to_integer), value);
  }
  value = how.flushed(b, value);
  if (how.saturates)
    value = saturate(b, value);
  if (to.kind == Type::Kind::brain) {
    if (from.kind == Type::Kind::brain || how.rounding == "rn")
      return round_to_bfloat(b, from.bits == 16 && from.kind == Type::Kind::floating
                                    ? b.CreateFPExt(value, b.getFloatTy())
                                    : value);
    if (how.rounding != "rz" || from_bits != 32)
      return nullptr;
    Value* cut = b.CreateTrunc(b.CreateLShr(to_bits(b, value), 16), b.getInt16Ty());
    return b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt16(0x7fff), cut);
  }
  if (to.bits > from_bits)
    return to_bits(b, b.CreateFPExt(value, to.bits == 32 ? b.getFloatTy() : b.getDoubleTy()));
  if (to.bits == from_bits)
    return to_bits(b, value);
  if (how.rounding.empty())
    return nullptr;
  if (to.bits == 16)
    return to_bits(b, round_to_half(b, value, how.rounding));
  Value* narrow = how.rounding == "rn" ? b.CreateFPTrunc(value, b.getFloatTy())
                                       : call(b, std::string("__nv_double2float") + suffix(how.rounding),
                                              b.getFloatTy(), value);
  return to_bits(b, how.flushed(b, narrow));
}

Value* integer_to_integer(Builder& b, const ConversionManner& how, Value* value, const Type& from,
                          const Type& to) {
  if (how.saturates) {
    if (from.bits <= to.bits && from.is_signed() == to.is_signed())
      return from.is_signed() ? b.CreateSExt(value, b.getIntNTy(to.bits))
                              : b.CreateZExt(value, b.getIntNTy(to.bits));
    // In 128 bits every value of either type is representable.
    Value* wide =
        from.is_signed() ? b.CreateSExt(value, b.getInt128Ty()) : b.CreateZExt(value, b.getInt128Ty());
    const APInt least = to.is_signed() ? APInt::getSignedMinValue(to.bits).sext(128) : APInt(128, 0);
    const APInt most =
        to.is_signed() ? APInt::getSignedMaxValue(to.bits).sext(128) : APInt::getMaxValue(to.bits).zext(128);
    wide = b.CreateBinaryIntrinsic(
        Intrinsic::smin, b.CreateBinaryIntrinsic(Intrinsic::smax, wide, b.getInt(least)), b.getInt(most));
    return b.CreateTrunc(wide, b.getIntNTy(to.bits));
  }
  return from.is_signed() ? b.CreateSExtOrTrunc(value, b.getIntNTy(to.bits))
                          : b.CreateZExtOrTrunc(value, b.getIntNTy(to.bits));
}

/// cvt.rn.satfinite[.relu].e4m3x2|e5m2x2.f32 d, high, low and .f16x2 d, a; cvt.rn[.relu].f16x2.e4m3x2|e5m2x2
/// d, a.
bool convert_pairs_of_eight_bits(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef name = modifiers.take_one({"e4m3x2", "e5m2x2"});
  const bool clamps_below = modifiers.take("relu"), to_eight = modifiers.take("satfinite");
  const auto other = modifiers.type();
  if (!modifiers.take("rn") || !other || other->kind != Type::Kind::floating)
    return false;
  const bool pair = other->lanes == 2;
  if ((pair ? other->bits != 16 : other->bits != 32 || !to_eight) || operands.size() != (pair ? 2 : 3))
    return false;
  Value* is_e5m2 = b.getInt32(name == "e5m2x2");
  const unsigned from_bits = to_eight ? other->bits : 8, to_bits_of_one = to_eight ? 8 : 16;
  Value* result = b.getInt32(0);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value* bits = block.read(operands[pair ? 1 : 2 - lane], pair ? 2 * from_bits : from_bits);
    if (!bits)
      return false;
    if (pair)
      bits = b.CreateTrunc(b.CreateLShr(bits, lane * from_bits), b.getIntNTy(from_bits));
    Value* real = nullptr;
    if (to_eight)
      real = b.CreateFPCast(to_floating(b, bits, {Type::Kind::floating, from_bits}), b.getFloatTy());
    else
      real = call_runtime(b, "__warplens_cpu_from_float8", Effects::none, b.getFloatTy(),
                          {b.CreateZExt(bits, b.getInt32Ty()), is_e5m2});
    if (clamps_below)
      real = b.CreateSelect(b.CreateFCmpOLT(real, ConstantFP::get(real->getType(), 0.0)),
                            ConstantFP::get(real->getType(), 0.0), real);
    Value* one =
        to_eight ? call_runtime(b, "__warplens_cpu_to_float8", Effects::none, b.getInt32Ty(), {real, is_e5m2})
                 : b.CreateZExt(to_bits(b, b.CreateFPTrunc(real, b.getHalfTy())), b.getInt32Ty());
    result = b.CreateOr(result, b.CreateShl(one, lane * to_bits_of_one));
  }
  const Type whole{Type::Kind::bits, 2 * to_bits_of_one};
  return block.write(operands[0], b.CreateTrunc(result, b.getIntNTy(whole.bits)), whole);
}

/// cvt.dtype.stype d, a; and cvt.rn.f16x2.f32 d, high, low.
bool convert(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  if (Modifiers left = modifiers; !left.take_one({"e4m3x2", "e5m2x2"}).empty())
    return convert_pairs_of_eight_bits(block, modifiers, operands);
  ConversionManner how;
  how.to_integer = modifiers.take_one({"rni", "rzi", "rmi", "rpi"});
  how.rounding = modifiers.take_one({"rn", "rz", "rm", "rp"});
  how.flushes = modifiers.take("ftz");
  how.saturates = modifiers.take("sat");
  const auto to = modifiers.type(), from = modifiers.type();
  if (!to || !from || from->lanes != 1 || operands.size() != 1 + to->lanes || to->kind == Type::Kind::bits ||
      from->kind == Type::Kind::bits)
    return false;
  Type element = *to;
  element.lanes = 1;
  Value* result = b.getIntN(to->width(), 0);
  for (unsigned lane = 0; lane < to->lanes; ++lane) {
    Value* bits = block.read(operands[to->lanes - lane], *from);
    if (!bits)
      return false;
    Value* one = nullptr;
    if (from->is_float()) {
      Value* value = to_floating(b, bits, *from);
      one = element.is_float() ? float_to_float(b, how, value, *from, element)
                               : float_to_integer(b, how, how.flushed(b, value), element);
    } else {
      one = element.is_float() ? (how.saturates ? nullptr : integer_to_float(b, how, bits, *from, element))
                               : integer_to_integer(b, how, bits, *from, element);
    }
    if (!one)
      return false;
    result =
        b.CreateOr(result, b.CreateShl(b.CreateZExt(one, b.getIntNTy(to->width())), lane * element.bits));
  }
  return block.write(operands[0], result, *to);
}

/// Address spaces are parts of one flat space on the CPU, so that an address is the same in each.
bool convert_address(Block& block, Modifiers& modifiers, const Operands& operands) {
  modifiers.take("to");
  if (modifiers.take_one({"shared", "shared::cta", "global", "local", "const", "param"}).empty())
    return false;
  const auto type = modifiers.type();
  if (!type || type->kind != Type::Kind::unsigned_ || operands.size() != 2)
    return false;
  Value* address = block.read(operands[1], *type);
  return address && block.write(operands[0], address, *type);
}

/// mov.type d, a; d, {a, b, …}; {d, e, …}, a
bool move(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto type = modifiers.type();
  if (!type || operands.size() != 2)
    return false;
  const Operand &to = operands[0], &from = operands[1];
  const auto element_bits = [&](const Operand& vector) {
    return static_cast<unsigned>(type->bits / vector.parts.size());
  };
  const Type element{Type::Kind::bits, from.kind == Operand::Kind::vector ? element_bits(from)
                                       : to.kind == Operand::Kind::vector ? element_bits(to)
                                                                          : 0};
  if (from.kind == Operand::Kind::vector) {
    Value* whole = b.getIntN(type->bits, 0);
    for (std::size_t i = 0; i < from.parts.size(); ++i) {
      Value* part = block.read(from.parts[i], element);
      if (!part)
        return false;
      whole = b.CreateOr(whole, b.CreateShl(b.CreateZExt(part, whole->getType()), i * element.bits));
    }
    return block.write(to, whole, *type);
  }
  Value* whole = block.read(from, *type);
  if (!whole)
    return false;
  if (to.kind != Operand::Kind::vector)
    return block.write(to, whole, *type);
  for (std::size_t i = 0; i < to.parts.size(); ++i)
    if (!block.write(to.parts[i],
                     b.CreateTrunc(b.CreateLShr(whole, i * element.bits), b.getIntNTy(element.bits)),
                     element))
      return false;
  return true;
}

} // namespace

Value* round_to_half(Builder& b, Value* value, StringRef rounding) {
  auto* half = b.getHalfTy();
  Value* nearest = b.CreateFPTrunc(value, half);
  if (rounding == "rn")
    return nearest;
  // Moves one step away from the nearest value if that lies on the wrong side. Steps in the bits are steps in
  // the magnitude.
  Value* back = b.CreateFPExt(nearest, value->getType());
  Value *bits = to_bits(b, nearest), *negative = b.CreateICmpSLT(bits, b.getInt16(0));
  Value *above = b.CreateFCmpOGT(back, value), *below = b.CreateFCmpOLT(back, value);
  Value *inwards = b.CreateSelect(negative, below, above), *outwards = b.CreateSelect(negative, above, below);
  Value *in = b.CreateSub(bits, b.getInt16(1)), *out = b.CreateAdd(bits, b.getInt16(1));
  Value* take_in = inwards;
  Value* take_out = outwards;
  if (rounding == "rz")
    take_out = b.getFalse();
  else { // downwards is inwards for positive numbers only
    Value* towards_zero = rounding == "rm" ? b.CreateNot(negative) : negative;
    take_in = b.CreateAnd(inwards, towards_zero);
    take_out = b.CreateAnd(outwards, b.CreateNot(towards_zero));
  }
  return b.CreateBitCast(b.CreateSelect(take_in, in, b.CreateSelect(take_out, out, bits)), half);
}

Value* round_to_bfloat(Builder& b, Value* value) {
  if (value->getType()->isDoubleTy())
    return call_runtime(b, "__warplens_cpu_double_to_bfloat", Effects::none, b.getInt16Ty(), {value});
  Value* bits = to_bits(b, value);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value* rounded = b.CreateTrunc(b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7fff))), 16),
                                 b.getInt16Ty());
  return b.CreateSelect(b.CreateFCmpUNO(value, value), b.getInt16(0x7fff), rounded);
}

Value* saturate(Builder& b, Value* value) {
  Value* positive = b.CreateBinaryIntrinsic(Intrinsic::maxnum, value, ConstantFP::get(value->getType(), 0.0));
  return b.CreateBinaryIntrinsic(Intrinsic::minnum, positive, ConstantFP::get(value->getType(), 1.0));
}

const Rules& conversion_rules() {
  static const Rules rules = {{"cvt", convert}, {"cvta", convert_address}, {"mov", move}};
  return rules;
}

} // namespace warplens::lowering::ptx
