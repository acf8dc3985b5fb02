// PTX ISA: "Integer Arithmetic", "Extended-Precision Integer Arithmetic", "Logic and Shift".
#include "lowering/defined_arithmetic.h"
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

/// Reads all operands but the first; the result is empty if one cannot be read.
SmallVector<Value*, 4> sources(Block& block, const Operands& operands, const Type& type) {
  SmallVector<Value*, 4> values;
  for (std::size_t i = 1; i < operands.size(); ++i)
    if (Value* value = block.read(operands[i], type))
      values.push_back(value);
  return values.size() + 1 == operands.size() ? values : SmallVector<Value*, 4>{};
}

Value* extend(Builder& b, Value* value, Type type, unsigned bits) {
  return type.is_signed() ? b.CreateSExt(value, b.getIntNTy(bits)) : b.CreateZExt(value, b.getIntNTy(bits));
}

/// Computes target = x ± y ± the carry flag, which counts borrows for subtractions.
bool add_with_carry(Block& block, const Operand& target, const Type& type, Value* x, Value* y, bool subtract,
                    bool carry_in, bool carry_out) {
  Builder& b = block.builder();
  llvm::Type* wide = b.getIntNTy(type.bits + 1);
  x = b.CreateZExt(x, wide);
  y = b.CreateZExt(y, wide);
  Value* result = subtract ? b.CreateSub(x, y) : b.CreateAdd(x, y);
  if (carry_in) {
    Value* carry = b.CreateZExt(block.carry, wide);
    result = subtract ? b.CreateSub(result, carry) : b.CreateAdd(result, carry);
  }
  if (carry_out)
    block.carry = b.CreateTrunc(b.CreateLShr(result, type.bits), b.getInt1Ty());
  return block.write(target, b.CreateTrunc(result, b.getIntNTy(type.bits)), type);
}

/// mul, mad and madc: .lo, .hi or .wide; with .cc the sum's carry goes to the flag, and madc adds the flag.
bool multiply(Block& block, Modifiers& modifiers, const Type& type, const Operands& operands, bool add,
              bool carry_in = false) {
  Builder& b = block.builder();
  const StringRef part = modifiers.take_one({"lo", "hi", "wide"});
  const bool carry_out = add && modifiers.take("cc"), saturates = add && modifiers.take("sat");
  if (operands.size() != (add ? 4 : 3) || part.empty() || type.kind == Type::Kind::bits ||
      (carry_in && !block.carry))
    return false;
  const bool wide = part == "wide";
  if ((saturates && (part != "hi" || type.bits != 32 || !type.is_signed() || carry_out || carry_in)) ||
      ((carry_in || carry_out) && wide))
    return false;
  Type result = type;
  result.bits = wide ? 2 * type.bits : type.bits;
  Value *x = block.read(operands[1], type), *y = block.read(operands[2], type);
  Value* c = add ? block.read(operands[3], result) : nullptr;
  if (!x || !y || (add && !c))
    return false;
  Value* product = b.CreateMul(extend(b, x, type, 2 * type.bits), extend(b, y, type, 2 * type.bits));
  if (part == "hi")
    product = b.CreateLShr(product, type.bits);
  product = b.CreateTrunc(product, b.getIntNTy(result.bits));
  if (carry_in || carry_out)
    return add_with_carry(block, operands[0], result, product, c, false, carry_in, carry_out);
  Value* sum = !add        ? product
               : saturates ? b.CreateBinaryIntrinsic(Intrinsic::sadd_sat, product, c)
                           : b.CreateAdd(product, c);
  return block.write(operands[0], sum, result);
}

