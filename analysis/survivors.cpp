#include "analysis/survivors.h"

#include "analysis/access_instructions.h"
#include "analysis/optimise.h"

#include <algorithm>
#include <iterator>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

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
      std::vector<Position> written_in;
      for (const llvm::Loop* loop = loops.getLoopFor(instruction.getParent()); loop;
           loop = loop->getParentLoop()) {
        const llvm::DILocation* start = start_of(*loop);
        if (!start)
          break;
        written_in.push_back(position_of(*start));
      }
      const auto [known, is_new] = loops_.try_emplace(position, written_in);
      if (!is_new && known->second != written_in)
        known->second.clear(); // a macro with and without a loop: take no decision by it
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
        const auto outside = out_of(level, present, around);
        const auto note = [&outside](Survivors::Seen& seen) {
          if (outside)
            seen.note_outside(*outside);
          else
            seen.in_place = true;
        };
        Survivors::Place& place = places_[position_of(*level)];
        if (level == innermost && access.read)
          note(place.read);
        if (level == innermost && access.written)
          note(place.stored);
        note(place.any);
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

  void note_loops() {
    for (auto& [position, place] : places_)
      if (const auto found = loops_.find(position); found != loops_.end())
        place.loops = found->second;
  }

private:
  /// The loops of its function that the access was written in and that are still there, but not around it.
  /// Absent where the innermost loop around it, in its own function or in one that it was inlined into, is
  /// not one of those.
  std::optional<std::set<Position>> out_of(const llvm::DILocation* own, const std::set<LoopCopy>& present,
                                           const std::set<LoopCopy>& around) const {
    for (const llvm::DILocation* level = own; level; level = level->getInlinedAt()) {
      const auto found = loops_.find(position_of(*level));
      if (found == loops_.end() || found->second.empty())
        continue;
      const auto left = [&](const Position& loop) {
        const LoopCopy copy{loop, level->getInlinedAt()};
        return present.contains(copy) && !around.contains(copy);
      };
      if (!left(found->second.front()))
        return std::nullopt;
      std::set<Position> loops;
      if (level == own)
        std::copy_if(found->second.begin(), found->second.end(), std::inserter(loops, loops.end()), left);
      return loops;
    }
    return std::nullopt;
  }

  static bool take_over(const Survivors::Place& from, Survivors::Place& to) {
    bool changed = false;
    const auto take = [&](const Survivors::Seen& source, Survivors::Seen& target) {
      const Survivors::Seen before = target;
      target.in_place |= source.in_place;
      if (source.outside)
        target.note_outside(*source.outside);
      changed |= target.in_place != before.in_place || target.outside != before.outside;
    };
    take(from.read, to.read);
    take(from.stored, to.stored);
    take(from.any, to.any);
    return changed;
  }

  std::map<Position, Survivors::Place>& places_;
  std::map<Position, std::vector<Position>>
      loops_; // by access or call: where its loops start, innermost first
  bool lost_read_ = false, lost_written_ = false;
};

Survivors Survivors::of_module(llvm::Module& module) {
  describe_texture_fetches(module);
  Survivors survivors;
  SurvivorCollector collector(survivors.places_);
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      collector.note_written(function);
  const auto merged = optimise(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      collector.note_left(function);
  collector.note_merged(merged);
  collector.keep_what_may_be_lost();
  collector.note_loops();
  return survivors;
}

void Survivors::Seen::note_outside(const std::set<Position>& loops) {
  if (outside)
    std::erase_if(*outside, [&](const Position& loop) { return !loops.contains(loop); });
  else
    outside = loops;
}

Survival Survivors::judge(const Place& place, const Seen& seen, AccessKind kind) {
  Survival survival{seen.in_place || seen.outside || !seen.written, seen.outside && !seen.in_place, kind};
  if (survival.hoisted)
    for (const Position& loop : place.loops) { // a loop that is gone in between ran its copies: not beyond it
      if (!seen.outside->contains(loop))
        break;
      survival.out_of = loop;
    }
  return survival;
}

Survival Survivors::of(const Position& position, AccessKind kind, bool through_pointer) const {
  const auto found = places_.find(position);
  if (found == places_.end())
    return {true, false, kind};
  const Place& place = found->second;
  if (through_pointer)
    return judge(place, place.any, kind);
  if (kind == AccessKind::load)
    return judge(place, place.read, kind);
  if (kind == AccessKind::store)
    return judge(place, place.stored, kind);
  const Survival load = judge(place, place.read, AccessKind::load),
                 store = judge(place, place.stored, AccessKind::store);
  if (kind == AccessKind::update && load.survives != store.survives)
    return load.survives ? load : store;
  if (kind == AccessKind::update && load.survives && load.hoisted != store.hoisted)
    return load.hoisted ? store : load;
  Seen both = place.read;
  both.in_place |= place.stored.in_place;
  both.written |= place.stored.written;
  if (place.stored.outside)
    both.note_outside(*place.stored.outside);
  Survival whole = judge(place, both, kind);
  whole.survives = load.survives || store.survives;
  return whole;
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
