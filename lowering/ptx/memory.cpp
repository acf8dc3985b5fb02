// PTX ISA: ld, st, atom, red, prefetch, isspacep; membar and fence.
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

void take_space(Modifiers& modifiers) {
  modifiers.take_one({"global", "shared", "shared::cta", "shared::cluster", "local", "const"});
}

void take_scope(Modifiers& modifiers) {
  modifiers.take_one({"cta", "cluster", "gpu", "sys"});
}

struct Access {
  unsigned elements = 1;
  Type type;
  AtomicOrdering ordering = AtomicOrdering::NotAtomic; ///< the ordering of a strong operation
  bool has_policy = false;                             ///< an additional operand
};

std::optional<Access> access(Modifiers& modifiers) {
  Access result;
  const bool of_device = modifiers.take("mmio"); // followed by .relaxed
  const StringRef semantics = modifiers.take_one({"weak", "volatile", "relaxed", "acquire", "release"});
  if (of_device && semantics != "relaxed")
    return std::nullopt;
  if (semantics == "acquire")
    result.ordering = AtomicOrdering::Acquire;
  else if (semantics == "release")
    result.ordering = AtomicOrdering::Release;
  else if (!semantics.empty() && semantics != "weak")
    result.ordering = AtomicOrdering::Monotonic;
  take_scope(modifiers);
  take_space(modifiers);
  if (modifiers.take("cv")) // bypasses the caches: another thread may have written it
    result.ordering = AtomicOrdering::Monotonic;
  modifiers.take("nc");
  result.has_policy = Modifiers(modifiers).take("L2::cache_hint");
  take_cache_hints(modifiers);
  const StringRef vector = modifiers.take_one({"v2", "v4"});
  result.elements = vector.empty() ? 1 : vector == "v2" ? 2 : 4;
  const auto type = modifiers.type();
  if (!type || type->lanes != 1 || type->kind == Type::Kind::predicate)
    return std::nullopt;
  result.type = *type;
  return result;
}

/// Returns a vector's elements as operands.
const Operands& elements_of(const Operand& operand, Operands& one) {
  if (operand.kind == Operand::Kind::vector)
    return operand.parts;
  one.assign(1, operand);
  return one;
}

// A strong access of a vector is one access of its whole width, which x86 does not tear if it is aligned.
// LLVM has no atomic vectors, so it is a volatile access between fences.

bool load(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto how = access(modifiers);
  if (!how || operands.size() != (how->has_policy ? 3 : 2))
    return false;
  Operands one;
  const Operands& targets = elements_of(operands[0], one);
  Value* address = block.address(operands[1]);
  if (!address || targets.size() != how->elements)
    return false;
  auto* element = b.getIntNTy(how->type.bits);
  const Align alignment(how->elements * how->type.bits / 8);
  auto* type =
      how->elements == 1 ? static_cast<llvm::Type*>(element) : FixedVectorType::get(element, how->elements);
  auto* value = b.CreateAlignedLoad(type, address, alignment);
  if (how->ordering != AtomicOrdering::NotAtomic) {
    if (how->elements == 1) {
      value->setAtomic(how->ordering);
    } else {
      value->setVolatile(true);
      b.CreateFence(AtomicOrdering::Acquire);
    }
  }
  for (unsigned i = 0; i < how->elements; ++i)
    if (!block.write(targets[i],
                     how->elements == 1 ? static_cast<Value*>(value) : b.CreateExtractElement(value, i),
                     how->type))
      return false;
  return true;
}

bool store(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const auto how = access(modifiers);
  if (!how || operands.size() != (how->has_policy ? 3 : 2))
    return false;
  Operands one;
  const Operands& sources = elements_of(operands[1], one);
  Value* address = block.address(operands[0]);
  if (!address || sources.size() != how->elements)
    return false;
  auto* element = b.getIntNTy(how->type.bits);
  Value* value = nullptr;
  for (unsigned i = 0; i < how->elements; ++i) {
    Value* part = block.read(sources[i], how->type);
    if (!part)
      return false;
    if (how->elements == 1)
      value = part;
    else
      value = b.CreateInsertElement(
          value ? value : PoisonValue::get(FixedVectorType::get(element, how->elements)), part, i);
  }
  const bool strong_vector = how->elements > 1 && how->ordering != AtomicOrdering::NotAtomic;
  if (strong_vector)
    b.CreateFence(AtomicOrdering::Release);
  auto* made = b.CreateAlignedStore(value, address, Align(how->elements * how->type.bits / 8), strong_vector);
  if (how->ordering != AtomicOrdering::NotAtomic && !strong_vector)
    made->setAtomic(how->ordering);
  return true;
}