/// mul24 and mad24: products of the lowest 24 bits, .lo: bits 31 to 0 of the 48, .hi: bits 47 to 16.
bool multiply_24(Block& block, Modifiers& modifiers, const Operands& operands, bool add) {
  Builder& b = block.builder();
  const StringRef part = modifiers.take_one({"lo", "hi"});
  const bool saturates = add && part == "hi" && modifiers.take("sat");
  const auto type = modifiers.type();
  if (part.empty() || !type || type->bits != 32 || type->is_float() || operands.size() != (add ? 4 : 3))
    return false;
  const auto a = sources(block, operands, *type);
  if (a.empty() || (saturates && !type->is_signed()))
    return false;
  const auto low = [&](Value* value) { return extend(b, b.CreateTrunc(value, b.getIntNTy(24)), *type, 64); };
  Value* product = b.CreateMul(low(a[0]), low(a[1]));
  product = b.CreateTrunc(part == "hi" ? b.CreateLShr(product, 16) : product, b.getInt32Ty());
  if (add)
    product =
        saturates ? b.CreateBinaryIntrinsic(Intrinsic::sadd_sat, product, a[2]) : b.CreateAdd(product, a[2]);
  return block.write(operands[0], product, *type);
}

/// add.cc, addc, sub.cc, subc
bool with_carry(Block& block, Modifiers& modifiers, const Operands& operands, bool subtract, bool carry_in) {
  const bool carry_out = modifiers.take("cc");
  const auto type = modifiers.type();
  if (!type || type->lanes != 1 || type->is_float() || operands.size() != 3 || (carry_in && !block.carry))
    return false;
  const auto a = sources(block, operands, *type);
  return !a.empty() && add_with_carry(block, operands[0], *type, a[0], a[1], subtract, carry_in, carry_out);
}

bool shifts(Block& block, Modifiers& modifiers, const Operands& operands, bool left) {
  const auto type = modifiers.type();
  if (!type || type->lanes != 1 || type->is_float() || operands.size() != 3)
    return false;
  Value *value = block.read(operands[1], *type), *amount = block.read(operands[2], 32);
  if (!value || !amount)
    return false;
  const auto operation = left                ? llvm::Instruction::Shl
                         : type->is_signed() ? llvm::Instruction::AShr
                                             : llvm::Instruction::LShr;
  return block.write(operands[0], shift(block.builder(), operation, value, amount), *type);
}

/// shf.l/r.clamp/wrap.b32 d, low, high, amount
bool funnel_shift(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef direction = modifiers.take_one({"l", "r"}), mode = modifiers.take_one({"clamp", "wrap"});
  if (direction.empty() || mode.empty() || !modifiers.take("b32") || operands.size() != 4)
    return false;
  const auto a = sources(block, operands, *type_of("b32"));
  if (a.empty())
    return false;
  Value* amount =
      mode == "wrap" ? b.CreateAnd(a[2], 31) : b.CreateBinaryIntrinsic(Intrinsic::umin, a[2], b.getInt32(32));
  Value* both =
      b.CreateOr(b.CreateZExt(a[0], b.getInt64Ty()), b.CreateShl(b.CreateZExt(a[1], b.getInt64Ty()), 32));
  Value* by = b.CreateZExt(amount, b.getInt64Ty());
  Value* shifted = direction == "l" ? b.CreateLShr(b.CreateShl(both, by), 32) : b.CreateLShr(both, by);
  return block.write(operands[0], b.CreateTrunc(shifted, b.getInt32Ty()), *type_of("b32"));
}

/// lop3.b32 d, a, b, c, table: bit i of the table is the result where the three bits are i.
bool any_logic(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  if (!modifiers.take("b32") || operands.size() != 5 || operands[4].kind != Operand::Kind::integer)
    return false;
  const auto a = sources(block, operands, *type_of("b32"));
  if (a.empty())
    return false;
  Value* result = b.getInt32(0);
  for (unsigned row = 0; row < 8; ++row)
    if (operands[4].number >> row & 1) {
      const auto literal = [&](Value* value, unsigned bit) { return row & bit ? value : b.CreateNot(value); };
      result =
          b.CreateOr(result, b.CreateAnd(b.CreateAnd(literal(a[0], 4), literal(a[1], 2)), literal(a[2], 1)));
    }
  return block.write(operands[0], result, *type_of("b32"));
}

