// PTX ISA: "Floating Point", "Half Precision Floating Point", "Comparison and Selection".
#include "lowering/defined_arithmetic.h"
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Intrinsics.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

/// The modifiers of an operation.
struct ArithmeticManner {
  StringRef rounding; ///< empty: none given
  bool approximate = false, flushes = false, saturates = false, propagates_nan = false, clamps_below = false;
  bool signs_of_product = false; ///< .xorsign.abs
  bool to_nearest() const { return rounding.empty() || rounding == "rn"; }
};

ArithmeticManner manner(Modifiers& modifiers) {
  ArithmeticManner result;
  result.rounding = modifiers.take_one({"rn", "rz", "rm", "rp"});
  result.approximate = modifiers.take("approx") || modifiers.take("full");
  result.flushes = modifiers.take("ftz");
  result.saturates = modifiers.take("sat");
  result.propagates_nan = modifiers.take("NaN");
  result.clamps_below = modifiers.take("relu");
  result.signs_of_product = modifiers.take("xorsign") && modifiers.take("abs");
  modifiers.take("noftz"); // the default for half
  return result;
}

/// Calls libdevice's function of that name, which the runtime has.
Value* libdevice(Builder& b, StringRef name, ArrayRef<Value*> arguments) {
  SmallVector<llvm::Type*, 3> types;
  for (Value* argument : arguments)
    types.push_back(argument->getType());
  Module& module = *b.GetInsertBlock()->getModule();
  return b.CreateCall(module.getOrInsertFunction(name, FunctionType::get(types.front(), types, false)),
                      arguments);
}

/// Computes with rounding towards zero, down or up: libdevice has one function for each.
Value* directed(Builder& b, StringRef opcode, StringRef rounding, ArrayRef<Value*> a) {
  const bool is_double = a[0]->getType()->isDoubleTy();
  if (!is_double && !a[0]->getType()->isFloatTy())
    return nullptr;
  const char* suffix = rounding == "rz" ? "rz" : rounding == "rm" ? "rd" : "ru";
  if (opcode == "sub") {
    Value* negated[] = {a[0], b.CreateFNeg(a[1])};
    return directed(b, "add", rounding, negated);
  }
  std::string name = is_double ? "__nv_d" : "__nv_f";
  if (opcode == "fma" || opcode == "mad")
    name = is_double ? "__nv_fma" : "__nv_fmaf";
  else
    name += opcode;
  return libdevice(b, name + "_" + suffix, a);
}

/// Computes in bfloat16: each operation is a fused multiply-add with one rounding; sums and products are
/// x·1+y and x·y-0.
Value* brain_arithmetic(Builder& b, StringRef opcode, ArrayRef<Value*> bits) {
  constexpr std::uint16_t one = 0x3f80, minus_one = 0xbf80, minus_zero = 0x8000;
  const auto fused = [&](Value* x, Value* y, Value* z) {
    return call_runtime(b, "__warplens_cpu_bfloat_fma", Effects::none, b.getInt16Ty(), {x, y, z});
  };
  if (opcode == "add")
    return fused(bits[0], b.getInt16(one), bits[1]);
  if (opcode == "sub")
    return fused(bits[1], b.getInt16(minus_one), bits[0]);
  if (opcode == "mul")
    return fused(bits[0], bits[1], b.getInt16(minus_zero));
  if (opcode == "fma")
    return fused(bits[0], bits[1], bits[2]);
  return nullptr;
}

/// The product of halves is exact in double, and a sum that is not exact is far from the middle between two
/// halves.
Value* half_fma(Builder& b, ArrayRef<Value*> a) {
  const auto wide = [&](Value* value) { return b.CreateFPExt(value, b.getDoubleTy()); };
  return b.CreateFPTrunc(b.CreateFAdd(b.CreateFMul(wide(a[0]), wide(a[1])), wide(a[2])), b.getHalfTy());
}

