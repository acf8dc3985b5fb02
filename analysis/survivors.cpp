#include "analysis/survivors.h"

#include "analysis/access_instructions.h"
#include "analysis/optimise.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <optional>

namespace warplens::analysis {

using trace::AccessKind;

namespace {

/// Where Clang says a loop starts; it is kept with the loop through inlining, rotation and unrolling in part.
const llvm::DILocation* start_of(const llvm::Loop& loop) {
  if (const llvm::MDNode* id = loop.getLoopID())
    for (const llvm::MDOperand& operand : llvm::drop_begin(id->operands()))
      if (const auto* location = llvm::dyn_cast_or_null<llvm::DILocation>(operand))
        return location;
  return nullptr;
}

/// A loop of the source in one of its inlined copies.
using LoopCopy = std::pair<Position, const llvm::DILocation*>;

} // namespace

class SurvivorCollector {
public:
  explicit SurvivorCollector(std::map<Position, Survivors::Place>& places) : places_(places) {}

  void note_written(llvm::Function& function) {
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const InstructionAccess access = access_of(instruction);
      const llvm::DILocation* location = instruction.getDebugLoc();
      if (!location || !(access || llvm::isa<llvm::CallBase>(instruction)))
        continue;
      const Position position = position_of(*location);
      const bool read = access.read && !is_local_scalar(access.read);
      const bool stored = access.written && !is_local_scalar(access.written);
      if (read || stored || llvm::isa<llvm::CallBase>(instruction)) {
        Survivors::Place& place = places_[position];
        place.read.written |= read;
        place.stored.written |= stored;
        place.any.written = true;
      }
      const llvm::Loop* loop = loops.getLoopFor(instruction.getParent());
      const llvm::DILocation* start = loop ? start_of(*loop) : nullptr;
      const std::optional<Position> written_in = start ? std::optional(position_of(*start)) : std::nullopt;
      const auto [known, is_new] = loops_.try_emplace(position, written_in);
      if (!is_new && known->second != written_in)
        known->second.reset(); // a macro with and without a loop: take no decision by it
    }
  }

  void note_left(llvm::Function& function) {
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    std::set<LoopCopy> present;
    for (const llvm::Loop* loop : loops.getLoopsInPreorder())
      if (const llvm::DILocation* start = start_of(*loop))
        present.emplace(position_of(*start), start->getInlinedAt());
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const InstructionAccess access = access_of(instruction);
      if (!access)
        continue;
      const llvm::DILocation* innermost = instruction.getDebugLoc();
      if (!is_located(instruction.getDebugLoc())) {
        lost_read_ |= access.read != nullptr;
        lost_written_ |= access.written != nullptr;
        continue;
      }
      std::set<LoopCopy> around;
      for (const llvm::Loop* loop = loops.getLoopFor(instruction.getParent()); loop;
           loop = loop->getParentLoop())
        if (const llvm::DILocation* start = start_of(*loop))
          around.emplace(position_of(*start), start->getInlinedAt());
      for (const llvm::DILocation* level = innermost; level; level = level->getInlinedAt()) {
        const bool outside = is_outside(level, present, around);
        Survivors::Place& place = places_[position_of(*level)];
        if (level == innermost && access.read)
          (outside ? place.read.outside : place.read.in_place) = true;
        if (level == innermost && access.written)
          (outside ? place.stored.outside : place.stored.in_place) = true;
        (outside ? place.any.outside : place.any.in_place) = true;
      }
    }
  }

  /// What was merged into an access is left where that is left.
  void note_merged(const std::map<Position, std::set<Position>>& merged) {
    for (std::size_t round = 0; round <= merged.size(); ++round) { // merged into what was merged …
      bool changed = false;
      for (const auto& [into, others] : merged)
        for (const Position& other : others)
          changed |= take_over(places_[into], places_[other]);
      if (!changed)
        break;
    }
  }

  /// An access without a place may be any: then none counts as removed.
  void keep_what_may_be_lost() {
    for (auto& [position, place] : places_) {
      if (lost_read_ && place.read.written && !place.read.outside)
        place.read.in_place = true;
      if (lost_written_ && place.stored.written && !place.stored.outside)
        place.stored.in_place = true;
    }
  }