bool logic(Block& block, Modifiers& modifiers, const Operands& operands,
           llvm::Instruction::BinaryOps operation) {
  const auto type = modifiers.type();
  if (!type || operands.size() != 3)
    return false;
  const auto a = sources(block, operands, *type);
  return !a.empty() && block.write(operands[0], block.builder().CreateBinOp(operation, a[0], a[1]), *type);
}

bool unary(Block& block, Modifiers& modifiers, const Operands& operands,
           const std::function<Value*(Builder&, Value*)>& make) {
  const auto type = modifiers.type();
  Value* value = type && operands.size() == 2 ? block.read(operands[1], *type) : nullptr;
  if (!value)
    return false;
  Value* result = make(block.builder(), value);
  // popc and clz return u32, whatever the source's width.
  Type result_type = *type;
  result_type.kind = Type::Kind::bits;
  return block.write(operands[0], result, result_type);
}

/// bfe.type d, a, position, length: bits above the source repeat the sign of signed types and are 0
/// otherwise.
bool extract_field(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto type = modifiers.type();
  if (!type || type->is_float() || type->bits < 32 || operands.size() != 4)
    return false;
  Value* value = block.read(operands[1], *type);
  Value *position = block.read(operands[2], 32), *length = block.read(operands[3], 32);
  if (!value || !position || !length)
    return false;
  position = b.CreateAnd(position, 255);
  length = b.CreateAnd(length, 255);
  const unsigned bits = type->bits;
  const auto right = type->is_signed() ? llvm::Instruction::AShr : llvm::Instruction::LShr;
  Value* moved = shift(b, right, value, position);
  // Shifts the field to the top and back down, which extends it by its own highest bit, or by zeros.
  Value* unused =
      b.CreateSub(b.getInt32(bits), b.CreateBinaryIntrinsic(Intrinsic::umin, length, b.getInt32(bits)));
  Value* field = shift(b, right, shift(b, llvm::Instruction::Shl, moved, unused), unused);
  field = b.CreateSelect(b.CreateICmpEQ(length, b.getInt32(0)), b.getIntN(bits, 0), field);
  return block.write(operands[0], field, *type);
}

/// bfi.type d, field, into, position, length
bool insert_field(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto type = modifiers.type();
  if (!type || type->kind != Type::Kind::bits || type->bits < 32 || operands.size() != 5)
    return false;
  Value *field = block.read(operands[1], *type), *into = block.read(operands[2], *type);
  Value *position = block.read(operands[3], 32), *length = block.read(operands[4], 32);
  if (!field || !into || !position || !length)
    return false;
  position = b.CreateAnd(position, 255);
  length = b.CreateAnd(length, 255);
  Value* beyond = shift(b, llvm::Instruction::Shl, b.getIntN(type->bits, ~0ULL >> (64 - type->bits)), length);
  Value* mask = shift(b, llvm::Instruction::Shl, b.CreateNot(beyond), position);
  Value* moved = shift(b, llvm::Instruction::Shl, field, position);
  return block.write(operands[0], b.CreateOr(b.CreateAnd(moved, mask), b.CreateAnd(into, b.CreateNot(mask))),
                     *type);
}

/// bmsk.clamp|wrap.b32 d, position, length: `length` ones from `position` upwards.
bool bit_mask(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef mode = modifiers.take_one({"clamp", "wrap"});
  const auto a = sources(block, operands, *type_of("b32"));
  if (mode.empty() || !modifiers.take("b32") || operands.size() != 3 || a.empty())
    return false;
  const auto number = [&](Value* value) { return mode == "wrap" ? b.CreateAnd(value, 31) : value; };
  Value* ones = b.CreateNot(shift(b, llvm::Instruction::Shl, b.getInt32(~0U), number(a[1])));
  return block.write(operands[0], shift(b, llvm::Instruction::Shl, ones, number(a[0])), *type_of("b32"));
}