Value* nearest(Builder& b, StringRef opcode, ArrayRef<Value*> a) {
  llvm::Type* type = a[0]->getType();
  if (a.size() == 1) {
    Value* one = ConstantFP::get(type, 1.0);
    if (opcode == "rcp")
      return b.CreateFDiv(one, a[0]);
    if (opcode == "rsqrt")
      return b.CreateFDiv(one, b.CreateUnaryIntrinsic(Intrinsic::sqrt, a[0]));
    if (opcode == "tanh") {
      Value* wide = type->isHalfTy() ? b.CreateFPExt(a[0], b.getFloatTy()) : a[0];
      return b.CreateFPCast(libdevice(b, "__nv_tanhf", {wide}), type);
    }
    const auto intrinsic = StringSwitch<Intrinsic::ID>(opcode)
                               .Case("sqrt", Intrinsic::sqrt)
                               .Case("ex2", Intrinsic::exp2)
                               .Case("lg2", Intrinsic::log2)
                               .Case("sin", Intrinsic::sin)
                               .Case("cos", Intrinsic::cos)
                               .Default(Intrinsic::not_intrinsic);
    return intrinsic ? b.CreateUnaryIntrinsic(intrinsic, a[0]) : nullptr;
  }
  if (a.size() == 2)
    return opcode == "add"   ? b.CreateFAdd(a[0], a[1])
           : opcode == "sub" ? b.CreateFSub(a[0], a[1])
           : opcode == "mul" ? b.CreateFMul(a[0], a[1])
           : opcode == "div" ? b.CreateFDiv(a[0], a[1])
                             : nullptr;
  if (a.size() != 3 || (opcode != "fma" && opcode != "mad"))
    return nullptr;
  return type->isHalfTy() ? half_fma(b, a) : b.CreateIntrinsic(Intrinsic::fma, {type}, {a[0], a[1], a[2]});
}

/// Applies .relu; NaN stays.
Value* not_below_zero(Builder& b, Value* value) {
  Value* zero = ConstantFP::get(value->getType(), 0.0);
  return b.CreateSelect(b.CreateFCmpULT(zero, value), value,
                        b.CreateSelect(b.CreateFCmpUNO(value, value), value, zero));
}

/// Computes one element from bits to bits.
Value* compute(Builder& b, StringRef opcode, const ArithmeticManner& how, const Type& type,
               ArrayRef<Value*> bits) {
  const std::uint64_t sign = 1ULL << (type.bits - 1);
  if (bits.size() == 1 && (opcode == "neg" || opcode == "abs") && !how.flushes)
    return opcode == "neg" ? b.CreateXor(bits[0], sign) : b.CreateAnd(bits[0], sign - 1);
  const bool brain = type.kind == Type::Kind::brain;
  const bool picks = bits.size() == 2 && (opcode == "min" || opcode == "max");
  if (brain && !picks && bits.size() > 1) {
    Value* result =
        how.to_nearest() && !how.saturates && !how.flushes ? brain_arithmetic(b, opcode, bits) : nullptr;
    return result && how.clamps_below ? round_to_bfloat(b, not_below_zero(b, to_floating(b, result, type)))
                                      : result;
  }

  SmallVector<Value*, 3> a;
  for (Value* value : bits) {
    Value* real = to_floating(b, value, type);
    a.push_back(how.flushes ? flush_subnormal(b, real) : real);
  }
  Value* result = nullptr;
  if (opcode == "neg" || opcode == "abs") {
    result = opcode == "neg" ? b.CreateFNeg(a[0]) : b.CreateUnaryIntrinsic(Intrinsic::fabs, a[0]);
  } else if (picks) {
    const bool least = opcode == "min";
    Value *x = a[0], *y = a[1], *signs = nullptr;
    if (how.signs_of_product) {
      signs = b.CreateXor(to_bits(b, x), to_bits(b, y));
      x = b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
      y = b.CreateUnaryIntrinsic(Intrinsic::fabs, y);
    }
    result = how.propagates_nan
                 ? b.CreateBinaryIntrinsic(least ? Intrinsic::minimum : Intrinsic::maximum, x, y)
                 : pick(b, least, x, y);
    if (signs)
      result =
          b.CreateBinaryIntrinsic(Intrinsic::copysign, result, b.CreateBitCast(signs, result->getType()));
  } else {
    result = how.to_nearest() ? nearest(b, opcode, a) : directed(b, opcode, how.rounding, a);
  }
  if (!result)
    return nullptr;
  if (how.clamps_below)
    result = not_below_zero(b, result);
  if (how.saturates)
    result = saturate(b, result);
  if (how.flushes)
    result = flush_subnormal(b, result);
  return brain ? round_to_bfloat(b, result) : to_bits(b, result);
}

Rule arithmetic(StringRef opcode) {
  return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
    const auto type = modifiers.type();
    return type && type->is_float() && floating_arithmetic(block, opcode, modifiers, *type, operands);
  };
}