std::optional<AtomicRMWInst::BinOp> operation(StringRef name, const Type& type) {
  using enum AtomicRMWInst::BinOp;
  if (type.is_float())
    return name == "add" ? std::optional(FAdd) : std::nullopt;
  if (name == "min" || name == "max") {
    if (type.kind == Type::Kind::bits)
      return std::nullopt;
    return name == "min" ? (type.is_signed() ? Min : UMin) : (type.is_signed() ? Max : UMax);
  }
  const auto found = StringSwitch<AtomicRMWInst::BinOp>(name)
                         .Case("add", Add)
                         .Case("and", And)
                         .Case("or", Or)
                         .Case("xor", Xor)
                         .Case("exch", Xchg)
                         .Case("inc", UIncWrap)
                         .Case("dec", UDecWrap)
                         .Default(BAD_BINOP);
  return found == BAD_BINOP ? std::nullopt : std::optional(found);
}

/// Emits one element of an atomic operation: each half of f16x2 is atomic, not both together.
Value* modify(Builder& b, AtomicRMWInst::BinOp does, const Type& type, Value* address, Value* value) {
  Value* before = b.getIntN(type.width(), 0);
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    Value* bits = b.CreateTrunc(b.CreateLShr(value, lane * type.bits), b.getIntNTy(type.bits));
    Value* place = b.CreateConstGEP1_64(b.getInt8Ty(), address, lane * type.bits / 8);
    Value* was = nullptr;
    if (type.kind == Type::Kind::brain)
      was = call_runtime(b, "__warplens_cpu_atomic_add_bfloat", Effects::acts, b.getInt16Ty(), {place, bits});
    else
      was = b.CreateAtomicRMW(does, place, type.is_float() ? to_floating(b, bits, type) : bits, MaybeAlign(),
                              AtomicOrdering::SequentiallyConsistent);
    before =
        b.CreateOr(before, b.CreateShl(b.CreateZExt(to_bits(b, was), before->getType()), lane * type.bits));
  }
  return before;
}

