#include "lowering/lane_addresses.h"

#include <algorithm>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr unsigned deepest = 24;       ///< operations that a linear form is expanded through
constexpr unsigned max_branches = 256; ///< the number of branches searched for guards

/// Returns the key of a term; all reads of a special register share its intrinsic.
const Value* key_of(const Value* value) {
  const auto* call = dyn_cast<CallInst>(value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.") ? callee : value;
}

class Expansion {
public:
  Expansion(LinearForm& form, const DataLayout& layout) : form_(form), layout_(layout) {}

  void add(const Value* value, std::int64_t scale, unsigned depth = 0) {
    using namespace PatternMatch;
    const Value *left, *right;
    const APInt* number;
    if (const auto* constant = dyn_cast<ConstantInt>(value); constant && constant->getBitWidth() <= 64) {
      form_.constant += scale * constant->getSExtValue();
    } else if (isa<ConstantPointerNull>(value)) {
    } else if (depth == deepest) {
      add_term(value, scale);
    } else if (const auto* pointer = dyn_cast<GEPOperator>(value)) {
      add_pointer(*pointer, scale, depth);
    } else if (isa<SExtInst, ZExtInst, FreezeInst>(value) ||
               Operator::getOpcode(value) == Instruction::AddrSpaceCast ||
               Operator::getOpcode(value) == Instruction::IntToPtr ||
               Operator::getOpcode(value) == Instruction::PtrToInt) {
      add(cast<User>(value)->getOperand(0), scale, depth + 1);
    } else if (match(value, m_Add(m_Value(left), m_Value(right))) ||
               match(value, m_DisjointOr(m_Value(left), m_Value(right)))) {
      add(left, scale, depth + 1);
      add(right, scale, depth + 1);
    } else if (match(value, m_Sub(m_Value(left), m_Value(right)))) {
      add(left, scale, depth + 1);
      add(right, -scale, depth + 1);
    } else if (match(value, m_c_Mul(m_Value(left), m_APInt(number))) && number->getBitWidth() <= 64) {
      add(left, scale * number->getSExtValue(), depth + 1);
    } else if (match(value, m_Shl(m_Value(left), m_APInt(number))) && number->ult(32)) {
      add(left, scale * (std::int64_t{1} << number->getZExtValue()), depth + 1);
    } else {
      add_term(value, scale);
    }
  }

private:
  void add_pointer(const GEPOperator& pointer, std::int64_t scale, unsigned depth) {
    add(pointer.getPointerOperand(), scale, depth + 1);
    for (auto step = gep_type_begin(pointer), end = gep_type_end(pointer); step != end; ++step) {
      if (StructType* type = step.getStructTypeOrNull()) {
        const auto member = cast<ConstantInt>(step.getOperand())->getZExtValue();
        form_.constant +=
            scale * static_cast<std::int64_t>(layout_.getStructLayout(type)
                                                  ->getElementOffset(static_cast<unsigned>(member))
                                                  .getFixedValue());
      } else {
        add(step.getOperand(),
            scale * static_cast<std::int64_t>(step.getSequentialElementStride(layout_).getFixedValue()),
            depth + 1);
      }
    }
  }

  void add_term(const Value* value, std::int64_t scale) {
    const auto [term, added] = form_.terms.emplace(key_of(value), 0);
    if ((term->second += scale) == 0)
      form_.terms.erase(term);
  }

  LinearForm& form_;
  const DataLayout& layout_;
};

/// Returns whether both values are computed by the same expression, perhaps in different places.
bool are_alike(const Value* one, const Value* other, unsigned depth = 0) {
  constexpr unsigned deepest_alike = 6;
  if (key_of(one) == key_of(other))
    return true;
  const auto* first = dyn_cast<Instruction>(one);
  const auto* second = dyn_cast<Instruction>(other);
  if (!first || !second || depth == deepest_alike || isa<PHINode, CallInst>(first) ||
      first->mayReadOrWriteMemory() || !first->isSameOperationAs(second))
    return false;
  for (unsigned i = 0; i < first->getNumOperands(); ++i)
    if (!are_alike(first->getOperand(i), second->getOperand(i), depth + 1))
      return false;
  return true;
}

} // namespace