std::optional<CmpInst::Predicate> comparison(StringRef name, const Type& type) {
  using enum CmpInst::Predicate;
  const auto by_sign = [&](CmpInst::Predicate with, CmpInst::Predicate without) {
    return type.is_signed() ? with : without;
  };
  const auto chosen = type.is_float() ? StringSwitch<CmpInst::Predicate>(name)
                                            .Case("eq", FCMP_OEQ)
                                            .Case("ne", FCMP_ONE)
                                            .Case("lt", FCMP_OLT)
                                            .Case("le", FCMP_OLE)
                                            .Case("gt", FCMP_OGT)
                                            .Case("ge", FCMP_OGE)
                                            .Case("equ", FCMP_UEQ)
                                            .Case("neu", FCMP_UNE)
                                            .Case("ltu", FCMP_ULT)
                                            .Case("leu", FCMP_ULE)
                                            .Case("gtu", FCMP_UGT)
                                            .Case("geu", FCMP_UGE)
                                            .Case("num", FCMP_ORD)
                                            .Case("nan", FCMP_UNO)
                                            .Default(BAD_FCMP_PREDICATE)
                                      : StringSwitch<CmpInst::Predicate>(name)
                                            .Case("eq", ICMP_EQ)
                                            .Case("ne", ICMP_NE)
                                            .Case("lt", by_sign(ICMP_SLT, ICMP_ULT))
                                            .Case("le", by_sign(ICMP_SLE, ICMP_ULE))
                                            .Case("gt", by_sign(ICMP_SGT, ICMP_UGT))
                                            .Case("ge", by_sign(ICMP_SGE, ICMP_UGE))
                                            .Case("lo", ICMP_ULT)
                                            .Case("ls", ICMP_ULE)
                                            .Case("hi", ICMP_UGT)
                                            .Case("hs", ICMP_UGE)
                                            .Default(BAD_ICMP_PREDICATE);
  return chosen == BAD_FCMP_PREDICATE || chosen == BAD_ICMP_PREDICATE ? std::nullopt : std::optional(chosen);
}

Value* compare(Builder& b, CmpInst::Predicate predicate, const Type& type, bool flushes, Value* x, Value* y) {
  if (!type.is_float())
    return b.CreateICmp(predicate, x, y);
  const auto real = [&](Value* bits) {
    Value* value = to_floating(b, bits, type);
    return flushes ? flush_subnormal(b, value) : value;
  };
  return b.CreateFCmp(predicate, real(x), real(y));
}

StringRef take_comparison(Modifiers& modifiers) {
  return modifiers.take_one({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                             "leu", "gtu", "geu", "num", "nan"});
}

/// setp.compare[.and|or|xor].type p[|q], a, b[, c]
bool set_predicate(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef name = take_comparison(modifiers), combine = modifiers.take_one({"and", "or", "xor"});
  const bool flushes = modifiers.take("ftz");
  const auto type = modifiers.type();
  if (!type || type->lanes != 1 || type->kind == Type::Kind::predicate ||
      operands.size() != (combine.empty() ? 3 : 4))
    return false;
  const auto predicate = comparison(name, *type);
  Value *x = block.read(operands[1], *type), *y = block.read(operands[2], *type);
  Value* third = combine.empty() ? nullptr : block.read(operands[3], 1);
  if (!predicate || !x || !y || (!combine.empty() && !third))
    return false;
  const auto combined = [&](Value* value) {
    return combine == "and"   ? b.CreateAnd(value, third)
           : combine == "or"  ? b.CreateOr(value, third)
           : combine == "xor" ? b.CreateXor(value, third)
                              : value;
  };
  Value* holds = compare(b, *predicate, *type, flushes, x, y);
  const Type truth{Type::Kind::predicate, 1};
  if (operands[0].kind != Operand::Kind::pair)
    return block.write(operands[0], combined(holds), truth);
  return block.write(operands[0].parts[0], combined(holds), truth) &&
         block.write(operands[0].parts[1], combined(b.CreateNot(holds)), truth);
}

/// set.compare.dtype.stype d, a, b: all ones or 1.0 where the comparison holds, per element.
bool set_value(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef name = take_comparison(modifiers);
  const bool flushes = modifiers.take("ftz");
  const auto result = modifiers.type(), type = modifiers.type();
  if (!result || !type || operands.size() != 3)
    return false;
  const auto predicate = comparison(name, *type);
  Value *x = block.read(operands[1], *type), *y = block.read(operands[2], *type);
  // Two elements have two results of 16 bits, in one register of 32.
  if (!predicate || !x || !y || (type->lanes == 2 && result->width() != 32))
    return false;
  const unsigned bits = result->width() / type->lanes;
  std::uint64_t yes = ~0ULL >> (64 - bits);
  if (result->kind == Type::Kind::brain)
    yes = 0x3f80;
  else if (result->kind == Type::Kind::floating)
    yes = result->bits == 16 ? 0x3c00 : result->bits == 32 ? 0x3f800000 : 0x3ff0000000000000;
  Value* value = b.getIntN(result->width(), 0);
  for (unsigned lane = 0; lane < type->lanes; ++lane) {
    const auto element = [&](Value* all) {
      return b.CreateTrunc(b.CreateLShr(all, lane * type->bits), b.getIntNTy(type->bits));
    };
    Value* holds = compare(b, *predicate, *type, flushes, element(x), element(y));
    value = b.CreateOr(value, b.CreateSelect(holds, b.getInt(APInt(result->width(), yes) << (lane * bits)),
                                             b.getIntN(result->width(), 0)));
  }
  return block.write(operands[0], value, *result);
}

