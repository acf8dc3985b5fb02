#include "lowering/ptx/block.h"

#include "lowering/address_spaces.h"

#include <algorithm>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering::ptx {

using namespace llvm;

std::optional<Type> type_of(StringRef name) {
  using Kind = Type::Kind;
  if (name == "pred")
    return Type{Kind::predicate, 1};
  Type type;
  type.lanes = name.consume_back("x2") ? 2 : 1;
  if (name == "bf16")
    type.kind = Kind::brain;
  else if (name.starts_with("b"))
    type.kind = Kind::bits;
  else if (name.starts_with("u"))
    type.kind = Kind::unsigned_;
  else if (name.starts_with("s"))
    type.kind = Kind::signed_;
  else if (name.starts_with("f"))
    type.kind = Kind::floating;
  else
    return std::nullopt;
  type.bits = StringSwitch<unsigned>(name.drop_front(type.kind == Kind::brain ? 2 : 1))
                  .Case("8", 8)
                  .Case("16", 16)
                  .Case("32", 32)
                  .Case("64", 64)
                  .Default(0);
  if (type.bits == 0 || (type.is_float() && type.bits == 8) || (type.lanes == 2 && type.bits != 16))
    return std::nullopt;
  return type;
}

bool Modifiers::take(StringRef modifier) {
  const auto found = std::ranges::find(left_, modifier);
  if (found == left_.end())
    return false;
  left_.erase(found);
  return true;
}

StringRef Modifiers::take_one(std::initializer_list<StringRef> choices) {
  for (StringRef choice : choices)
    if (take(choice))
      return choice;
  return {};
}

std::optional<Type> Modifiers::type() {
  for (auto modifier = left_.begin(); modifier != left_.end(); ++modifier)
    if (const auto type = type_of(*modifier)) {
      left_.erase(modifier);
      return type;
    }
  return std::nullopt;
}

Block::Block(IRBuilder<>& builder, const Body& body) : builder_(builder) {
  for (const Register& declared : body.registers)
    if (const auto type = type_of(declared.type))
      registers_[declared.name] = {type->width(), PoisonValue::get(builder.getIntNTy(type->width()))};
}

Value* Block::value(const std::string& name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? nullptr : found->second.value;
}

unsigned Block::width(const Operand& operand) const {
  const auto found = registers_.find(operand.name);
  return operand.kind == Operand::Kind::name && found != registers_.end() ? found->second.bits : 0;
}

/// Returns %reserved_smem_offset_1: the 32-bit shared address of the part of shared memory that the toolkit's
/// headers reserve. Cooperative groups keep 288 bytes there.
static Value* reserved_shared_memory(IRBuilder<>& builder) {
  constexpr char name[] = "__warplens_reserved_shared";
  constexpr unsigned bytes = 288;
  Module& module = *builder.GetInsertBlock()->getModule();
  auto* type = ArrayType::get(builder.getInt8Ty(), bytes);
  auto* variable = module.getNamedGlobal(name);
  if (!variable) {
    variable = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, PoisonValue::get(type),
                                  name, nullptr, GlobalValue::NotThreadLocal, shared_space);
    variable->setAlignment(Align(16));
  }
  return builder.CreatePtrToInt(builder.CreateAddrSpaceCast(variable, builder.getPtrTy()),
                                builder.getInt32Ty());
}

static Value* half_of(IRBuilder<>& builder, Intrinsic::ID reg, unsigned shift) {
  return builder.CreateTrunc(builder.CreateLShr(builder.CreateIntrinsic(reg, {}, {}), shift),
                             builder.getInt32Ty());
}

