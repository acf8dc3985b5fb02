// PTX ISA: "Asynchronous copy" and "mbarrier". A copy is done at once and notifies its mbarrier at once, so
// that waiting for it is a no-op. A cluster is the block alone.
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"
#include "runtime/abi/memcheck.h"

#include <llvm/IR/Intrinsics.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;

const Type b64{Type::Kind::bits, 64};

/// Emits expect_tx or complete_tx.
void transact(Builder& b, Value* barrier, Value* bytes, bool complete) {
  call_runtime(b, "__warplens_cpu_mbarrier_transact", Effects::acts, b.getVoidTy(),
               {barrier, bytes, b.getInt32(complete)});
}

Value* arrive(Builder& b, Value* barrier, Value* count, bool drop, Value* expected_bytes) {
  return call_runtime(b, "__warplens_cpu_mbarrier_arrive", Effects::acts, b.getInt64Ty(),
                      {barrier, count, b.getInt32(drop), expected_bytes});
}

/// cp.async.ca|cg.shared.global [to], [from], size[, source size]
bool copy_few_bytes(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  if (modifiers.take_one({"ca", "cg"}).empty() || modifiers.take_one({"shared", "shared::cta"}).empty() ||
      !modifiers.take("global"))
    return false;
  const std::size_t count = operands.size() - Modifiers(modifiers).take("L2::cache_hint");
  take_cache_hints(modifiers);
  if (count < 3 || count > 4)
    return false;
  const auto* bytes = dyn_cast_or_null<ConstantInt>(block.read(operands[2], 32));
  const std::uint64_t size = bytes ? bytes->getZExtValue() : 0;
  Value *to = block.address(operands[0]), *from = block.address(operands[1]);
  if (!to || !from || (size != 4 && size != 8 && size != 16))
    return false;
  const Align alignment(size);
  if (count == 3) {
    b.CreateMemCpy(to, alignment, from, alignment, size);
    mark_copy(b, to, size);
    return true;
  }
  Value* given = block.read(operands[3], 32);
  if (!given)
    return false;
  given = b.CreateZExt(
      b.CreateBinaryIntrinsic(Intrinsic::umin, given, b.getInt32(static_cast<std::uint32_t>(size))),
      b.getInt64Ty());
  b.CreateMemSet(to, b.getInt8(0), size, alignment); // the rest is filled with zeros
  b.CreateMemCpy(to, alignment, from, MaybeAlign(1), given);
  mark_copy(b, to, size);
  return true;
}

/// cp.async.mbarrier.arrive[.noinc].b64 [barrier]: an arrival once the copies are done. Without .noinc the
/// barrier first expects one arrival more; both together are a no-op.
bool arrive_for_copies(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const bool counts = modifiers.take("noinc");
  modifiers.take_one({"shared", "shared::cta"});
  Value* barrier = operands.size() == 1 ? block.address(operands[0]) : nullptr;
  if (!modifiers.take("arrive") || !modifiers.take("b64") || !barrier)
    return false;
  mark_copies_wait(b, b.getInt32(cpu::all_copies)); // who waits for the barrier waits for the copies
  if (counts)
    arrive(b, barrier, b.getInt32(1), false, b.getInt32(0));
  return true;
}

/// cp.async.bulk.to.from[.completion] [to], [from], size[, barrier]; tensor maps are refused.
bool copy_many_bytes(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  if (modifiers.take("commit_group"))
    return operands.empty();
  if (modifiers.take("wait_group")) {
    modifiers.take("read");
    return operands.size() == 1;
  }
  const bool into_shared = !modifiers.take_one({"shared::cluster", "shared::cta"}).empty();
  const bool other_side = modifiers.take("global") || !modifiers.take_one({"shared::cta"}).empty();
  const bool by_barrier = modifiers.take("mbarrier::complete_tx::bytes");
  if (!into_shared || !other_side || by_barrier == modifiers.take("bulk_group") ||
      operands.size() != (by_barrier ? 4 : 3))
    return false;
  Value *to = block.address(operands[0]), *from = block.address(operands[1]),
        *bytes = block.read(operands[2], 32), *barrier = by_barrier ? block.address(operands[3]) : nullptr;
  if (!to || !from || !bytes || (by_barrier && !barrier))
    return false;
  b.CreateMemCpy(to, Align(16), from, Align(16), b.CreateZExt(bytes, b.getInt64Ty()));
  if (by_barrier)
    transact(b, barrier, bytes, true);
  return true;
}

