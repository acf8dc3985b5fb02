// PTX ISA: "Parallel Synchronization and Communication", "Miscellaneous".
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"
#include "runtime/abi/intrinsics.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

/// Writes d[|p]: a value and a predicate.
bool write_both(Block& block, const Operand& target, Value* both) {
  auto& b = block.builder();
  if (target.kind != Operand::Kind::pair)
    return block.write(target, b.CreateExtractValue(both, 0), b32);
  return block.write(target.parts[0], b.CreateExtractValue(both, 0), b32) &&
         block.write(target.parts[1], b.CreateExtractValue(both, 1), truth);
}

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
  return write_both(block, operands[0], b.CreateIntrinsic(intrinsic, {}, {mask, value, lane, clamp}));
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

/// match.any.sync.b32|b64 d, a, mask; match.all.sync.b32|b64 d[|p], a, mask
bool match(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const auto type = modifiers.type();
  const StringRef mode = modifiers.take_one({"any", "all"});
  if (mode.empty() || !modifiers.take("sync") || !type || type->kind != Type::Kind::bits ||
      operands.size() != 3)
    return false;
  Value *value = block.read(operands[1], *type), *mask = block.read(operands[2], b32);
  if (!value || !mask)
    return false;
  const bool wide = type->bits == 64;
  if (mode == "any")
    return block.write(
        operands[0],
        b.CreateIntrinsic(wide ? Intrinsic::nvvm_match_any_sync_i64 : Intrinsic::nvvm_match_any_sync_i32, {},
                          {mask, value}),
        b32);
  return write_both(
      block, operands[0],
      b.CreateIntrinsic(wide ? Intrinsic::nvvm_match_all_sync_i64p : Intrinsic::nvvm_match_all_sync_i32p, {},
                        {mask, value}));
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
  // The mask is first, in the order in which intrinsics.cpp reads them (explained there).
  return block.write(operands[0], b.CreateIntrinsic(intrinsic, {}, {mask, value}), *type);
}

Value* suspending(IRBuilder<>& b, StringRef function, llvm::Type* result,
                  std::initializer_list<Value*> arguments) {
  SmallVector<Value*, 6> all{current_lane(b)};
  all.append(arguments);
  return call_runtime(b, function, Effects::suspends, result, all);
}

/// bar.red.popc.u32 d, id[, threads], [!]p and bar.red.and|or.pred q, id[, threads], [!]p
bool barrier_reduction(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const StringRef name = modifiers.take_one({"popc", "and", "or"});
  const bool counts = name == "popc";
  if (name.empty() || !modifiers.take(counts ? "u32" : "pred") || operands.size() < 3 || operands.size() > 4)
    return false;
  Value *id = block.read(operands[1], b32),
        *threads = operands.size() == 4 ? block.read(operands[2], b32) : b.getInt32(0),
        *predicate = block.read(operands.back(), truth);
  if (!id || !threads || !predicate)
    return false;
  const auto operation = counts          ? cpu::Reduction::add
                         : name == "and" ? cpu::Reduction::and_
                                         : cpu::Reduction::or_;
  Value* result = suspending(b, "__warplens_cpu_barrier_reduce", b.getInt32Ty(),
                             {id, threads, b.getInt32(static_cast<std::uint32_t>(operation)),
                              b.CreateZExt(predicate, b.getInt32Ty())});
  return counts ? block.write(operands[0], result, b32)
                : block.write(operands[0], b.CreateIsNotNull(result), truth);
}

/// barrier.cluster.arrive|wait: the cluster is this block alone.
bool cluster_barrier(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  const StringRef does = modifiers.take_one({"arrive", "wait"});
  modifiers.take_one({"relaxed", "release", "acquire"});
  if (does.empty() || !operands.empty())
    return false;
  if (does == "wait")
    suspending(b, "__warplens_cpu_barrier", b.getVoidTy(), {b.getInt32(cpu::cluster_barrier), b.getInt32(0)});
  return true;
}

/// bar|barrier[.cta].sync|arrive id[, threads], .red, bar.warp.sync mask, barrier.cluster
bool barrier(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  modifiers.take("cta");
  modifiers.take("aligned");
  if (modifiers.take("cluster"))
    return cluster_barrier(block, modifiers, operands);
  if (modifiers.take("red"))
    return barrier_reduction(block, modifiers, operands);
  const bool of_warp = modifiers.take("warp");
  const StringRef does = modifiers.take_one({"sync", "arrive"});
  if (does.empty() || operands.empty() || operands.size() > (of_warp ? 1 : 2))
    return false;
  Value* first = block.read(operands[0], b32);
  Value* threads = operands.size() == 2 ? block.read(operands[1], b32) : b.getInt32(0);
  if (!first || !threads)
    return false;
  if (of_warp) {
    if (does == "sync")
      b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {first});
    return does == "sync";
  }
  suspending(b, does == "sync" ? "__warplens_cpu_barrier" : "__warplens_cpu_barrier_arrive", b.getVoidTy(),
             {first, threads});
  return does == "sync" || operands.size() == 2;
}

/// elect.sync d|p, mask: the lowest lane of the mask.
bool elect(Block& block, Modifiers& modifiers, const Operands& operands) {
  auto& b = block.builder();
  if (!modifiers.take("sync") || operands.size() != 2 || operands[0].kind != Operand::Kind::pair)
    return false;
  Value* mask = block.read(operands[1], b32);
  if (!mask)
    return false;
  b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {mask});
  Value* lowest = b.CreateBinaryIntrinsic(Intrinsic::cttz, mask, b.getFalse());
  Value* own = b.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  return block.write(operands[0].parts[0], lowest, b32) &&
         block.write(operands[0].parts[1], b.CreateICmpEQ(lowest, own), truth);
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

/// Accepts instructions without effect here. Launches run one after the other, so that a dependent one
/// (griddepcontrol) finds all done; registers are not counted (setmaxnreg).
bool nothing(Block&, Modifiers& modifiers, const Operands&) {
  while (!modifiers.empty())
    modifiers.take_any();
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
      {"elect", elect},
      {"nanosleep", sleep},
      {"griddepcontrol", nothing},
      {"setmaxnreg", nothing},
      {"pmevent", nothing},
      {"brkpt", nothing},
      {"exit", alone(Intrinsic::nvvm_exit)},
      {"trap", alone(Intrinsic::trap)},
  };
  return rules;
}

} // namespace warplens::lowering::ptx
