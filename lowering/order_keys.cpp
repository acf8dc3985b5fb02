// Gives every probe its order key, and every loop whose end the probes do not mark a key for its end.
//
// The lanes' logs are merged by always issuing the smallest key (runtime/cpu/log_merger.h). Within a loop
// that needs care: a lane that skips the last, conditional access of an iteration would otherwise issue the
// first access of its next one before the others have finished this one. So each passage of the loop's end is
// logged too, and lanes meet there, as they do on a GPU. Where the loop's last probe is passed on every way
// to the end, that probe serves.
#include "lowering/places.h"
#include "lowering/program_order.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <limits>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

class Numbering {
public:
  Numbering(Function& function, std::vector<Key>& keys)
      : function_(function), dominators_(function), loops_(dominators_),
        order_(program_order(function, loops_)), keys_(keys), probe_(declare_probe(*function.getParent())) {
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
      if (callee->getName() == active_mask_function) {
        call->setArgOperand(1, ConstantInt::get(call->getArgOperand(1)->getType(), keys_.size()));
        keys_.push_back({}); // no access has this key: it only is a place
        last_ = call;
      }
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

  void add(Instruction* before, Value* address, Key key) {
    IRBuilder<> builder(before);
    last_ = builder.CreateCall(probe_, {address, builder.getInt32(static_cast<std::uint32_t>(keys_.size()))});
    keys_.push_back(key);
  }

  void mark_end(const Loop& loop) {
    if (keys_.size() == first_key_.at(&loop).second)
      return;
    SmallVector<BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    const bool marked =
        keys_.back().site != 0 && loop.contains(last_) &&
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
  Function* probe_;
  Instruction* last_ = nullptr; ///< the probe of keys_.back()
  std::map<const BasicBlock*, std::size_t> position_;
  std::map<const Loop*, std::pair<std::size_t, std::size_t>>
      first_key_; ///< first block's position, first key
  std::map<std::size_t, std::vector<const Loop*>> ends_at_;
};

} // namespace

Expected<std::vector<Key>> assign_order_keys(Module& module, const std::vector<Kernel>& kernels) {
  std::vector<Key> keys;
  std::vector<Function*> sources;
  for (const Kernel& kernel : kernels)
    sources.push_back(kernel.source);
  const auto number = [&](Function& function) -> Expected<void> {
    removeUnreachableBlocks(function);
    return Numbering(function, keys).run();
  };
  // Functions that stay calls come first: lanes inside one run until they return.
  for (Function& function : module)
    if (!function.isDeclaration() && !is_contained(sources, &function))
      if (auto done = number(function); !done)
        return tl::unexpected(done.error());
  for (Function* source : sources)
    if (auto done = number(*source); !done)
      return tl::unexpected(done.error());
  return keys;
}

} // namespace warplens::lowering