bool copy_async(Block& block, Modifiers& modifiers, const Operands& operands) {
  if (!modifiers.take("async"))
    return false;
  if (modifiers.take("bulk"))
    return copy_many_bytes(block, modifiers, operands);
  if (modifiers.take("mbarrier"))
    return arrive_for_copies(block, modifiers, operands);
  Builder& b = block.builder();
  if (modifiers.take("commit_group")) {
    mark_copies_end(b);
    return operands.empty();
  }
  if (modifiers.take("wait_all")) {
    mark_copies_wait(b, b.getInt32(cpu::all_copies));
    return operands.empty();
  }
  if (modifiers.take("wait_group")) {
    Value* pending = operands.size() == 1 ? block.read(operands[0], 32) : nullptr;
    if (pending)
      mark_copies_wait(b, pending);
    return pending != nullptr;
  }
  return copy_few_bytes(block, modifiers, operands);
}

/// mbarrier.arrive[_drop][.expect_tx|.noComplete].b64 state, [barrier][, count or bytes]
bool arrive_at_barrier(Block& block, Modifiers& modifiers, const Operands& operands, bool drop) {
  Builder& b = block.builder();
  const bool expects = modifiers.take("expect_tx");
  const bool counts = modifiers.take("noComplete");
  Value* barrier = operands.size() > 1 && operands.size() <= 3 ? block.address(operands[1]) : nullptr;
  Value* number = operands.size() == 3 ? block.read(operands[2], 32) : b.getInt32(1);
  if (!barrier || !number || ((expects || counts) && operands.size() != 3))
    return false;
  return block.write(operands[0],
                     expects ? arrive(b, barrier, b.getInt32(1), drop, number)
                             : arrive(b, barrier, number, drop, b.getInt32(0)),
                     b64);
}

/// mbarrier.test_wait|try_wait[.parity].b64 done, [barrier], state or parity[, time]
bool wait_for_phase(Block& block, Modifiers& modifiers, const Operands& operands, bool may_take_time) {
  Builder& b = block.builder();
  const bool by_parity = modifiers.take("parity");
  const bool fits = operands.size() == 3 || (may_take_time && operands.size() == 4);
  Value* barrier = fits ? block.address(operands[1]) : nullptr;
  Value* phase = fits ? block.read(operands[2], by_parity ? 32 : 64) : nullptr;
  if (!barrier || !phase)
    return false;
  if (!by_parity)
    phase = call_runtime(b, "__warplens_cpu_mbarrier_parity", Effects::none, b.getInt32Ty(), {phase});
  Value* done = call_runtime(b, "__warplens_cpu_mbarrier_wait", Effects::suspends, b.getInt32Ty(),
                             {current_lane(b), barrier, phase});
  return block.write(operands[0], b.CreateIsNotNull(done), truth);
}

bool barrier_object(Block& block, Modifiers& modifiers, const Operands& operands) {
  Builder& b = block.builder();
  const StringRef does = modifiers.take_one({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                             "complete_tx", "test_wait", "try_wait", "pending_count"});
  modifiers.take_one({"relaxed", "acquire", "release"});
  modifiers.take_one({"cta", "cluster"});
  modifiers.take_one({"shared", "shared::cta", "shared::cluster"});
  if (does.empty() || !modifiers.take("b64"))
    return false;
  if (does.starts_with("arrive"))
    return arrive_at_barrier(block, modifiers, operands, does == "arrive_drop");
  if (does.ends_with("wait"))
    return wait_for_phase(block, modifiers, operands, does == "try_wait");
  if (does == "pending_count") {
    Value* state = operands.size() == 2 ? block.read(operands[1], 64) : nullptr;
    return state && block.write(operands[0],
                                call_runtime(b, "__warplens_cpu_mbarrier_pending", Effects::none,
                                             b.getInt32Ty(), {state}),
                                b32);
  }
  Value* barrier = operands.empty() ? nullptr : block.address(operands[0]);
  if (does == "inval") // the memory is free for other use: nothing to do
    return barrier && operands.size() == 1;
  Value* number = operands.size() == 2 ? block.read(operands[1], 32) : nullptr;
  if (!barrier || !number)
    return false;
  if (does == "init")
    call_runtime(b, "__warplens_cpu_mbarrier_init", Effects::acts, b.getVoidTy(), {barrier, number});
  else
    transact(b, barrier, number, does == "complete_tx");
  return true;
}

} // namespace

const Rules& asynchronous_rules() {
  static const Rules rules = {{"cp", copy_async}, {"mbarrier", barrier_object}};
  return rules;
}

} // namespace warplens::lowering::ptx
