// PTX ISA: "Parallel Synchronization and Communication", "Miscellaneous".
#include "lowering/ptx/instructions.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

const Type b32{Type::Kind::bits, 32}, truth{Type::Kind::predicate, 1};

/// shfl.sync.mode.b32 d[|p], a, b, clamp, mask
bool shuffle(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const StringRef mode = modifiers.take_one({"up", "down", "bfly", "idx"});
  if (!modifiers.take("sync") || !modifiers.take("b32") || mode.empty() || operands.size() != 5)
    return false;
  Value *value = block.read(operands[1], b32), *lane = block.read(operands[2], b32),
        *clamp = block.read(operands[3], b32), *mask = block.read(operands[4], b32);
  if (!value || !lane || !clamp || !mask)
    return false;
  const auto intrinsic = mode == "up"     ? Intrinsic::nvvm_shfl_sync_up_i32p
                         : mode == "down" ? Intrinsic::nvvm_shfl_sync_down_i32p
                         : mode == "bfly" ? Intrinsic::nvvm_shfl_sync_bfly_i32p
                                          : Intrinsic::nvvm_shfl_sync_idx_i32p;
  Value* both = b.CreateIntrinsic(intrinsic, {}, {mask, value, lane, clamp});
  if (operands[0].kind != Operand::Kind::pair)
    return block.write(operands[0], b.CreateExtractValue(both, 0), b32);
  return block.write(operands[0].parts[0], b.CreateExtractValue(both, 0), b32) &&
         block.write(operands[0].parts[1], b.CreateExtractValue(both, 1), truth);
}

/// vote.sync.all|any|uni.pred p, a, mask; vote.sync.ballot.b32 d, a, mask
bool vote(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const StringRef mode = modifiers.take_one({"all", "any", "uni", "ballot"});
  if (!modifiers.take("sync") || mode.empty() || !modifiers.take(mode == "ballot" ? "b32" : "pred") ||
      operands.size() != 3)
    return false;
  Value *predicate = block.read(operands[1], truth), *mask = block.read(operands[2], b32);
  if (!predicate || !mask)
    return false;
  const auto intrinsic = mode == "all"   ? Intrinsic::nvvm_vote_all_sync
                         : mode == "any" ? Intrinsic::nvvm_vote_any_sync
                         : mode == "uni" ? Intrinsic::nvvm_vote_uni_sync
                                         : Intrinsic::nvvm_vote_ballot_sync;
  return block.write(operands[0], b.CreateIntrinsic(intrinsic, {}, {mask, predicate}),
                     mode == "ballot" ? b32 : truth);
}

/// match.any.sync.b32|b64 d, a, mask
bool match(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const auto type = modifiers.type();
  if (!modifiers.take("any") || !modifiers.take("sync") || !type || type->kind != Type::Kind::bits ||
      operands.size() != 3)
    return false;
  Value *value = block.read(operands[1], *type), *mask = block.read(operands[2], b32);
  if (!value || !mask)
    return false;
  const auto intrinsic =
      type->bits == 64 ? Intrinsic::nvvm_match_any_sync_i64 : Intrinsic::nvvm_match_any_sync_i32;
  return block.write(operands[0], b.CreateIntrinsic(intrinsic, {}, {mask, value}), b32);
}

/// redux.sync.operation.type d, a, mask
bool reduce(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const StringRef name = modifiers.take_one({"add", "and", "or", "xor", "min", "max"});
  const auto type = modifiers.type();
  if (!modifiers.take("sync") || name.empty() || !type || type->bits != 32 || type->is_float() ||
      operands.size() != 3)
    return false;
  Value *value = block.read(operands[1], *type), *mask = block.read(operands[2], b32);
  if (!value || !mask)
    return false;
  const auto intrinsic =
      name == "add"   ? Intrinsic::nvvm_redux_sync_add
      : name == "and" ? Intrinsic::nvvm_redux_sync_and
      : name == "or"  ? Intrinsic::nvvm_redux_sync_or
      : name == "xor" ? Intrinsic::nvvm_redux_sync_xor
      : name == "min"
          ? (type->is_signed() ? Intrinsic::nvvm_redux_sync_min : Intrinsic::nvvm_redux_sync_umin)
          : (type->is_signed() ? Intrinsic::nvvm_redux_sync_max : Intrinsic::nvvm_redux_sync_umax);
  // Mask first: the order in which intrinsics.cpp reads them, and why.
  return block.write(operands[0], b.CreateIntrinsic(intrinsic, {}, {mask, value}), *type);
}

/// bar.sync id[, threads], barrier.sync id[, threads], bar.warp.sync mask
bool barrier(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const bool of_warp = modifiers.take("warp");
  modifiers.take("cta");
  modifiers.take("aligned");
  if (!modifiers.take("sync") || operands.empty() || operands.size() > (of_warp ? 1 : 2))
    return false;
  Value* first = block.read(operands[0], b32);
  Value* threads = operands.size() == 2 ? block.read(operands[1], b32) : nullptr;
  if (!first || (operands.size() == 2 && !threads))
    return false;
  if (of_warp)
    b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {first});
  else if (threads)
    b.CreateIntrinsic(Intrinsic::nvvm_barrier, {}, {first, threads});
  else
    b.CreateIntrinsic(Intrinsic::nvvm_bar_sync, {}, {first});
  return true;
}

bool active_mask(Block& block, Modifiers& modifiers, const Operands& operands) {
  return modifiers.take("b32") && operands.size() == 1 &&
         block.write(operands[0], block.builder().CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {}), b32);
}

bool sleep(Block& block, Modifiers& modifiers, const Operands& operands) {
  Value* duration = modifiers.take("u32") && operands.size() == 1 ? block.read(operands[0], b32) : nullptr;
  if (!duration)
    return false;
  block.builder().CreateIntrinsic(Intrinsic::nvvm_nanosleep, {}, {duration});
  return true;
}

Rule alone(Intrinsic::ID intrinsic) {
  return [=](Block& block, Modifiers&, const Operands& operands) {
    if (operands.empty())
      block.builder().CreateIntrinsic(intrinsic, {}, {});
    return operands.empty();
  };
}

} // namespace

const Rules& thread_rules() {
  static const Rules rules = {
      {"shfl", shuffle},
      {"vote", vote},
      {"match", match},
      {"redux", reduce},
      {"bar", barrier},
      {"barrier", barrier},
      {"activemask", active_mask},
      {"nanosleep", sleep},
      {"exit", alone(Intrinsic::nvvm_exit)},
      {"trap", alone(Intrinsic::trap)},
  };
  return rules;
}

} // namespace warplens::lowering::ptx