/// prmt.b32[.mode] d, a, b, selector. Modes other than the default derive a selector from its lowest two bits
/// n.
bool permute(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef mode = modifiers.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  const auto a = sources(block, operands, *type_of("b32"));
  if (!modifiers.take("b32") || operands.size() != 4 || a.empty())
    return false;
  Value* selector = a[2];
  if (!mode.empty()) {
    Value* n = b.CreateAnd(a[2], 3);
    selector = b.getInt32(0);
    for (unsigned i = 0; i < 4; ++i) { // selects byte i of the result among the eight bytes
      Value* byte = mode == "f4e"   ? b.CreateAdd(n, b.getInt32(i))
                    : mode == "b4e" ? b.CreateAnd(b.CreateSub(n, b.getInt32(i)), 7)
                    : mode == "rc8" ? n
                    : mode == "ecl" ? b.CreateBinaryIntrinsic(Intrinsic::umax, n, b.getInt32(i))
                    : mode == "ecr" ? b.CreateBinaryIntrinsic(Intrinsic::umin, n, b.getInt32(i))
                                    : b.CreateOr(b.CreateShl(b.CreateAnd(n, 1), 1), i & 1);
      selector = b.CreateOr(selector, b.CreateShl(byte, 4 * i));
    }
  }
  return block.write(operands[0], b.CreateIntrinsic(Intrinsic::nvvm_prmt, {}, {a[0], a[1], selector}),
                     *type_of("b32"));
}

/// fns.b32 d, mask, base, offset
bool find_nth_set(Block& block, Modifiers& modifiers, const Operands& operands) {
  const auto a = sources(block, operands, *type_of("b32"));
  if (!modifiers.take("b32") || operands.size() != 4 || a.empty())
    return false;
  return block.write(operands[0],
                     block.builder().CreateIntrinsic(Intrinsic::nvvm_fns, {}, {a[0], a[1], a[2]}),
                     *type_of("b32"));
}

/// dp4a.atype.btype d, a, b, c: four products of bytes and a sum.
bool dot_product(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto first = modifiers.type(), second = modifiers.type();
  if (!first || !second || first->bits != 32 || second->bits != 32 || first->is_float() ||
      second->is_float() || operands.size() != 4)
    return false;
  const auto a = sources(block, operands, *first);
  if (a.empty())
    return false;
  Value* sum = a[2];
  for (unsigned i = 0; i < 4; ++i) {
    const auto byte = [&](Value* value, Type type) {
      return extend(b, b.CreateTrunc(b.CreateLShr(value, 8 * i), b.getInt8Ty()), type, 32);
    };
    sum = b.CreateAdd(sum, b.CreateMul(byte(a[0], *first), byte(a[1], *second)));
  }
  return block.write(operands[0], sum, *first);
}

/// dp2a.lo|hi.atype.btype d, a, b, c: two products of 16-bit halves of a with bytes of b's half.
bool dot_product_of_halves(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef half = modifiers.take_one({"lo", "hi"});
  const auto first = modifiers.type(), second = modifiers.type();
  if (half.empty() || !first || !second || first->bits != 32 || second->bits != 32 || first->is_float() ||
      second->is_float() || operands.size() != 4)
    return false;
  const auto a = sources(block, operands, *first);
  if (a.empty())
    return false;
  Value* sum = a[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value* x = extend(b, b.CreateTrunc(b.CreateLShr(a[0], 16 * i), b.getInt16Ty()), *first, 32);
    const unsigned place = 8 * (i + (half == "hi" ? 2 : 0));
    Value* y = extend(b, b.CreateTrunc(b.CreateLShr(a[1], place), b.getInt8Ty()), *second, 32);
    sum = b.CreateAdd(sum, b.CreateMul(x, y));
  }
  return block.write(operands[0], sum, *first);
}

