// Turns sums of products into fused multiply-adds where the source's options allow it (nvcc's -fmad, which is
// on by default; Clang marks what may be fused). LLVM's code generator would fuse depending on how the code
// around was split up, so that a kernel's variants could give different results.
#include "lowering/stages.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

struct Product {
  Value *x, *y;
};

std::optional<Product> product(IRBuilderBase& b, Value* value) {
  if (auto* negated = dyn_cast<UnaryOperator>(value); negated && negated->getOpcode() == Instruction::FNeg)
    if (const auto inner = product(b, negated->getOperand(0)))
      return Product{b.CreateFNeg(inner->x), inner->y};
  auto* multiplied = dyn_cast<BinaryOperator>(value);
  if (!multiplied || multiplied->getOpcode() != Instruction::FMul || !multiplied->hasAllowContract())
    return std::nullopt;
  return Product{multiplied->getOperand(0), multiplied->getOperand(1)};
}

Value* fused(IRBuilderBase& b, const Product& product, Value* addend) {
  return b.CreateIntrinsic(Intrinsic::fma, {addend->getType()}, {product.x, product.y, addend});
}

/// Returns the fused operation; of two products it fuses the left one, as nvcc chooses.
Value* contracted(IRBuilderBase& b, BinaryOperator& sum) {
  const bool subtracts = sum.getOpcode() == Instruction::FSub;
  Value *left = sum.getOperand(0), *right = sum.getOperand(1);
  if (const auto first = product(b, left))
    return fused(b, *first, subtracts ? b.CreateFNeg(right) : right);
  if (const auto second = product(b, right))
    return fused(b, subtracts ? Product{b.CreateFNeg(second->x), second->y} : *second, left);
  return nullptr;
}

} // namespace

void contract(Module& module) {
  std::vector<Instruction*> all;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (isa<FPMathOperator>(instruction) && instruction.hasAllowContract())
        all.push_back(&instruction);
  std::vector<Instruction*> replaced;
  for (Instruction* instruction : all) {
    auto* sum = dyn_cast<BinaryOperator>(instruction);
    if (!sum || (sum->getOpcode() != Instruction::FAdd && sum->getOpcode() != Instruction::FSub))
      continue;
    IRBuilder<> builder(sum);
    if (Value* value = contracted(builder, *sum)) {
      sum->replaceAllUsesWith(value);
      replaced.push_back(sum);
    }
  }
  for (Instruction* instruction : all)
    instruction->setHasAllowContract(false);
  for (Instruction* instruction : replaced)
    instruction->eraseFromParent();
}

} // namespace warplens::lowering
