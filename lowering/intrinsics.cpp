// Lowers the intrinsics that concern threads, memory and time. Names and operands: LLVM's IntrinsicsNVVM.td;
// semantics: PTX ISA.
#include "lowering/intrinsics.h"

#include "lowering/places.h"
#include "lowering/refused_code.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "lowering/unsupported.h"
#include "runtime/abi/intrinsics.h"
#include "runtime/abi/memcheck.h"

#include <functional>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

using Builder = IRBuilder<>;
using Rule = std::function<Value*(Builder&, CallInst&)>;

Value* number(Builder& builder, auto value) {
  return builder.getInt32(static_cast<std::uint32_t>(value));
}

Value* suspending(Builder& builder, StringRef name, Type* result, std::initializer_list<Value*> arguments) {
  SmallVector<Value*, 8> all{current_lane(builder)};
  all.append(arguments);
  return call_runtime(builder, name, Effects::suspends, result, all);
}

Value* barrier(Builder& builder, Value* id, Value* threads) {
  return suspending(builder, "__warplens_cpu_barrier", builder.getVoidTy(), {id, threads});
}

/// Lowers barrier0.popc, .and and .or.
Rule barrier_reduction(cpu::Reduction operation) {
  return [=](Builder& builder, CallInst& call) {
    return suspending(
        builder, "__warplens_cpu_barrier_reduce", builder.getInt32Ty(),
        {number(builder, 0), number(builder, 0), number(builder, operation), call.getArgOperand(0)});
  };
}

/// Returns the low half of a pair of u32 that a C function returns in one register.
Value* low(Builder& builder, Value* pair) {
  return builder.CreateTrunc(pair, builder.getInt32Ty());
}
Value* high(Builder& builder, Value* pair) {
  return low(builder, builder.CreateLShr(pair, 32));
}

/// Returns {value, predicate}.
Value* with_predicate(Builder& builder, Type* type, Value* value, Value* predicate) {
  Value* result = builder.CreateInsertValue(PoisonValue::get(type), value, 0);
  return builder.CreateInsertValue(result, builder.CreateICmpNE(predicate, builder.getInt32(0)), 1);
}

/// shfl.sync.<mode>.<i32|f32>[p] (mask, value, source lane, clamp)
Rule shuffle(cpu::Shuffle mode) {
  return [=](Builder& builder, CallInst& call) {
    Value* bits = builder.CreateBitCast(call.getArgOperand(1), builder.getInt32Ty());
    Value* pair = suspending(
        builder, "__warplens_cpu_shuffle", builder.getInt64Ty(),
        {number(builder, mode), call.getArgOperand(0), bits, call.getArgOperand(2), call.getArgOperand(3)});
    Value* value = builder.CreateBitCast(low(builder, pair), call.getArgOperand(1)->getType());
    return call.getType()->isStructTy() ? with_predicate(builder, call.getType(), value, high(builder, pair))
                                        : value;
  };
}

/// vote.<mode>.sync (mask, predicate)
Rule vote(cpu::Vote mode) {
  return [=](Builder& builder, CallInst& call) {
    Value* predicate = builder.CreateZExt(call.getArgOperand(1), builder.getInt32Ty());
    Value* result = suspending(builder, "__warplens_cpu_vote", builder.getInt32Ty(),
                               {number(builder, mode), call.getArgOperand(0), predicate});
    return builder.CreateICmpNE(result, builder.getInt32(0));
  };
}

Value* ballot(Builder& builder, CallInst& call) {
  return suspending(builder, "__warplens_cpu_ballot", builder.getInt32Ty(),
                    {call.getArgOperand(0), builder.CreateZExt(call.getArgOperand(1), builder.getInt32Ty())});
}

Value* match_any(Builder& builder, CallInst& call) {
  return suspending(builder, "__warplens_cpu_match_any", builder.getInt32Ty(),
                    {call.getArgOperand(0), builder.CreateZExt(call.getArgOperand(1), builder.getInt64Ty())});
}