private:
  /// Whether the innermost loop that the access was written in, in its own function or in one that it was
  /// inlined into, is still there and the access is not in it.
  bool is_outside(const llvm::DILocation* level, const std::set<LoopCopy>& present,
                  const std::set<LoopCopy>& around) const {
    for (; level; level = level->getInlinedAt()) {
      const auto found = loops_.find(position_of(*level));
      if (found == loops_.end() || !found->second)
        continue;
      const LoopCopy written_in{*found->second, level->getInlinedAt()};
      return present.contains(written_in) && !around.contains(written_in);
    }
    return false;
  }

  static bool take_over(const Survivors::Place& from, Survivors::Place& to) {
    bool changed = false;
    const auto take = [&](const Survivors::Seen& source, Survivors::Seen& target) {
      changed |= (source.in_place && !target.in_place) || (source.outside && !target.outside);
      target.in_place |= source.in_place;
      target.outside |= source.outside;
    };
    take(from.read, to.read);
    take(from.stored, to.stored);
    take(from.any, to.any);
    return changed;
  }

  std::map<Position, Survivors::Place>& places_;
  std::map<Position, std::optional<Position>> loops_; // by access or call: where its innermost loop starts
  bool lost_read_ = false, lost_written_ = false;
};

Expected<Survivors> Survivors::compile(const std::vector<std::string>& arguments, const std::string& source) {
  llvm::LLVMContext context;
  auto module = emit_device_module(arguments, source, context);
  if (!module)
    return tl::unexpected(module.error());
  Survivors survivors;
  SurvivorCollector collector(survivors.places_);
  for (llvm::Function& function : **module)
    if (!function.isDeclaration())
      collector.note_written(function);
  const auto merged = optimise(**module);
  for (llvm::Function& function : **module)
    if (!function.isDeclaration())
      collector.note_left(function);
  collector.note_merged(merged);
  collector.keep_what_may_be_lost();
  return survivors;
}

Survival Survivors::of(const Position& position, AccessKind kind, bool through_pointer) const {
  const auto found = places_.find(position);
  if (found == places_.end())
    return {true, false, kind};
  const Place& place = found->second;
  const auto judge = [kind](const Seen& seen, bool written) {
    return Survival{seen.in_place || seen.outside || !written, seen.outside && !seen.in_place, kind};
  };
  if (through_pointer)
    return judge(place.any, place.any.written);
  if (kind == AccessKind::load)
    return judge(place.read, place.read.written);
  if (kind == AccessKind::store)
    return judge(place.stored, place.stored.written);
  const Survival load = judge(place.read, place.read.written),
                 store = judge(place.stored, place.stored.written);
  if (kind == AccessKind::update && load.survives != store.survives) {
    Survival half = load.survives ? load : store;
    half.kind = load.survives ? AccessKind::load : AccessKind::store;
    return half;
  }
  return {load.survives || store.survives, load.survives && load.hoisted && store.hoisted, kind};
}

Survival Survivors::of(const clang::ASTContext& context, const MemoryOperation& operation) const {
  if (!positions_ || positions_of_ != &context ||
      !*context_lives_) { // another may come to lie at the same address
    positions_ = std::make_shared<DebugPositions>(context);
    positions_of_ = &context;
    context_lives_ = std::make_shared<bool>(true);
    const auto at_end = [](void* lives) {
      **static_cast<std::shared_ptr<bool>*>(lives) = false;
      delete static_cast<std::shared_ptr<bool>*>(lives);
    };
    context.AddDeallocation(at_end, new std::shared_ptr<bool>(context_lives_));
  }
  return of(positions_->of(operation), operation.kind, operation.through_pointer);
}

} // namespace warplens::analysis