/// atom.op[.vector].type d, [a], b[, c], and red.op.type [a], b: always sequentially consistent, which PTX
/// permits.
bool atomic(Block& block, Modifiers& modifiers, const Operands& operands, bool returns) {
  Builder& b = block.builder();
  const StringRef semantics = modifiers.take_one({"relaxed", "acquire", "release", "acq_rel"});
  if (semantics == "release" || semantics == "acq_rel") // which --racecheck has to know of
    b.CreateIntrinsic(Intrinsic::nvvm_membar_gl, {}, {});
  take_scope(modifiers);
  take_space(modifiers);
  modifiers.take("noftz");
  const StringRef name =
      modifiers.take_one({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"});
  const StringRef vector = modifiers.take_one({"v2", "v4", "v8"});
  const auto type = modifiers.type();
  const std::size_t first = returns ? 1 : 0;
  const bool swaps = name == "cas";
  if (!type || operands.size() != first + (swaps ? 3 : 2))
    return false;
  Value* address = block.address(operands[first]);
  if (!address)
    return false;
  if (swaps) {
    constexpr auto order = AtomicOrdering::SequentiallyConsistent;
    Value *expected = block.read(operands[first + 1], *type),
          *replacement = block.read(operands[first + 2], *type);
    if (!expected || !replacement || type->is_float() || !vector.empty())
      return false;
    Value* before = b.CreateExtractValue(
        b.CreateAtomicCmpXchg(address, expected, replacement, MaybeAlign(), order, order), 0);
    return !returns || block.write(operands[0], before, *type);
  }
  Operands one, another;
  const Operands& sources = elements_of(operands[first + 1], one);
  const Operands& targets = elements_of(operands[0], another);
  const auto does = operation(name, *type);
  const std::size_t elements = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
  if (!does || sources.size() != elements || (returns && targets.size() != elements))
    return false;
  for (std::size_t i = 0; i < elements; ++i) {
    Value* value = block.read(sources[i], *type);
    if (!value)
      return false;
    Value* place = b.CreateConstGEP1_64(b.getInt8Ty(), address, i * type->width() / 8);
    Value* before = modify(b, *does, *type, place, value);
    if (returns && !block.write(targets[i], before, *type))
      return false;
  }
  return true;
}

/// membar.scope, fence.semantics.scope; and fence.proxy, between several ways to the same memory, of which
/// the CPU has one.
bool fence(Block& block, Modifiers& modifiers, const Operands& operands) {
  modifiers.take("mbarrier_init");
  modifiers.take_one({"sc", "acq_rel", "acquire", "release"});
  StringRef scope = modifiers.take_one({"cta", "gl", "gpu", "cluster", "sys"});
  if (modifiers.take("proxy") && !modifiers.take_one({"alias", "async"}).empty()) {
    modifiers.take_one({"global", "shared::cta", "shared::cluster"});
    scope = "sys";
  }
  if (scope.empty() || !operands.empty())
    return false;
  block.builder().CreateIntrinsic(scope == "cta" ? Intrinsic::nvvm_membar_cta : Intrinsic::nvvm_membar_gl, {},
                                  {});
  return true;
}

/// prefetch, prefetchu, applypriority, discard: no-ops, since the back end has no cache to fetch into or keep
/// in.
bool advice(Block& block, Modifiers& modifiers, const Operands& operands) {
  take_space(modifiers);
  const StringRef level = modifiers.take_one({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  return !level.empty() && !operands.empty() && operands.size() <= 2 && block.address(operands[0]);
}

/// createpolicy: the description of a cache policy is never read.
bool cache_policy(Block& block, Modifiers& modifiers, const Operands& operands) {
  modifiers.take_one({"fractional", "range"});
  modifiers.take("global");
  for (int priority = 0; priority < 2; ++priority)
    modifiers.take_one({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  return modifiers.take("b64") && !operands.empty() &&
         block.write(operands[0], block.builder().getInt64(0), *type_of("b64"));
}

/// mapa d, a, rank: the address in another block of the cluster, which has one block; getctarank d, a.
bool map_address(Block& block, Modifiers& modifiers, const Operands& operands) {
  modifiers.take("shared::cluster");
  const auto type = modifiers.type();
  Value* address = type && operands.size() == 3 ? block.read(operands[1], *type) : nullptr;
  return address && block.write(operands[0], address, *type);
}

bool rank_of_address(Block& block, Modifiers& modifiers, const Operands& operands) {
  modifiers.take("shared::cluster");
  const auto type = modifiers.type();
  return type && operands.size() == 2 && block.read(operands[1], *type) &&
         block.write(operands[0], block.builder().getInt32(0), *type_of("u32"));
}

bool is_in_space(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef space =
      modifiers.take_one({"global", "shared", "shared::cta", "shared::cluster", "local", "const"});
  if (space.empty() || operands.size() != 2)
    return false;
  Value* address = block.read(operands[1], 64);
  if (!address)
    return false;
  const auto intrinsic = space == "global"  ? Intrinsic::nvvm_isspacep_global
                         : space == "local" ? Intrinsic::nvvm_isspacep_local
                         : space == "const" ? Intrinsic::nvvm_isspacep_const
                                            : Intrinsic::nvvm_isspacep_shared;
  return block.write(operands[0], b.CreateIntrinsic(intrinsic, {}, {b.CreateIntToPtr(address, b.getPtrTy())}),
                     *type_of("pred"));
}

} // namespace

void take_cache_hints(Modifiers& modifiers) {
  modifiers.take_one({"ca", "cg", "cs", "lu", "wb", "wt"});
  modifiers.take_one(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  modifiers.take_one({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  modifiers.take_one({"L2::64B", "L2::128B", "L2::256B"});
  modifiers.take("L2::cache_hint"); // an additional operand
}

const Rules& memory_rules() {
  static const Rules rules = {
      {"ld", load},
      {"st", store},
      {"atom", [](Block& block, Modifiers& m, const Operands& o) { return atomic(block, m, o, true); }},
      {"red", [](Block& block, Modifiers& m, const Operands& o) { return atomic(block, m, o, false); }},
      {"membar", fence},
      {"fence", fence},
      {"prefetch", advice},
      {"prefetchu", advice},
      {"applypriority", advice},
      {"discard", advice},
      {"createpolicy", cache_policy},
      {"mapa", map_address},
      {"getctarank", rank_of_address},
      {"isspacep", is_in_space},
  };
  return rules;
}

} // namespace warplens::lowering::ptx