/// bfind[.shiftamt].type d, a: the position of the highest bit that differs from the sign; ~0 if none does.
bool find_highest(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const bool as_shift = modifiers.take("shiftamt");
  const auto type = modifiers.type();
  Value* value =
      type && !type->is_float() && type->bits >= 32 && type->kind != Type::Kind::bits && operands.size() == 2
          ? block.read(operands[1], *type)
          : nullptr;
  if (!value)
    return false;
  if (type->is_signed()) // the highest zero of a negative number
    value = b.CreateXor(value, b.CreateAShr(value, type->bits - 1));
  Value* above = b.CreateTrunc(b.CreateBinaryIntrinsic(Intrinsic::ctlz, value, b.getFalse()), b.getInt32Ty());
  Value* place = as_shift ? above : b.CreateSub(b.getInt32(type->bits - 1), above);
  return block.write(operands[0], b.CreateSelect(b.CreateIsNull(value), b.getInt32(~0U), place),
                     *type_of("u32"));
}

/// szext.clamp|wrap.type d, a, length: the lowest bits, extended by their highest or by zeros.
bool extend_low_bits(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef mode = modifiers.take_one({"clamp", "wrap"});
  const auto type = modifiers.type();
  if (mode.empty() || !type || type->bits != 32 || type->is_float() || type->kind == Type::Kind::bits ||
      operands.size() != 3)
    return false;
  const auto a = sources(block, operands, *type);
  if (a.empty())
    return false;
  Value* length =
      mode == "wrap" ? b.CreateAnd(a[1], 31) : b.CreateBinaryIntrinsic(Intrinsic::umin, a[1], b.getInt32(32));
  Value* unused = b.CreateSub(b.getInt32(32), length);
  Value* moved = shift(b, llvm::Instruction::Shl, a[0], unused);
  Value* low = shift(b, type->is_signed() ? llvm::Instruction::AShr : llvm::Instruction::LShr, moved, unused);
  return block.write(operands[0], b.CreateSelect(b.CreateIsNull(length), b.getInt32(0), low), *type);
}

Rule opcode(StringRef name) {
  return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
    const bool adds = name == "add" || name == "sub";
    if (adds && Modifiers(modifiers).take("cc"))
      return with_carry(block, modifiers, operands, name == "sub", false);
    const auto type = modifiers.type();
    if (!type || type->kind == Type::Kind::predicate)
      return false;
    return type->is_float() ? floating_arithmetic(block, name, modifiers, *type, operands)
                            : integer_arithmetic(block, name, modifiers, *type, operands);
  };
}

} // namespace

