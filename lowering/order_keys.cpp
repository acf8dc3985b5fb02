// Gives every probe its order key, and every loop whose end the probes do not mark a key for its end.
//
// The lanes' logs are merged by always issuing the smallest key (runtime/cpu/execution/log_merger.h). Loops
// need care: a lane that skips the last, conditional access of an iteration would otherwise issue the first
// access of its next one before the others have finished this one. So each passage of the loop's end is
// logged too, and lanes meet there, as they do on a GPU. Where every path to the end passes the loop's last
// probe, that probe serves.
//
// A function that stays a call (inlining.cpp) is numbered once, from 0. Each call of it reserves as many of
// its caller's keys as it has and passes on the first one: the keys are those that it would have if it were
// inlined.
#include "lowering/places.h"
#include "lowering/program_order.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "vocabulary/access.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>
#include <map>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr std::size_t max_keys = std::size_t{1}
                                 << 22; ///< maximum per kernel; each takes 16 bytes in the program

class Numbering {
public:
  using KeysOf = std::function<Expected<const std::vector<Key>*>(Function&)>;

  /// Numbers a function that stays a call, using `keys_of` for its callees.
  Numbering(Function& function, std::vector<Key>& keys, const KeysOf& keys_of)
      : function_(function), dominators_(function), loops_(dominators_),
        order_(program_order(function, loops_)), keys_(keys), keys_of_(keys_of),
        probe_(declare_probe(*function.getParent())) {
    for (std::size_t i = 0; i < order_.size(); ++i)
      position_[order_[i]] = i;
    for (const Loop* loop : loops_.getLoopsInPreorder()) {
      std::size_t first = order_.size(), last = 0;
      for (const BasicBlock* block : loop->blocks()) {
        first = std::min(first, position_.at(block));
        last = std::max(last, position_.at(block));
      }
      first_key_[loop] = {first, 0};
      ends_at_[last].insert(ends_at_[last].begin(),
                            loop); // inner loops come later in preorder, and end first
    }
  }

  Expected<void> run() {
    in_lock_step_ = any_of(instructions(function_), [](const Instruction& instruction) {
      const auto* call = dyn_cast<CallInst>(&instruction);
      return call && call->getCalledFunction() && call->getCalledFunction()->getName() == lock_step_function;
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (auto& [loop, first] : first_key_)
        if (first.first == i)
          first.second = keys_.size();
      if (auto done = number_block(*order_[i]); !done)
        return done;
      for (const Loop* loop : ends_at_[i])
        mark_end(*loop);
    }
    return {};
  }

private:
  Expected<void> number_block(BasicBlock& block) {
    for (Instruction& instruction : make_early_inc_range(block)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      const Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee)
        continue;
      if (callee->getName() == active_mask_function || callee->getName() == lock_step_function) {
        call->setArgOperand(1, ConstantInt::get(call->getArgOperand(1)->getType(), keys_.size()));
        keys_.push_back({}); // a position only: no access has this key
        last_ = call;
      }
      if (is_kept_call(*call))
        if (auto done = add_call(*call); !done)
          return done;
      if (callee->getName() == lock_step_function)
        last_stop_ = call;
      if (synchronises(*call))
        last_meeting_ = call;
      if (callee->getName() != access_function)
        continue;
      const auto* site = dyn_cast<ConstantInt>(call->getArgOperand(0));
      const auto* bytes = dyn_cast<ConstantInt>(call->getArgOperand(2));
      const auto* kind = dyn_cast<ConstantInt>(call->getArgOperand(3));
      if (!site || !bytes || !kind || site->isZero())
        return fail("{}: a probe whose site, size or kind is not a constant", place_of(*call));
      add(call, call->getArgOperand(1),
          {site->getZExtValue(), static_cast<std::uint16_t>(bytes->getZExtValue()),
           static_cast<std::uint8_t>(kind->getZExtValue())});
      call->eraseFromParent();
    }
    return {};
  }

  Expected<void> add_call(CallInst& call) {
    TRY_LET(keys, keys_of_(*call.getCalledFunction()));
    if (keys_.size() + (*keys)->size() > max_keys)
      return fail(
          "{}: more than {} accesses, with those of all functions that are called from here counted for "
          "each call; the CPU back end does not compile that: make the calls a loop",
          place_of(call), max_keys);
    set_first_key(call, static_cast<std::uint32_t>(keys_.size()));
    keys_.insert(keys_.end(), (*keys)->begin(), (*keys)->end());
    if (!(*keys)->empty())
      last_ = &call;
    return {};
  }

  void add(Instruction* before, Value* address, Key key) {
    IRBuilder<> builder(before);
    last_ = builder.CreateCall(probe_, {address, builder.getInt32(static_cast<std::uint32_t>(keys_.size()))});
    keys_.push_back(key);
  }

