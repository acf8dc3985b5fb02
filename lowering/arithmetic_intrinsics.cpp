#include "lowering/defined_arithmetic.h"
#include "lowering/intrinsics.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <optional>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// "fma.rn.ftz.f" → operation "fma", modifiers {"rn", "ftz", "f"}.
struct Name {
  StringRef operation;
  SmallVector<StringRef, 4> modifiers;

  explicit Name(StringRef name) {
    name.split(modifiers, '.');
    operation = modifiers.front();
    modifiers.erase(modifiers.begin());
  }
  bool has(StringRef modifier) const { return is_contained(modifiers, modifier); }
  /// Returns whether the host's arithmetic rounds so: to nearest even, which is also the default.
  bool rounds_to_nearest() const { return !has("rz") && !has("rm") && !has("rp"); }
  bool is_scalar_float() const { return has("f") || has("d"); }
};

Value* floating(IRBuilderBase& b, const Name& name, ArrayRef<Value*> a) {
  if (!name.is_scalar_float() || !name.rounds_to_nearest() || name.has("xorsign"))
    return nullptr;
  Type* type = a[0]->getType();
  const auto one = [&] { return ConstantFP::get(type, 1.0); };
  const StringRef operation = name.operation;
  if (operation == "add")
    return b.CreateFAdd(a[0], a[1]);
  if (operation == "mul")
    return b.CreateFMul(a[0], a[1]);
  if (operation == "div")
    return b.CreateFDiv(a[0], a[1]);
  if (operation == "fma")
    return b.CreateIntrinsic(Intrinsic::fma, {type}, {a[0], a[1], a[2]});
  if (operation == "rcp")
    return b.CreateFDiv(one(), a[0]);
  if (operation == "rsqrt")
    return b.CreateFDiv(one(), b.CreateUnaryIntrinsic(Intrinsic::sqrt, a[0]));
  if (operation == "fmax" || operation == "fmin") {
    const bool largest = operation == "fmax";
    return name.has("nan")
               ? b.CreateBinaryIntrinsic(largest ? Intrinsic::maximum : Intrinsic::minimum, a[0], a[1])
               : pick(b, !largest, a[0], a[1]);
  }
  if (operation == "saturate") { // NaN becomes 0, as with PTX's .sat: maxnum returns the number
    Value* positive = b.CreateBinaryIntrinsic(Intrinsic::maxnum, a[0], ConstantFP::get(type, 0.0));
    return b.CreateBinaryIntrinsic(Intrinsic::minnum, positive, one());
  }
  const auto unary = StringSwitch<Intrinsic::ID>(operation)
                         .Case("sqrt", Intrinsic::sqrt)
                         .Case("ex2", Intrinsic::exp2)
                         .Case("lg2", Intrinsic::log2)
                         .Case("sin", Intrinsic::sin)
                         .Case("cos", Intrinsic::cos)
                         .Case("fabs", Intrinsic::fabs)
                         .Case("floor", Intrinsic::floor)
                         .Case("ceil", Intrinsic::ceil)
                         .Case("trunc", Intrinsic::trunc)
                         .Case("round", Intrinsic::roundeven) // cvt.rni
                         .Default(Intrinsic::not_intrinsic);
  return unary ? b.CreateUnaryIntrinsic(unary, a[0]) : nullptr;
}

/// Lowers f2i, d2ull, …: rounds as the name says and saturates; NaN becomes 0, as with cvt.
Value* converted_to_integer(IRBuilderBase& b, const Name& name, Value* value, Type* type) {
  if (!name.operation.starts_with("f2") && !name.operation.starts_with("d2"))
    return nullptr;
  const StringRef target = name.operation.drop_front(2);
  const bool is_unsigned = target == "ui" || target == "ull";
  if (!is_unsigned && target != "i" && target != "ll")
    return nullptr;
  if (name.has("hi"))
    return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, b.getInt64Ty()), 32), type);
  if (name.has("lo"))
    return b.CreateTrunc(b.CreateBitCast(value, b.getInt64Ty()), type);
  const auto rounding = name.has("rn")   ? Intrinsic::roundeven
                        : name.has("rm") ? Intrinsic::floor
                        : name.has("rp") ? Intrinsic::ceil
                                         : Intrinsic::trunc;
  return lowering::to_integer(b, b.CreateUnaryIntrinsic(rounding, value), type, !is_unsigned);
}