Value* match_all(Builder& builder, CallInst& call) {
  Value* pair =
      suspending(builder, "__warplens_cpu_match_all", builder.getInt64Ty(),
                 {call.getArgOperand(0), builder.CreateZExt(call.getArgOperand(1), builder.getInt64Ty())});
  return with_predicate(builder, call.getType(), low(builder, pair), high(builder, pair));
}

/// redux.sync.<operation> (mask, value): Clang 19's headers pass the operands in this order, not in that of
/// the intrinsic's definition (corrected in later Clangs: llvm-project pull request 132881).
Rule reduce(cpu::Reduction operation) {
  return [=](Builder& builder, CallInst& call) {
    return suspending(builder, "__warplens_cpu_reduce", builder.getInt32Ty(),
                      {number(builder, operation), call.getArgOperand(0), call.getArgOperand(1)});
  };
}

/// One OS thread runs all threads of a block, so a fence within the block only restrains the compiler.
Rule fence(SyncScope::ID scope) {
  return [=](Builder& builder, CallInst&) {
    return builder.CreateFence(AtomicOrdering::SequentiallyConsistent, scope);
  };
}

Rule read_modify_write(AtomicRMWInst::BinOp operation) {
  return [=](Builder& builder, CallInst& call) {
    return builder.CreateAtomicRMW(operation, call.getArgOperand(0), call.getArgOperand(1), MaybeAlign(),
                                   AtomicOrdering::SequentiallyConsistent);
  };
}

Value* compare_and_swap(Builder& builder, CallInst& call) {
  Value* pair = builder.CreateAtomicCmpXchg(
      call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2), MaybeAlign(),
      AtomicOrdering::SequentiallyConsistent, AtomicOrdering::SequentiallyConsistent);
  return builder.CreateExtractValue(pair, 0);
}

/// ldg and ldu (address, alignment): loads from memory that the program promises not to change.
Value* load(Builder& builder, CallInst& call) {
  const auto alignment = cast<ConstantInt>(call.getArgOperand(1))->getZExtValue();
  return builder.CreateAlignedLoad(call.getType(), call.getArgOperand(0), MaybeAlign(alignment));
}

Value* is_shared(Builder& builder, CallInst& call) {
  Value* result = call_runtime(builder, "__warplens_cpu_is_shared", Effects::reads, builder.getInt32Ty(),
                               {current_lane(builder), call.getArgOperand(0)});
  return builder.CreateICmpNE(result, builder.getInt32(0));
}
Value* is_in(Builder& builder, StringRef function, CallInst& call) {
  Value* result =
      call_runtime(builder, function, Effects::reads, builder.getInt32Ty(), {call.getArgOperand(0)});
  return builder.CreateICmpNE(result, builder.getInt32(0));
}
Value* is_constant(Builder& builder, CallInst& call) {
  return is_in(builder, "__warplens_cpu_is_constant", call);
}
Value* is_local(Builder& builder, CallInst& call) {
  return is_in(builder, "__warplens_cpu_is_local", call);
}
Value* is_global(Builder& builder, CallInst& call) {
  Value* elsewhere = builder.CreateOr(is_shared(builder, call),
                                      builder.CreateOr(is_constant(builder, call), is_local(builder, call)));
  return builder.CreateNot(elsewhere);
}

/// Address spaces are parts of one flat space on the CPU.
Value* change_space(Builder& builder, CallInst& call) {
  return builder.CreateAddrSpaceCast(call.getArgOperand(0), call.getType());
}

/// cp.async (shared destination, global source): copies at once, so that waiting for it is a no-op.
Rule copy_now(unsigned bytes) {
  return [=](Builder& builder, CallInst& call) {
    auto* copy =
        builder.CreateMemCpy(call.getArgOperand(0), Align(bytes), call.getArgOperand(1), Align(bytes), bytes);
    mark_copy(builder, call.getArgOperand(0), bytes);
    return copy;
  };
}