bool select(Block& block, Modifiers& modifiers, const Operands& operands) {
  const auto type = modifiers.type();
  if (!type || operands.size() != 4)
    return false;
  Value *yes = block.read(operands[1], *type), *no = block.read(operands[2], *type),
        *which = block.read(operands[3], 1);
  return yes && no && which && block.write(operands[0], block.builder().CreateSelect(which, yes, no), *type);
}

/// slct.type.f32|s32 d, a, b, c: a where c is 0 or more.
bool select_by_sign(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const bool flushes = modifiers.take("ftz");
  const auto type = modifiers.type(), sign = modifiers.type();
  if (!type || !sign || sign->bits != 32 || operands.size() != 4 || (!sign->is_float() && !sign->is_signed()))
    return false;
  Value *yes = block.read(operands[1], *type), *no = block.read(operands[2], *type),
        *which = block.read(operands[3], *sign);
  if (!yes || !no || !which)
    return false;
  Value* zero = b.getInt32(0);
  Value* holds =
      compare(b, sign->is_float() ? CmpInst::FCMP_OGE : CmpInst::ICMP_SGE, *sign, flushes, which, zero);
  return block.write(operands[0], b.CreateSelect(holds, yes, no), *type);
}

/// testp.property.type p, a
bool test_property(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef name =
      modifiers.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const auto type = modifiers.type();
  Value* bits = type && type->kind == Type::Kind::floating && type->lanes == 1 && operands.size() == 2
                    ? block.read(operands[1], *type)
                    : nullptr;
  if (!bits || name.empty())
    return false;
  const auto classes = StringSwitch<unsigned>(name)
                           .Case("finite", fcFinite)
                           .Case("infinite", fcInf)
                           .Case("number", fcAllFlags & ~fcNan)
                           .Case("notanumber", fcNan)
                           .Case("normal", fcNormal)
                           .Default(fcSubnormal);
  Value* real = to_floating(b, bits, *type);
  return block.write(operands[0],
                     b.CreateIntrinsic(Intrinsic::is_fpclass, {real->getType()}, {real, b.getInt32(classes)}),
                     *type_of("pred"));
}

/// copysign.type d, a, b: b with the sign of a.
bool copy_sign(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto type = modifiers.type();
  if (!type || type->kind != Type::Kind::floating || type->bits < 32 || operands.size() != 3)
    return false;
  Value *sign = block.read(operands[1], *type), *magnitude = block.read(operands[2], *type);
  if (!sign || !magnitude)
    return false;
  const std::uint64_t highest = 1ULL << (type->bits - 1);
  return block.write(operands[0], b.CreateOr(b.CreateAnd(sign, highest), b.CreateAnd(magnitude, highest - 1)),
                     *type);
}

} // namespace

bool floating_arithmetic(Block& block, StringRef opcode, Modifiers& modifiers, const Type& type,
                         const Operands& operands) {
  Builder& b = block.builder();
  const ArithmeticManner how = manner(modifiers);
  SmallVector<Value*, 3> whole;
  for (std::size_t i = 1; i < operands.size(); ++i)
    if (Value* value = block.read(operands[i], type))
      whole.push_back(value);
  if (whole.empty() || whole.size() + 1 != operands.size())
    return false;
  if (type.lanes == 1) {
    Value* result = compute(b, opcode, how, type, whole);
    return result && block.write(operands[0], result, type);
  }
  Value* result = b.getInt32(0);
  for (unsigned lane = 0; lane < 2; ++lane) {
    SmallVector<Value*, 3> elements;
    for (Value* value : whole)
      elements.push_back(b.CreateTrunc(b.CreateLShr(value, 16 * lane), b.getInt16Ty()));
    Value* element = compute(b, opcode, how, type, elements);
    if (!element)
      return false;
    result = b.CreateOr(result, b.CreateShl(b.CreateZExt(element, b.getInt32Ty()), 16 * lane));
  }
  return block.write(operands[0], result, type);
}

const Rules& floating_rules() {
  static const Rules rules = {
      {"fma", arithmetic("fma")},     {"rcp", arithmetic("rcp")}, {"sqrt", arithmetic("sqrt")},
      {"rsqrt", arithmetic("rsqrt")}, {"ex2", arithmetic("ex2")}, {"lg2", arithmetic("lg2")},
      {"sin", arithmetic("sin")},     {"cos", arithmetic("cos")}, {"tanh", arithmetic("tanh")},
      {"setp", set_predicate},        {"set", set_value},         {"selp", select},
      {"slct", select_by_sign},       {"testp", test_property},   {"copysign", copy_sign},
  };
  return rules;
}

} // namespace warplens::lowering::ptx