  void mark_end(const Loop& loop) {
    SmallVector<BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    if (has_accesses_since(first_key_.at(&loop).second))
      mark_end(loop, latches);
    if (in_lock_step_)
      stop_at_end(loop, latches);
  }

  /// Lanes need not meet in a loop of marks alone, whose executions they count.
  bool has_accesses_since(std::size_t first_key) const {
    return std::any_of(keys_.begin() + std::ptrdiff_t(first_key), keys_.end(),
                       [](const Key& key) { return AccessKind(key.kind) != AccessKind::mark; });
  }

  /// Makes lanes in lock step meet at the end of each iteration. Otherwise one on a short path would reach
  /// the next iteration's stops before the others have left this one's.
  void stop_at_end(const Loop& loop, ArrayRef<BasicBlock*> latches) {
    const auto position = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back({});
    note_position(loop, position);
    const bool meet = !last_stop_ || !loop.contains(last_stop_) ||
                      (loop.contains(last_meeting_) && all_of(latches, [&](BasicBlock* latch) {
                         return dominators_.dominates(last_meeting_->getParent(), latch);
                       }));
    for (BasicBlock* latch : latches) {
      IRBuilder<> builder(latch->getTerminator());
      if (!meet)
        last_stop_ = last_meeting_ =
            call_runtime(builder, lock_step_function, Effects::suspends, builder.getVoidTy(),
                         {current_lane(builder), builder.getInt32(position)});
    }
  }

  /// Stores the position as a property of the loop, which LLVM keeps when the loop's blocks are merged.
  void note_position(const Loop& loop, std::uint32_t position) {
    auto& context = function_.getContext();
    SmallVector<Metadata*, 4> properties{nullptr};
    if (const MDNode* known = loop.getLoopID())
      properties.append(known->op_begin() + 1, known->op_end());
    properties.push_back(MDNode::get(
        context, {MDString::get(context, position_metadata),
                  ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), position))}));
    MDNode* node = MDNode::getDistinct(context, properties);
    node->replaceOperandWith(0, node);
    loop.setLoopID(node);
  }

  void mark_end(const Loop& loop, ArrayRef<BasicBlock*> latches) {
    const bool marked =
        keys_.back().site != 0 && !is_kept_call(*last_) && loop.contains(last_) &&
        all_of(latches, [&](BasicBlock* latch) { return dominators_.dominates(last_->getParent(), latch); });
    if (marked)
      return;
    const auto key = static_cast<std::uint32_t>(keys_.size());
    for (BasicBlock* latch : latches) {
      IRBuilder<> builder(latch->getTerminator());
      last_ =
          builder.CreateCall(probe_, {ConstantPointerNull::get(builder.getPtrTy()), builder.getInt32(key)});
    }
    keys_.push_back({});
  }

  Function& function_;
  DominatorTree dominators_;
  LoopInfo loops_;
  std::vector<BasicBlock*> order_;
  std::vector<Key>& keys_;
  const KeysOf& keys_of_;
  Function* probe_;
  CallInst* last_ = nullptr;  ///< the probe of keys_.back(), or the call that contains it
  bool in_lock_step_ = false; ///< lanes meet at stops somewhere in the function
  Instruction *last_stop_ = nullptr,
              *last_meeting_ = nullptr; ///< the last in program order: in lock step; of any kind
  std::map<const BasicBlock*, std::size_t> position_;
  std::map<const Loop*, std::pair<std::size_t, std::size_t>>
      first_key_; ///< first block's position, first key
  std::map<std::size_t, std::vector<const Loop*>> ends_at_;
};

} // namespace

Expected<void> assign_order_keys(Module& module, std::vector<Kernel>& kernels,
                                 std::vector<KeptFunction>& kept) {
  std::map<const Function*, std::vector<Key>> known;
  Numbering::KeysOf keys_of;
  const auto number = [&](Function& function, std::vector<Key>& keys) -> Expected<void> {
    const KernelTask task(function.getName().str());
    removeUnreachableBlocks(function);
    return Numbering(function, keys, keys_of).run();
  };
  keys_of = [&](Function& function) -> Expected<const std::vector<Key>*> {
    const auto [at, is_new] = known.try_emplace(&function);
    if (is_new) {
      TRY(number(function, at->second));
      kept.push_back({function.getName().str(), at->second});
    }
    return &at->second;
  };
  std::set<const Function*> sources;
  for (const Kernel& kernel : kernels)
    sources.insert(kernel.source);
  // Functions that stay calls for another reason are numbered first in every kernel: lanes inside one run
  // until they return.
  std::vector<Key> common;
  for (Function& function : module)
    if (!function.isDeclaration() && !sources.count(&function) && !function.hasFnAttribute(kept_call))
      if (auto done = number(function, common); !done)
        return done;
  for (Kernel& kernel : kernels) {
    kernel.keys = common;
    if (auto done = number(*kernel.source, kernel.keys); !done)
      return done;
  }
  return {};
}

} // namespace warplens::lowering