Value* end_copies(Builder& builder, CallInst&) {
  mark_copies_end(builder);
  return builder.getInt32(0);
}

Value* wait_for_groups(Builder& builder, CallInst& call) {
  mark_copies_wait(builder, call.getArgOperand(0));
  return builder.getInt32(0);
}

Value* wait_for_copies(Builder& builder, CallInst&) {
  mark_copies_wait(builder, builder.getInt32(cpu::all_copies));
  return builder.getInt32(0);
}

/// The driver passes a cooperative launch's workspace (cooperative_groups/details/driver_abi.h): the upper
/// half of an address in envreg1, the lower in envreg2.
Rule half_of_grid_workspace(unsigned shift) {
  return [shift](Builder& builder, CallInst&) -> Value* {
    Value* block = builder.CreateLoad(
        builder.getPtrTy(), builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), current_lane(builder),
                                                               offsetof(cpu::LaneContext, block)));
    Value* address = builder.CreateLoad(
        builder.getInt64Ty(), builder.CreateConstInBoundsGEP1_64(
                                  builder.getInt8Ty(), block, offsetof(cpu::BlockContext, grid_workspace)));
    return builder.CreateTrunc(builder.CreateLShr(address, shift), builder.getInt32Ty());
  };
}

Value* clock(Builder& builder, CallInst& call) {
  Value* now = builder.CreateCall(
      runtime_function(*call.getModule(), "__warplens_cpu_clock", Effects::acts, builder.getInt64Ty(), {}));
  return builder.CreateTrunc(now, call.getType());
}

