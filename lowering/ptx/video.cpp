// PTX ISA: "Video Instructions" on two halves or four bytes of a word, without masks and selectors. Clang's
// headers implement CUDA's SIMD intrinsics (__vadd2, __vmaxs4, …) with them.
#include "lowering/ptx/instructions.h"

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

/// Returns the word's elements, each extended to 32 bits as its type requires.
Value* elements(Builder& b, Value* word, const Type& type, unsigned count) {
  Value* narrow = b.CreateBitCast(word, FixedVectorType::get(b.getIntNTy(32 / count), count));
  auto* wide = FixedVectorType::get(b.getInt32Ty(), count);
  return type.is_signed() ? b.CreateSExt(narrow, wide) : b.CreateZExt(narrow, wide);
}

/// Clamps to the limits of an element of the type.
Value* clamp(Builder& b, Value* values, const Type& type, unsigned count) {
  const unsigned bits = 32 / count;
  const APInt least = type.is_signed() ? APInt::getSignedMinValue(bits).sext(32) : APInt(32, 0);
  const APInt most =
      type.is_signed() ? APInt::getSignedMaxValue(bits).sext(32) : APInt::getMaxValue(bits).zext(32);
  const auto all = [&](const APInt& value) { return b.CreateVectorSplat(count, b.getInt(value)); };
  return b.CreateBinaryIntrinsic(Intrinsic::smax, b.CreateBinaryIntrinsic(Intrinsic::smin, values, all(most)),
                                 all(least));
}

/// Returns the average, rounded away from zero.
Value* average(Builder& b, Value* x, Value* y) {
  Value* sum = b.CreateAdd(x, y);
  auto* type = cast<VectorType>(sum->getType());
  Value* is_negative = b.CreateICmpSLT(sum, Constant::getNullValue(type));
  Value* rounding = b.CreateZExt(b.CreateNot(is_negative), type);
  return b.CreateAShr(b.CreateAdd(sum, rounding), ConstantInt::get(type, 1));
}

Value* operate(Builder& b, StringRef operation, Value* x, Value* y) {
  if (operation == "vadd")
    return b.CreateAdd(x, y);
  if (operation == "vsub")
    return b.CreateSub(x, y);
  if (operation == "vavrg")
    return average(b, x, y);
  if (operation == "vabsdiff")
    return b.CreateBinaryIntrinsic(Intrinsic::abs, b.CreateSub(x, y), b.getFalse());
  return b.CreateBinaryIntrinsic(operation == "vmin" ? Intrinsic::smin : Intrinsic::smax, x, y);
}

/// Writes the elements as one word, or, with .add, their sum plus c.
bool write_elements(Block& block, const Operands& operands, Value* values, bool add, unsigned count) {
  Builder& b = block.builder();
  if (add) {
    Value* c = block.read(operands[3], 32);
    return c && block.write(operands[0], b.CreateAdd(c, b.CreateAddReduce(values)), *type_of("u32"));
  }
  Value* narrow = b.CreateTrunc(values, FixedVectorType::get(b.getIntNTy(32 / count), count));
  return block.write(operands[0], b.CreateBitCast(narrow, b.getInt32Ty()), *type_of("u32"));
}

bool is_word(const std::optional<Type>& type) {
  return type && type->width() == 32 && (type->is_signed() || type->kind == Type::Kind::unsigned_);
}

/// vopN.dtype.atype.btype{.sat}{.add} d, a, b, c
Rule arithmetic(StringRef operation, unsigned count) {
  return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
    Builder& b = block.builder();
    const auto result = modifiers.type(), first = modifiers.type(), second = modifiers.type();
    const bool saturates = modifiers.take("sat"), add = modifiers.take("add");
    if (!is_word(result) || !is_word(first) || !is_word(second) || operands.size() != 4)
      return false;
    Value *x = block.read(operands[1], 32), *y = block.read(operands[2], 32);
    if (!x || !y)
      return false;
    Value* values = operate(b, operation, elements(b, x, *first, count), elements(b, y, *second, count));
    return write_elements(block, operands, saturates ? clamp(b, values, *result, count) : values, add, count);
  };
}

/// vsetN.atype.btype.cmp{.add} d, a, b, c: 1 where the comparison holds, else 0
Rule comparison(unsigned count) {
  return [=](Block& block, Modifiers& modifiers, const Operands& operands) {
    Builder& b = block.builder();
    const auto first = modifiers.type(), second = modifiers.type();
    const bool add = modifiers.take("add");
    static const std::map<StringRef, CmpInst::Predicate> comparisons = {
        {"eq", CmpInst::ICMP_EQ},  {"ne", CmpInst::ICMP_NE},  {"lt", CmpInst::ICMP_SLT},
        {"le", CmpInst::ICMP_SLE}, {"gt", CmpInst::ICMP_SGT}, {"ge", CmpInst::ICMP_SGE}};
    const auto predicate = comparisons.find(modifiers.take_one({"eq", "ne", "lt", "le", "gt", "ge"}));
    if (!is_word(first) || !is_word(second) || predicate == comparisons.end() || operands.size() != 4)
      return false;
    Value *x = block.read(operands[1], 32), *y = block.read(operands[2], 32);
    if (!x || !y)
      return false;
    Value* holds =
        b.CreateICmp(predicate->second, elements(b, x, *first, count), elements(b, y, *second, count));
    return write_elements(block, operands, b.CreateZExt(holds, FixedVectorType::get(b.getInt32Ty(), count)),
                          add, count);
  };
}

} // namespace

const Rules& video_rules() {
  static const Rules rules = {{"vadd2", arithmetic("vadd", 2)},
                              {"vadd4", arithmetic("vadd", 4)},
                              {"vsub2", arithmetic("vsub", 2)},
                              {"vsub4", arithmetic("vsub", 4)},
                              {"vavrg2", arithmetic("vavrg", 2)},
                              {"vavrg4", arithmetic("vavrg", 4)},
                              {"vabsdiff2", arithmetic("vabsdiff", 2)},
                              {"vabsdiff4", arithmetic("vabsdiff", 4)},
                              {"vmin2", arithmetic("vmin", 2)},
                              {"vmin4", arithmetic("vmin", 4)},
                              {"vmax2", arithmetic("vmax", 2)},
                              {"vmax4", arithmetic("vmax", 4)},
                              {"vset2", comparison(2)},
                              {"vset4", comparison(4)}};
  return rules;
}

} // namespace warplens::lowering::ptx