bool integer_arithmetic(Block& block, StringRef name, Modifiers& modifiers, const Type& type,
                        const Operands& operands) {
  Builder& b = block.builder();
  if (type.lanes != 1)
    return false;
  if (name == "mul" || name == "mad" || name == "madc")
    return multiply(block, modifiers, type, operands, name != "mul", name == "madc");
  const auto a = sources(block, operands, type);
  const bool is_signed = type.is_signed();
  if (a.empty() || type.kind == Type::Kind::bits)
    return false;
  const auto write = [&](Value* value) { return block.write(operands[0], value, type); };
  const auto smaller = is_signed ? Intrinsic::smin : Intrinsic::umin,
             larger = is_signed ? Intrinsic::smax : Intrinsic::umax;
  if (a.size() == 1) {
    if (name == "neg" && is_signed)
      return write(b.CreateNeg(a[0]));
    if (name == "abs" && is_signed)
      return write(b.CreateBinaryIntrinsic(Intrinsic::abs, a[0], b.getFalse()));
    return false;
  }
  if (name == "sad" && a.size() == 3)
    return write(b.CreateAdd(b.CreateSub(b.CreateBinaryIntrinsic(larger, a[0], a[1]),
                                         b.CreateBinaryIntrinsic(smaller, a[0], a[1])),
                             a[2]));
  if (a.size() != 2)
    return false;
  const bool saturates = (name == "add" || name == "sub") && modifiers.take("sat");
  if (saturates && (!is_signed || type.bits != 32))
    return false;
  if (name == "add")
    return write(saturates ? b.CreateBinaryIntrinsic(Intrinsic::sadd_sat, a[0], a[1])
                           : b.CreateAdd(a[0], a[1]));
  if (name == "sub")
    return write(saturates ? b.CreateBinaryIntrinsic(Intrinsic::ssub_sat, a[0], a[1])
                           : b.CreateSub(a[0], a[1]));
  if (name == "min" || name == "max")
    return write(b.CreateBinaryIntrinsic(name == "min" ? smaller : larger, a[0], a[1]));
  if (name == "div")
    return write(divide(b, is_signed ? llvm::Instruction::SDiv : llvm::Instruction::UDiv, a[0], a[1]));
  if (name == "rem")
    return write(divide(b, is_signed ? llvm::Instruction::SRem : llvm::Instruction::URem, a[0], a[1]));
  return false;
}

const Rules& integer_rules() {
  static const auto carry = [](bool subtract) {
    return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
      return with_carry(block, modifiers, operands, subtract, true);
    };
  };
  static const auto bitwise = [](llvm::Instruction::BinaryOps operation) {
    return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
      return logic(block, modifiers, operands, operation);
    };
  };
  static const auto one_source = [](std::function<Value*(Builder&, Value*)> make) {
    return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
      return unary(block, modifiers, operands, make);
    };
  };
  static const Rules rules = {
      {"add", opcode("add")},
      {"sub", opcode("sub")},
      {"mul", opcode("mul")},
      {"mad", opcode("mad")},
      {"madc", opcode("madc")},
      {"mul24",
       [](Block& block, Modifiers& m, const Operands& o) { return multiply_24(block, m, o, false); }},
      {"mad24", [](Block& block, Modifiers& m, const Operands& o) { return multiply_24(block, m, o, true); }},
      {"div", opcode("div")},
      {"rem", opcode("rem")},
      {"min", opcode("min")},
      {"max", opcode("max")},
      {"neg", opcode("neg")},
      {"abs", opcode("abs")},
      {"sad", opcode("sad")},
      {"addc", carry(false)},
      {"subc", carry(true)},
      {"and", bitwise(llvm::Instruction::And)},
      {"or", bitwise(llvm::Instruction::Or)},
      {"xor", bitwise(llvm::Instruction::Xor)},
      {"not", one_source([](Builder& b, Value* x) { return b.CreateNot(x); })},
      {"cnot",
       one_source([](Builder& b, Value* x) { return b.CreateZExt(b.CreateIsNull(x), x->getType()); })},
      {"popc", one_source([](Builder& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::ctpop, x); })},
      {"clz", one_source([](Builder& b, Value* x) {
         return b.CreateBinaryIntrinsic(Intrinsic::ctlz, x, b.getFalse());
       })},
      {"brev",
       one_source([](Builder& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::bitreverse, x); })},
      {"shl", [](Block& block, Modifiers& m, const Operands& o) { return shifts(block, m, o, true); }},
      {"shr", [](Block& block, Modifiers& m, const Operands& o) { return shifts(block, m, o, false); }},
      {"shf", funnel_shift},
      {"lop3", any_logic},
      {"bfe", extract_field},
      {"bfi", insert_field},
      {"bmsk", bit_mask},
      {"prmt", permute},
      {"fns", find_nth_set},
      {"dp4a", dot_product},
      {"dp2a", dot_product_of_halves},
      {"bfind", find_highest},
      {"szext", extend_low_bits},
  };
  return rules;
}

} // namespace warplens::lowering::ptx