LinearForm LinearForm::minus(const LinearForm& other) const {
  LinearForm result = *this;
  result.constant -= other.constant;
  for (const auto& [value, factor] : other.terms) {
    auto term = result.terms.find(value);
    if (term == result.terms.end())
      term = find_if(result.terms, [&](const auto& candidate) { return are_alike(candidate.first, value); });
    if (term == result.terms.end())
      term = result.terms.emplace(value, 0).first;
    if ((term->second -= factor) == 0)
      result.terms.erase(term);
  }
  return result;
}

LinearForm linear_form(const Value* value, const DataLayout& layout, std::int64_t scale) {
  LinearForm form;
  Expansion(form, layout).add(value, scale);
  return form;
}

Variation Variations::of(const Value* value) {
  const auto [known, added] = known_.emplace(value, Variation::none); // the assumption for a loop's phi
  if (!added)
    return known->second;
  const Variation found = find(*value);
  return known_[value] = found;
}

Variation Variations::of(const LinearForm& form) {
  Variation most = Variation::none;
  for (const auto& [value, factor] : form.terms)
    most = std::max(most, of(value));
  return most;
}

Variation Variations::find(const Value& value) {
  using namespace PatternMatch;
  if (const auto* callee = dyn_cast<Function>(key_of(&value))) {
    const StringRef name = callee->getName();
    return name.contains(".tid.") || name.ends_with(".laneid") || name.contains(".lanemask.")
               ? Variation::thread
               : Variation::none;
  }
  if (isa<Argument>(value))
    return is_kernel_ ? Variation::none : Variation::data;
  if (isa<Constant>(value))
    return Variation::none;
  if (isa<LoadInst, CallInst, AtomicRMWInst, AtomicCmpXchgInst>(value))
    return Variation::data;
  const auto* instruction = dyn_cast<Instruction>(&value);
  if (!instruction)
    return Variation::data;
  // Neighbouring threads may share a quotient of their numbers.
  const APInt* number;
  constexpr std::uint64_t warp = 32;
  if (match(&value, m_UDiv(m_Value(), m_Value())) || match(&value, m_SDiv(m_Value(), m_Value())) ||
      match(&value, m_LShr(m_Value(), m_Value())) || match(&value, m_AShr(m_Value(), m_Value())) ||
      ((match(&value, m_And(m_Value(), m_APInt(number))) && number->ult(warp - 1)) ||
       (match(&value, m_URem(m_Value(), m_APInt(number))) && number->ult(warp)) ||
       (match(&value, m_SRem(m_Value(), m_APInt(number))) && number->ult(warp))))
    return of(instruction->getOperand(0)) == Variation::data ? Variation::data : Variation::none;
  if ((isa<BinaryOperator>(value) &&
       (instruction->getOpcode() == Instruction::URem || instruction->getOpcode() == Instruction::SRem ||
        instruction->getOpcode() == Instruction::And)) &&
      !isa<ConstantInt>(instruction->getOperand(1)))
    return std::min(Variation::data,
                    std::max(of(instruction->getOperand(0)), of(instruction->getOperand(1))));
  Variation most = Variation::none;
  for (const Value* operand : instruction->operands())
    if (!isa<BasicBlock>(operand))
      most = std::max(most, of(operand));
  return most;
}

namespace {

/// Follows constant indices from the begin of a variable.
class Descent {
public:
  explicit Descent(const DataLayout& layout) : layout_(layout) {}