/// fns (mask, base, offset)
Value* find_nth_set(Builder& builder, CallInst& call) {
  return call_runtime(builder, "__warplens_cpu_find_nth_set", Effects::none, builder.getInt32Ty(),
                      {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
}

Value* nothing(Builder& builder, CallInst&) {
  return builder.getInt32(0);
}

Rule constant(std::uint32_t value) {
  return [=](Builder& builder, CallInst&) -> Value* { return builder.getInt32(value); };
}

Rule another_register(const char* name) {
  const auto reg = Function::lookupIntrinsicID(std::string("llvm.nvvm.read.ptx.sreg.") + name);
  return [=](Builder& builder, CallInst&) -> Value* { return builder.CreateIntrinsic(reg, {}, {}); };
}

Rule ends(const char* function) {
  return [=](Builder& builder, CallInst&) {
    return call_runtime(builder, function, Effects::ends, builder.getVoidTy(), {current_lane(builder)});
  };
}

const std::map<StringRef, Rule>& rules() {
  using enum AtomicRMWInst::BinOp;
  using cpu::Reduction, cpu::Shuffle, cpu::Vote;
  static const std::map<StringRef, Rule> table = {
      {"barrier0", [](Builder& b, CallInst&) { return barrier(b, b.getInt32(0), b.getInt32(0)); }},
      {"bar.sync", [](Builder& b, CallInst& c) { return barrier(b, c.getArgOperand(0), b.getInt32(0)); }},
      {"barrier.n", [](Builder& b, CallInst& c) { return barrier(b, c.getArgOperand(0), b.getInt32(0)); }},
      {"barrier.sync", [](Builder& b, CallInst& c) { return barrier(b, c.getArgOperand(0), b.getInt32(0)); }},
      {"barrier", [](Builder& b, CallInst& c) { return barrier(b, c.getArgOperand(0), c.getArgOperand(1)); }},
      {"barrier.sync.cnt",
       [](Builder& b, CallInst& c) { return barrier(b, c.getArgOperand(0), c.getArgOperand(1)); }},
      {"barrier0.popc", barrier_reduction(Reduction::add)},
      {"barrier0.and", barrier_reduction(Reduction::and_)},
      {"barrier0.or", barrier_reduction(Reduction::or_)},
      {"bar.warp.sync",
       [](Builder& b, CallInst& c) {
         return suspending(b, "__warplens_cpu_warp_barrier", b.getVoidTy(), {c.getArgOperand(0)});
       }},
      {"vote.any.sync", vote(Vote::any)},
      {"vote.all.sync", vote(Vote::all)},
      {"vote.uni.sync", vote(Vote::uni)},
      {"vote.ballot.sync", ballot},
      {"match.any.sync.i32", match_any},
      {"match.any.sync.i64", match_any},
      {"match.all.sync.i32p", match_all},
      {"match.all.sync.i64p", match_all},
      {"redux.sync.add", reduce(Reduction::add)},
      {"redux.sync.and", reduce(Reduction::and_)},
      {"redux.sync.or", reduce(Reduction::or_)},
      {"redux.sync.xor", reduce(Reduction::xor_)},
      {"redux.sync.min", reduce(Reduction::min)},
      {"redux.sync.max", reduce(Reduction::max)},
      {"redux.sync.umin", reduce(Reduction::umin)},
      {"redux.sync.umax", reduce(Reduction::umax)},
      {"membar.cta", fence(SyncScope::SingleThread)},
      {"membar.gl", fence(SyncScope::System)},
      {"membar.sys", fence(SyncScope::System)},
      {"atomic.load.inc.32", read_modify_write(UIncWrap)},
      {"atomic.load.dec.32", read_modify_write(UDecWrap)},
      {"atomic.add.gen.i", read_modify_write(Add)},
      {"atomic.add.gen.f", read_modify_write(FAdd)},
      {"atomic.and.gen.i", read_modify_write(And)},
      {"atomic.or.gen.i", read_modify_write(Or)},
      {"atomic.xor.gen.i", read_modify_write(Xor)},
      {"atomic.exch.gen.i", read_modify_write(Xchg)},
      {"atomic.inc.gen.i", read_modify_write(UIncWrap)},
      {"atomic.dec.gen.i", read_modify_write(UDecWrap)},
      {"atomic.max.gen.i", read_modify_write(Max)},
      {"atomic.min.gen.i", read_modify_write(Min)},
      {"atomic.cas.gen.i", compare_and_swap},
      {"ldg.global.i", load},
      {"ldg.global.f", load},
      {"ldg.global.p", load},
      {"ldu.global.i", load},
      {"ldu.global.f", load},
      {"ldu.global.p", load},
      {"isspacep.shared", is_shared},
      {"isspacep.const", is_constant},
      {"isspacep.local", is_local},
      {"isspacep.global", is_global},
      {"cp.async.ca.shared.global.4", copy_now(4)},
      {"cp.async.ca.shared.global.8", copy_now(8)},
      {"cp.async.ca.shared.global.16", copy_now(16)},
      {"cp.async.cg.shared.global.16", copy_now(16)},
      {"cp.async.commit.group", end_copies},
      {"cp.async.wait.group", wait_for_groups},
      {"cp.async.wait.all", wait_for_copies},
      {"read.ptx.sreg.clock", clock},
      {"read.ptx.sreg.clock64", clock},
      {"read.ptx.sreg.globaltimer", clock},
      {"read.ptx.sreg.envreg1", half_of_grid_workspace(32)},
      {"read.ptx.sreg.envreg2", half_of_grid_workspace(0)},
      // A cluster has one block: launches with more are refused.
      {"read.ptx.sreg.cluster.ctaid", constant(0)},
      {"read.ptx.sreg.cluster.nctaid", constant(1)},
      {"read.ptx.sreg.cluster.ctarank", constant(0)},
      {"read.ptx.sreg.cluster.nctarank", constant(1)},
      {"read.ptx.sreg.clusterid.x", another_register("ctaid.x")},
      {"read.ptx.sreg.clusterid.y", another_register("ctaid.y")},
      {"read.ptx.sreg.clusterid.z", another_register("ctaid.z")},
      {"read.ptx.sreg.nclusterid.x", another_register("nctaid.x")},
      {"read.ptx.sreg.nclusterid.y", another_register("nctaid.y")},
      {"read.ptx.sreg.nclusterid.z", another_register("nctaid.z")},
      {"is_explicit_cluster", [](Builder& b, CallInst&) -> Value* { return b.getFalse(); }},
      {"mapa", [](Builder&, CallInst& c) { return c.getArgOperand(0); }},
      {"getctarank", constant(0)},
      {"barrier.cluster.arrive", nothing},
      {"barrier.cluster.wait",
       [](Builder& b, CallInst&) { return barrier(b, number(b, cpu::cluster_barrier), number(b, 0)); }},
      {"fence.sc.cluster", fence(SyncScope::System)},
      {"fns", find_nth_set},
      {"exit", ends("__warplens_cpu_exit")},
      {"nanosleep",
       [](Builder& b, CallInst&) { return suspending(b, "__warplens_cpu_sleep", b.getVoidTy(), {}); }},
      // Program order determines the active lanes; order_keys.cpp inserts the position.
      {"activemask",
       [](Builder& b, CallInst&) {
         return suspending(b, active_mask_function, b.getInt32Ty(), {b.getInt32(0)});
       }},
  };
  return table;
}

/// Intrinsics that are known by the first part of their names: shfl.sync.up.i32p, atomic.add.gen.i.cta,
/// ptr.gen.to.shared.p3, …
const Rule* rule_for(StringRef name) {
  static const std::map<StringRef, Rule> prefixes = {
      {"shfl.sync.up.", shuffle(cpu::Shuffle::up)},
      {"shfl.sync.down.", shuffle(cpu::Shuffle::down)},
      {"shfl.sync.bfly.", shuffle(cpu::Shuffle::bfly)},
      {"shfl.sync.idx.", shuffle(cpu::Shuffle::idx)},
      {"ptr.gen.to.", change_space},
      {"ptr.shared.to.gen", change_space},
      {"ptr.global.to.gen", change_space},
      {"ptr.constant.to.gen", change_space},
      {"ptr.local.to.gen", change_space},
  };
  for (const auto& [prefix, rule] : prefixes)
    if (name.starts_with(prefix))
      return &rule;
  // Names of overloaded intrinsics end in their types; scoped atomics have .cta or .sys before that.
  for (StringRef rest = name; !rest.empty(); rest = rest.rsplit('.').first) {
    if (auto found = rules().find(rest); found != rules().end())
      return &found->second;
    if (!rest.contains('.'))
      break;
  }
  return nullptr;
}

/// Lowers generic LLVM intrinsics that need the runtime.
Value* lower_generic(Builder& builder, CallInst& call) {
  if (call.getIntrinsicID() == Intrinsic::trap || call.getIntrinsicID() == Intrinsic::ubsantrap)
    return ends("__warplens_cpu_trap")(builder, call);
  if (call.getIntrinsicID() == Intrinsic::debugtrap)
    return builder.getInt32(0);
  return nullptr;
}

} // namespace

void lower_intrinsics(Module& module) {
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction);
          call && call->getIntrinsicID() != Intrinsic::not_intrinsic)
        calls.push_back(call);
  for (CallInst* call : calls) {
    const StringRef full = call->getCalledFunction()->getName();
    Builder builder(call);
    Value* value = nullptr;
    if (!full.starts_with("llvm.nvvm.")) {
      if (!(value = lower_generic(builder, *call)))
        continue;
    } else if (is_special_register(full)) {
      continue;
    } else {
      const StringRef name = full.drop_front(StringRef("llvm.nvvm.").size());
      const Rule* rule = rule_for(name);
      value = rule ? (*rule)(builder, *call) : lower_arithmetic(builder, name, *call);
      if (!value) {
        mark_refused(*call, fmt::format("{}: the CPU back end has no {}{}", place_of(*call), full.str(),
                                        explanation(name)));
        continue;
      }
    }
    if (!call->getType()->isVoidTy())
      call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
}

} // namespace warplens::lowering