/// Lowers i2f.rn, ull2d.rn, …
Value* from_integer(IRBuilderBase& b, const Name& name, Value* value, Type* type) {
  const auto [source, target] = name.operation.split('2');
  if ((target != "f" && target != "d") || !name.rounds_to_nearest())
    return nullptr;
  if (source == "i" || source == "ll")
    return b.CreateSIToFP(value, type);
  if (source == "ui" || source == "ull")
    return b.CreateUIToFP(value, type);
  if (source == "d" && target == "f")
    return b.CreateFPTrunc(value, type);
  return nullptr;
}

Value* high_half(IRBuilderBase& b, Value* x, Value* y, bool is_unsigned) {
  const unsigned bits = x->getType()->getIntegerBitWidth();
  Type* wide = b.getIntNTy(2 * bits);
  const auto extend = [&](Value* value) {
    return is_unsigned ? b.CreateZExt(value, wide) : b.CreateSExt(value, wide);
  };
  return b.CreateTrunc(b.CreateLShr(b.CreateMul(extend(x), extend(y)), bits), x->getType());
}

Value* integer(IRBuilderBase& b, const Name& name, ArrayRef<Value*> a, Type* result) {
  const bool is_unsigned = name.has("ui") || name.has("ull") || name.has("us");
  if (name.operation == "mulhi")
    return high_half(b, a[0], a[1], is_unsigned);
  if (name.operation == "mul24") {
    const auto low24 = [&](Value* value) {
      Value* shifted = b.CreateShl(value, 8);
      return is_unsigned ? b.CreateLShr(shifted, 8) : b.CreateAShr(shifted, 8);
    };
    return b.CreateMul(low24(a[0]), low24(a[1]));
  }
  if (name.operation == "sad") {
    Value* larger = b.CreateBinaryIntrinsic(is_unsigned ? Intrinsic::umax : Intrinsic::smax, a[0], a[1]);
    Value* smaller = b.CreateBinaryIntrinsic(is_unsigned ? Intrinsic::umin : Intrinsic::smin, a[0], a[1]);
    return b.CreateAdd(b.CreateSub(larger, smaller), a[2]);
  }
  if (name.operation == "bitcast")
    return b.CreateBitCast(a[0], result);
  if (name.operation == "lohi") {
    Value* low = b.CreateZExt(a[0], b.getInt64Ty());
    Value* high = b.CreateShl(b.CreateZExt(a[1], b.getInt64Ty()), 32);
    return b.CreateBitCast(b.CreateOr(low, high), result);
  }
  if (name.operation ==
      "prmt") { // default mode: each result byte is one of the eight, or its sign replicated
    Value* bytes =
        b.CreateOr(b.CreateZExt(a[0], b.getInt64Ty()), b.CreateShl(b.CreateZExt(a[1], b.getInt64Ty()), 32));
    Value* value = b.getInt32(0);
    for (unsigned i = 0; i < 4; ++i) {
      Value* selector = b.CreateLShr(a[2], 4 * i);
      Value* shift = b.CreateZExt(b.CreateMul(b.CreateAnd(selector, 7), b.getInt32(8)), b.getInt64Ty());
      Value* byte = b.CreateTrunc(b.CreateLShr(bytes, shift), b.getInt8Ty());
      Value* sign = b.CreateAShr(byte, 7);
      Value* wants_sign = b.CreateICmpNE(b.CreateAnd(selector, 8), b.getInt32(0));
      Value* chosen = b.CreateZExt(b.CreateSelect(wants_sign, sign, byte), b.getInt32Ty());
      value = b.CreateOr(value, b.CreateShl(chosen, 8 * i));
    }
    return value;
  }
  return nullptr;
}

} // namespace

Value* lower_arithmetic(IRBuilderBase& builder, StringRef text, CallInst& call) {
  if (call.arg_empty())
    return nullptr;
  const Name name(text);
  SmallVector<Value*, 4> arguments(call.args());
  if (Value* value = floating(builder, name, arguments))
    return value;
  if (Value* value = converted_to_integer(builder, name, arguments[0], call.getType()))
    return value;
  if (Value* value = from_integer(builder, name, arguments[0], call.getType()))
    return value;
  return integer(builder, name, arguments, call.getType());
}

} // namespace warplens::lowering