  std::optional<Extent> run(const Value* pointer) {
    pointer = pointer->stripPointerCastsSameRepresentation();
    if (Operator::getOpcode(pointer) == Instruction::AddrSpaceCast)
      return run(cast<Operator>(pointer)->getOperand(0));
    if (const auto* variable = dyn_cast<GlobalVariable>(pointer)) {
      if (variable->isDeclaration())
        return {};
      exact_ = 0;
      return Extent{0, layout_.getTypeAllocSize(variable->getValueType()).getFixedValue()};
    }
    const auto* step = dyn_cast<GEPOperator>(pointer);
    if (!step)
      return {};
    auto extent = run(step->getPointerOperand());
    if (!extent || !exact_)
      return extent;
    auto index = gep_type_begin(*step);
    const auto* first = dyn_cast<ConstantInt>(index.getOperand());
    if (!first || !first->isZero()) {
      exact_.reset();
      return extent;
    }
    const Type* type = step->getSourceElementType(); // the type that the index selects from
    for (++index; index != gep_type_end(*step); type = index.getIndexedType(), ++index) {
      const auto* number = dyn_cast<ConstantInt>(index.getOperand());
      if (StructType* members = index.getStructTypeOrNull()) {
        const auto member = static_cast<unsigned>(number->getZExtValue());
        *exact_ += layout_.getStructLayout(members)->getElementOffset(member).getFixedValue();
        extent = extent_of_type(members->getElementType(member));
        continue;
      }
      extent = extent_of_type(const_cast<Type*>(type));
      if (!number) {
        exact_.reset();
        break;
      }
      *exact_ += number->getZExtValue() * index.getSequentialElementStride(layout_).getFixedValue();
    }
    return extent;
  }

private:
  Extent extent_of_type(Type* type) const {
    return {*exact_, *exact_ + layout_.getTypeAllocSize(type).getFixedValue()};
  }

  const DataLayout& layout_;
  std::optional<std::uint64_t> exact_; ///< the pointer's offset if it is the same for all threads
};

void add_guards(const Value* condition, bool value, std::vector<Guard>& guards) {
  using namespace PatternMatch;
  const Value *left, *right;
  if (match(condition, m_Not(m_Value(left))))
    return add_guards(left, !value, guards);
  if (value ? match(condition, m_LogicalAnd(m_Value(left), m_Value(right)))
            : match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
    add_guards(left, value, guards);
    add_guards(right, value, guards);
    return;
  }
  guards.push_back({condition, value});
}

} // namespace

std::optional<Extent> extent_of(const Value* pointer, const DataLayout& layout) {
  return Descent(layout).run(pointer);
}

std::vector<Guard> guards_of(const BasicBlock& block, const DominatorTree& dominators) {
  std::vector<Guard> guards;
  unsigned left = max_branches;
  for (const auto* node = dominators.getNode(&block); node && node->getIDom() && left;
       node = node->getIDom()) {
    --left;
    const BasicBlock* above = node->getIDom()->getBlock();
    const auto* branch = dyn_cast<BranchInst>(above->getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    for (const unsigned side : {0U, 1U})
      if (dominators.dominates(BasicBlockEdge(above, branch->getSuccessor(side)), &block))
        add_guards(branch->getCondition(), side == 0, guards);
  }
  return guards;
}

bool admits_one_lane(const Guard& guard, Variations& variations) {
  const auto* comparison = dyn_cast<ICmpInst>(guard.condition);
  if (!comparison)
    return false;
  const auto predicate = guard.value ? comparison->getPredicate() : comparison->getInversePredicate();
  const auto* number = dyn_cast<ConstantInt>(comparison->getOperand(1));
  const bool is_first =
      (predicate == ICmpInst::ICMP_ULT || predicate == ICmpInst::ICMP_SLT) && number && number->isOne();
  return (predicate == ICmpInst::ICMP_EQ || is_first) &&
         variations.of(comparison->getOperand(0)) == Variation::thread &&
         variations.of(comparison->getOperand(1)) == Variation::none;
}

} // namespace warplens::lowering
