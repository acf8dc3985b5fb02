#include "lowering/entries.h"

#include "lowering/debugging.h"
#include "lowering/lane_binding.h"
#include "lowering/parameters.h"
#include "lowering/runtime_calls.h"
#include "runtime/abi/abi.h"

#include <cstddef>
#include <functional>
#include <llvm/IR/IRBuilder.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

CallInst* call_body(IRBuilder<>& builder, Function& body, ArrayRef<Value*> values) {
  auto* call = builder.CreateCall(&body, values);
  call->setAttributes(body.getAttributes());
  call->setAttributes(call->getAttributes().removeFnAttributes(body.getContext()));
  return call;
}

void inline_always(Function& function) {
  function.removeFnAttr(Attribute::NoInline);
  function.addFnAttr(Attribute::AlwaysInline);
}

Function* make_entry(Function& body, const Twine& name) {
  auto& context = body.getContext();
  auto* pointer = PointerType::getUnqual(context);
  auto* entry = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false),
                                 GlobalValue::InternalLinkage, name, body.getParent());
  entry->setDoesNotThrow();
  for (const char* attribute : {"target-cpu", "target-features"})
    entry->addFnAttr(body.getFnAttribute(attribute));
  BasicBlock::Create(context, "", entry);
  return entry;
}

/// Builds a function that runs a whole block.
class BlockEntry {
public:
  BlockEntry(Function& body, const Twine& name)
      : entry_(make_entry(body, name)), block_(entry_->getArg(1)), builder_(&entry_->getEntryBlock()) {
    entry_->addParamAttr(1, Attribute::NoAlias);
    entry_->addParamAttr(1, Attribute::ReadOnly);
    entry_->addDereferenceableParamAttr(1, sizeof(cpu::BlockContext));
    values_ = load_parameters(builder_, entry_->getArg(0), body);
    for (unsigned dimension = 0; dimension < 3; ++dimension)
      limits_[dimension] =
          load_block_field(builder_, block_, offsetof(cpu::BlockContext, block_dim) + 4 * dimension);
  }

  Function* build(Function& body) {
    inline_always(body);
    for_each_thread(make_lane(), [&](Value* lane, Value*) {
      SmallVector<Value*, 16> all(values_);
      all.push_back(lane);
      call_body(builder_, body, all);
    });
    builder_.CreateRetVoid();
    return entry_;
  }

  Function* build(const Regions& regions) {
    ended_ = static_cast<unsigned>(regions.regions.size());
    block_frames_ = load_block_pointer(builder_, block_, offsetof(cpu::BlockContext, frames));
    threads_ = builder_.getInt64(1);
    for (Value* limit : limits_)
      threads_ = builder_.CreateMul(threads_, builder_.CreateZExt(limit, builder_.getInt64Ty()));
    any_ = builder_.CreateAlloca(builder_.getInt32Ty());
    all_ = builder_.CreateAlloca(builder_.getInt32Ty());
    Value* lane = make_lane();
    Value* lane_apart =
        make_lane(); // functions receive its address, which would keep the other lane in memory
    for (unsigned number = 0; number < ended_; ++number)
      runs_.push_back(add_block("run"));
    apart_ = add_block("apart");
    runs_.push_back(add_block("ended"));
    builder_.CreateBr(runs_.front());
    for (unsigned number = 0; number < ended_; ++number)
      run_together(regions.regions[number], runs_[number], lane);
    run_apart(regions, lane_apart);
    builder_.SetInsertPoint(runs_.back());
    builder_.CreateRetVoid();
    return entry_;
  }

private:
  using Thread = std::function<void(Value* lane, Value* linear)>;