/// Returns %tid.x, %lanemask_lt, %clock64, …: LLVM has an intrinsic for each special register that it knows.
static Value* special_register(IRBuilder<>& builder, StringRef name) {
  if (name == "%reserved_smem_offset_1")
    return reserved_shared_memory(builder);
  if (name == "%clock_hi")
    return half_of(builder, Intrinsic::nvvm_read_ptx_sreg_clock64, 32);
  if (name.consume_front("%globaltimer_"))
    return half_of(builder, Intrinsic::nvvm_read_ptx_sreg_globaltimer, name == "hi" ? 32 : 0);
  std::string intrinsic = ("llvm.nvvm.read.ptx.sreg." + name.drop_front()).str();
  std::ranges::replace(intrinsic, '_', '.');
  const Intrinsic::ID id = Function::lookupIntrinsicID(intrinsic);
  return id ? builder.CreateIntrinsic(id, {}, {}) : nullptr;
}

Value* Block::read(const Operand& operand, unsigned bits) {
  switch (operand.kind) {
  case Operand::Kind::integer:
    return builder_.getIntN(bits, bits < 64 ? operand.number & ((1ULL << bits) - 1) : operand.number);
  case Operand::Kind::name:
    if (operand.name == "WARP_SZ")
      return builder_.getIntN(bits, 32);
    break;
  default: return nullptr;
  }
  Value* content = operand.name.starts_with("%") && !registers_.contains(operand.name)
                       ? special_register(builder_, operand.name)
                       : value(operand.name);
  if (!content)
    return nullptr;
  if (operand.negated) {
    if (bits != 1 || !content->getType()->isIntegerTy(1))
      return nullptr;
    return builder_.CreateNot(content);
  }
  // A predicate cannot be used as a number, nor a number as a predicate.
  if ((bits == 1) != content->getType()->isIntegerTy(1))
    return nullptr;
  return builder_.CreateZExtOrTrunc(content, builder_.getIntNTy(bits));
}

Value* Block::read(const Operand& operand, const Type& type) {
  if (operand.kind == Operand::Kind::floating) {
    const bool fits = type.kind == Type::Kind::floating || type.kind == Type::Kind::bits;
    if (!fits || type.bits < 32 || type.lanes != 1)
      return nullptr;
    auto* real =
        ConstantFP::get(type.bits == 32 ? builder_.getFloatTy() : builder_.getDoubleTy(), operand.real);
    return builder_.CreateBitCast(real, builder_.getIntNTy(type.bits));
  }
  if (operand.kind == Operand::Kind::integer && type.is_float())
    return nullptr;
  return read(operand, type.width());
}

bool Block::write(const Operand& operand, Value* value, const Type& type) {
  if (operand.kind != Operand::Kind::name || operand.negated)
    return false;
  if (operand.name == "_")
    return true;
  const auto found = registers_.find(operand.name);
  if (found == registers_.end() || (found->second.bits == 1) != value->getType()->isIntegerTy(1))
    return false;
  auto* wanted = builder_.getIntNTy(found->second.bits);
  found->second.value = type.is_signed() ? builder_.CreateSExtOrTrunc(value, wanted)
                                         : builder_.CreateZExtOrTrunc(value, wanted);
  return true;
}

Value* Block::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::address)
    return nullptr;
  Value* base = read({.kind = Operand::Kind::name, .name = operand.name}, 64);
  if (!base)
    return nullptr;
  return builder_.CreateIntToPtr(builder_.CreateAdd(base, builder_.getInt64(operand.number)),
                                 builder_.getPtrTy());
}

Value* to_floating(IRBuilder<>& builder, Value* bits, const Type& type) {
  if (type.kind == Type::Kind::brain)
    return builder.CreateBitCast(builder.CreateShl(builder.CreateZExt(bits, builder.getInt32Ty()), 16),
                                 builder.getFloatTy());
  auto* real = type.bits == 16   ? builder.getHalfTy()
               : type.bits == 32 ? builder.getFloatTy()
                                 : builder.getDoubleTy();
  return builder.CreateBitCast(bits, real);
}

Value* to_bits(IRBuilder<>& builder, Value* value) {
  return builder.CreateBitCast(value, builder.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
}

} // namespace warplens::lowering::ptx