  BasicBlock* add_block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, entry_); }

  Value* field(Value* lane, std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), lane, offset);
  }

  /// Allocates a LaneContext of this function, which becomes values after inlining.
  Value* make_lane() {
    Value* lane =
        builder_.CreateAlloca(ArrayType::get(builder_.getInt64Ty(), (sizeof(cpu::LaneContext) + 7) / 8));
    builder_.CreateStore(block_, field(lane, offsetof(cpu::LaneContext, block)));
    for (const std::size_t offset : {offsetof(cpu::LaneContext, log_next),
                                     offsetof(cpu::LaneContext, log_end), offsetof(cpu::LaneContext, fiber)})
      builder_.CreateStore(ConstantPointerNull::get(builder_.getPtrTy()), field(lane, offset));
    return lane;
  }

  /// Emits the loops: for z, for y, for x.
  void for_each_thread(Value* lane, const Thread& thread) {
    IRBuilder<> at_entry(&entry_->getEntryBlock(), entry_->getEntryBlock().begin());
    Value* linear = at_entry.CreateAlloca(builder_.getInt32Ty());
    builder_.CreateStore(builder_.getInt32(0), linear);
    loop(2, lane, linear, thread);
  }

  void loop(unsigned dimension, Value* lane, Value* linear, const Thread& thread) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = add_block("thread");
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    PHINode* index = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    index->addIncoming(builder_.getInt32(0), before);
    builder_.CreateStore(index, field(lane, offsetof(cpu::LaneContext, thread_index) + 4 * dimension));
    if (dimension > 0) {
      loop(dimension - 1, lane, linear, thread);
    } else {
      Value* number = builder_.CreateLoad(builder_.getInt32Ty(), linear);
      builder_.CreateStore(number, field(lane, offsetof(cpu::LaneContext, linear_thread)));
      thread(lane, number);
      builder_.CreateStore(builder_.CreateAdd(number, builder_.getInt32(1)), linear);
    }
    Value* next = builder_.CreateAdd(index, builder_.getInt32(1), "", true, true);
    index->addIncoming(next, builder_.GetInsertBlock());
    BasicBlock* after = add_block("");
    builder_.CreateCondBr(builder_.CreateICmpULT(next, limits_[dimension]), header,
                          after); // no dimension is 0
    builder_.SetInsertPoint(after);
  }

  CallInst* call_region(const Region& region, Value* lane) {
    SmallVector<Value*, 16> all(values_);
    all.append({block_frames_, threads_, lane});
    return call_body(builder_, *region.function, all);
  }

  /// Returns the word of the thread's frame that holds its next region.
  Value* next_of(Value* linear) {
    return builder_.CreateInBoundsGEP(builder_.getInt32Ty(), block_frames_,
                                      builder_.CreateZExt(linear, builder_.getInt64Ty()));
  }

  void expect_any() {
    builder_.CreateStore(builder_.getInt32(0), any_);
    builder_.CreateStore(builder_.getInt32(~0U), all_);
  }
  void note(Value* linear, Value* next) {
    builder_.CreateStore(next, next_of(linear));
    auto* word = builder_.getInt32Ty();
    builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(word, any_), next), any_);
    builder_.CreateStore(builder_.CreateAnd(builder_.CreateLoad(word, all_), next), all_);
  }
  /// Branches to the region that all threads continue with if it is the same for all.
  void go_on(const std::set<unsigned>& possible) {
    Value* any = builder_.CreateLoad(builder_.getInt32Ty(), any_);
    Value* all = builder_.CreateLoad(builder_.getInt32Ty(), all_);
    BasicBlock* same = add_block("same");
    builder_.CreateCondBr(builder_.CreateICmpEQ(any, all), same, apart_);
    builder_.SetInsertPoint(same);
    auto* choice = builder_.CreateSwitch(any, runs_.back());
    for (const unsigned number : possible)
      if (number != ended_)
        choice->addCase(builder_.getInt32(number), runs_[number]);
  }

  void run_together(const Region& region, BasicBlock* at, Value* lane) {
    builder_.SetInsertPoint(at);
    if (region.next.size() <= 1) {
      for_each_thread(lane, [&](Value* here, Value*) { call_region(region, here); });
      builder_.CreateBr(runs_[region.next.empty() ? ended_ : *region.next.begin()]);
      return;
    }
    expect_any();
    for_each_thread(lane, [&](Value* here, Value* linear) { note(linear, call_region(region, here)); });
    go_on(region.next);
  }

  /// Where lanes of a warp are in lock step, only those at the first position of each warp run; the others
  /// are marked as waiting. Threads at barriers continue once all threads are at one.
  void choose_threads(const Regions& regions) {
    std::vector<std::uint32_t> positions = regions.positions;
    positions.push_back(Regions::at_barrier); // threads that have exited
    auto* table = ConstantDataArray::get(builder_.getContext(), positions);
    auto* global =
        new GlobalVariable(*entry_->getParent(), table->getType(), true, GlobalValue::PrivateLinkage, table);
    call_runtime(builder_, "__warplens_cpu_choose_threads", Effects::acts, builder_.getVoidTy(),
                 {block_frames_, threads_, global, builder_.getInt32(ended_)});
  }

  void run_apart(const Regions& regions, Value* lane) {
    builder_.SetInsertPoint(apart_);
    const bool lock_step =
        any_of(regions.positions, [](std::uint32_t position) { return position != Regions::at_barrier; });
    if (lock_step)
      choose_threads(regions);
    expect_any();
    std::set<unsigned> possible;
    for_each_thread(lane, [&](Value* here, Value* linear) {
      BasicBlock* joined = add_block("");
      Value* number_or_mark = builder_.CreateLoad(builder_.getInt32Ty(), next_of(linear));
      Value* stays = builder_.CreateAnd(number_or_mark, ~cpu::waits_mark);
      auto* choice = builder_.CreateSwitch(number_or_mark, joined); // neither exited nor marked as waiting
      BasicBlock* before = builder_.GetInsertBlock();
      builder_.SetInsertPoint(joined);
      PHINode* next = builder_.CreatePHI(builder_.getInt32Ty(), ended_ + 1);
      next->addIncoming(stays, before);
      for (unsigned number = 0; number < ended_; ++number) {
        possible.insert(number);
        BasicBlock* run = add_block("");
        choice->addCase(builder_.getInt32(number), run);
        builder_.SetInsertPoint(run);
        auto* call = call_region(regions.regions[number], here);
        call->addFnAttr(Attribute::NoInline);
        next->addIncoming(call, run);
        builder_.CreateBr(joined);
      }
      builder_.SetInsertPoint(joined);
      note(linear, next);
    });
    go_on(possible);
  }

  Function* entry_;
  Value* block_;
  IRBuilder<> builder_;
  SmallVector<Value*, 16> values_;
  Value* limits_[3];
  // The rest is used for regions only:
  unsigned ended_ = 0;
  Value* block_frames_ = nullptr;
  Value* threads_ = nullptr;
  Value *any_ = nullptr, *all_ = nullptr; ///< the bits of the regions that come next: in any thread, in all
  std::vector<BasicBlock*> runs_;         ///< each region's loop, and the end
  BasicBlock* apart_ = nullptr;
};

} // namespace

Function* make_lane_entry(Function& body, const Twine& name) {
  if (!is_debugged(body)) // else the kernel has a frame of its own
    inline_always(body);
  Function* entry = make_entry(body, name);
  IRBuilder<> builder(&entry->getEntryBlock());
  auto values = load_parameters(builder, entry->getArg(0), body);
  values.push_back(entry->getArg(1));
  call_body(builder, body, values);
  builder.CreateRetVoid();
  return entry;
}

Function* make_block_entry(Function& body, const Twine& name) {
  return BlockEntry(body, name).build(body);
}

Function* make_block_entry(Function& body, const Regions& regions, const Twine& name) {
  return BlockEntry(body, name).build(regions);
}

} // namespace warplens::lowering
