#include "analysis/accesses_left.h"

#include "analysis/access_instructions.h"
#include "analysis/local_memory.h"
#include "analysis/optimise.h"

#include <algorithm>
#include <clang/AST/Decl.h>
#include <iterator>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <tuple>

namespace warplens::analysis {

namespace {

/// Returns whether the access reads or writes a pointer.
bool is_of_pointer(const llvm::Instruction& access) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&access))
    return store->getValueOperand()->getType()->isPointerTy();
  return llvm::isa<llvm::LoadInst>(access) && access.getType()->isPointerTy();
}

bool is_in_local_variable(const llvm::Value* address) {
  return address && !is_local_scalar(address) &&
         llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address, 0));
}

/// Returns whether LLVM's `name` is that of the variable: itself, a copy's ("a.i"), or one made distinct
/// ("a5").
bool names(llvm::StringRef name, llvm::StringRef variable) {
  return name.consume_front(variable) &&
         name.take_until([](char c) { return c == '.'; }).find_if_not([](char c) {
           return c >= '0' && c <= '9';
         }) == llvm::StringRef::npos;
}

/// A loop of the source in one of its inlined copies.
using LoopCopy = std::pair<Position, const llvm::DILocation*>;

} // namespace

class AccessesLeftCollector {
public:
  AccessesLeftCollector(std::map<Position, AccessesLeft::Place>& places, std::set<Position>& local_accesses)
      : places_(places), local_accesses_(local_accesses) {}

  const LoopsAround& loops_around() const { return loops_; }

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
        AccessesLeft::Place& place = places_[position];
        const auto [block, is_first] =
            blocks_[position].try_emplace(instruction.getFunction(), instruction.getParent());
        if (!is_first && block->second != instruction.getParent())
          block->second = nullptr;
        place.read.written |= read;
        place.stored.written |= stored;
        place.any.written = true;
      }
      if (is_in_local_variable(access.read) || is_in_local_variable(access.written))
        places_[position].functions_before.insert(location->getScope()->getSubprogram());
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
        known->second.clear(); // a macro with and without a loop: no decision is based on it
    }
  }

  void note_left(llvm::Function& function, const Optimised& outcome) {
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
      const Iterations& iterations = outcome.iterations_of(*innermost);
      for (const llvm::DILocation* level = innermost; level; level = level->getInlinedAt()) {
        const Position position = position_of(*level);
        AccessesLeft::Place& place = places_[position];
        Copy copy{&place, &place.any, position, out_of(level, present, around, iterations)};
        std::tie(copy.inlined, copy.iterations) = copies_of(function, *level, position, iterations);
        note(copy);
        if (level != innermost)
          continue;
        if (access.read)
          note_alone_or_joined(instruction, copy, place.read);
        if (access.written)
          note_alone_or_joined(instruction, copy, place.stored);
      }
      note_local(instruction, access.read, &AccessesLeft::Place::read);
      note_local(instruction, access.written, &AccessesLeft::Place::stored);
    }
  }

  /// Must be called before any function is noted as left.
  void expect_joined(const Optimised& outcome) {
    std::set<Position> merged;
    for (const auto& [into, others] : outcome.merged) {
      merged.insert(into);
      merged.insert(others.begin(), others.end());
    }
    const auto may_join = [&](const llvm::Instruction* part) {
      return is_located(part->getDebugLoc()) && !merged.contains(position_of(*part->getDebugLoc()));
    };
    for (const JoinedAccess& access : outcome.joined)
      if (std::ranges::all_of(access.parts, may_join)) {
        for (std::size_t i = 0; i < access.parts.size(); ++i)
          joined_of_[access.parts[i]] = {joined_.size(), i};
        joined_.push_back({access.bytes, std::vector<Copy>(access.parts.size())});
      }
  }

  /// An access of the source counts as joined with others if all of its copies are, with the same ones. Must
  /// be called after all functions are noted.
  void settle_joined() {
    for (std::size_t before = joined_.size() + 1; joined_.size() < before;) {
      before = joined_.size();
      const auto known = joined_kinds();
      const auto differing =
          std::ranges::partition(joined_, [&](const Joined& one) { return agree(one, known); });
      for (const Joined& one : differing)
        std::ranges::for_each(one.parts, [&](const Copy& part) { note_alone(part); });
      joined_.erase(differing.begin(), differing.end());
    }
    for (const Joined& one : joined_) {
      const Copy& lowest = one.parts.front();
      note(lowest);
      lowest.seen->joined_bytes = one.bytes;
      for (const Copy& part : one.parts)
        if (part.seen != lowest.seen)
          part.seen->joined_into = lowest.position;
    }
  }

  /// Must be called after all joined accesses are settled.
  void number_copies() {
    for (const auto& [seen, by_inlined_copy] : copies_)
      for (const auto& [inlined_copy, vectors] : by_inlined_copy)
        number(vectors, *seen);
  }

  /// An access that was merged into another is left where that other is left.
  void note_merged(const Optimised& outcome) {
    for (const Position& position : outcome.without_iteration)
      for (AccessesLeft::Seen* seen :
           {&places_[position].read, &places_[position].stored, &places_[position].any})
        seen->in_any_iteration = true;
    for (std::size_t round = 0; round <= outcome.merged.size(); ++round) { // chains of merges
      bool changed = false;
      for (const auto& [into, others] : outcome.merged)
        for (const Position& other : others)
          changed |= take_over(into, other);
      if (!changed)
        break;
    }
  }

  /// An access without a place may be any of the source's: then none counts as removed.
  void keep_what_may_be_lost() {
    for (auto& [position, place] : places_) {
      if (lost_read_ && place.read.written && !place.read.outside)
        place.read.in_place = true;
      if (lost_written_ && place.stored.written && !place.stored.outside)
        place.stored.in_place = true;
      place.read.in_any_iteration |= lost_read_;
      place.stored.in_any_iteration |= lost_written_;
      place.any.in_any_iteration |= lost_read_ || lost_written_;
    }
  }

  void note_loops() {
    for (auto& [position, place] : places_)
      if (const auto found = loops_.find(position); found != loops_.end())
        place.loops = found->second;
  }

private:
  /// An access in one inlined copy of its function, with the iterations of its function's own loops that it
  /// is left in, innermost first.
  using InlinedCopy = std::tuple<const llvm::Function*, const llvm::DILocation*, Iterations>;
  using Vector = std::vector<Iteration>;

  /// One copy of an access in the optimised code.
  struct Copy {
    AccessesLeft::Place* place = nullptr;
    AccessesLeft::Seen* seen = nullptr; ///< the entry of the copy's place
    Position position;
    std::optional<std::set<Position>> outside; ///< Seen::outside for this copy
    InlinedCopy inlined;
    Vector iterations;
  };
  /// Copies that became one access.
  struct Joined {
    unsigned bytes = 0;
    std::vector<Copy> parts; ///< ordered by address
  };
  /// The joined accesses that accesses of one kind at one place became parts of: the place where each starts,
  /// and its bytes.
  using JoinedKinds = std::set<std::pair<const AccessesLeft::Place*, unsigned>>;

  void note(const Copy& copy) {
    if (copy.outside)
      copy.seen->note_outside(*copy.outside);
    else
      copy.seen->in_place = true;
    copies_[copy.seen][copy.inlined].insert(copy.iterations);
  }

  void note_alone(const Copy& copy) {
    note(copy);
    alone_.insert(copy.seen);
  }

  void note_alone_or_joined(const llvm::Instruction& instruction, Copy copy, AccessesLeft::Seen& seen) {
    copy.seen = &seen;
    if (const auto joined = joined_of_.find(&instruction); joined != joined_of_.end())
      joined_[joined->second.first].parts[joined->second.second] = std::move(copy);
    else
      note_alone(copy);
  }

  std::map<const AccessesLeft::Seen*, JoinedKinds> joined_kinds() const {
    std::map<const AccessesLeft::Seen*, JoinedKinds> result;
    for (const Joined& one : joined_)
      for (const Copy& part : one.parts)
        result[part.seen].insert({one.parts.front().place, one.bytes});
    return result;
  }

  /// Returns whether no function has the two in different basic blocks of the source: LLVM also loads a
  /// component speculatively, and then the one at the lowest address may be executed less often than the
  /// others.
  bool are_executed_together(const Position& one, const Position& other) const {
    const auto blocks_of_one = blocks_.find(one), blocks_of_other = blocks_.find(other);
    if (blocks_of_one == blocks_.end() || blocks_of_other == blocks_.end())
      return false;
    return std::ranges::all_of(blocks_of_one->second, [&](const auto& function_and_block) {
      const auto found = blocks_of_other->second.find(function_and_block.first);
      return found == blocks_of_other->second.end() ||
             (found->second && found->second == function_and_block.second);
    });
  }

  bool agree(const Joined& one, const std::map<const AccessesLeft::Seen*, JoinedKinds>& known) const {
    std::set<std::tuple<const AccessesLeft::Seen*, InlinedCopy, Vector>> distinct;
    const auto is_alike = [&](const Copy& part) {
      return !alone_.contains(part.seen) && known.at(part.seen).size() == 1 &&
             are_executed_together(part.position, one.parts.front().position) &&
             distinct.insert({part.seen, part.inlined, part.iterations}).second;
    };
    const bool all_known = !lost_read_ && !lost_written_;
    return all_known && std::ranges::all_of(one.parts, is_alike);
  }

  std::pair<InlinedCopy, Vector> copies_of(const llvm::Function& function, const llvm::DILocation& level,
                                           const Position& position, const Iterations& iterations) const {
    Iterations others = iterations;
    Vector own;
    if (const auto found = loops_.find(position); found != loops_.end())
      for (const Position& loop : found->second) {
        const auto known = iterations.find(loop);
        own.push_back(known == iterations.end() ? Iteration{} : known->second);
        others.erase(loop);
      }
    return {{&function, level.getInlinedAt(), std::move(others)}, std::move(own)};
  }

  /// An access that was moved out of a loop before the loop was unrolled counts for the first iteration in
  /// which no other copy is left: LLVM loads some values for the first iteration before the loop, and in each
  /// the next one's.
  static void number(const std::set<Vector>& vectors, AccessesLeft::Seen& seen) {
    std::set<IterationsLeft::Vector> taken;
    const auto is_moved_out = [](const Iteration& one) { return one.kind == Iteration::Kind::moved_out; };
    for (const bool moved_out : {false, true})
      for (const Vector& vector : vectors) {
        if (std::ranges::any_of(vector, is_moved_out) != moved_out)
          continue;
        IterationsLeft::Vector numbers;
        for (const Iteration& one : vector)
          numbers.push_back(one.kind == Iteration::Kind::unknown ? std::nullopt : std::optional(one.number));
        const auto innermost = std::ranges::find_if(vector, is_moved_out);
        if (moved_out)
          while (taken.contains(numbers))
            ++*numbers[static_cast<std::size_t>(innermost - vector.begin())];
        taken.insert(std::move(numbers));
      }
    seen.iterations.merge(taken);
  }

  static bool was_unrolled(const Position& loop, const Iterations& iterations) {
    const auto known = iterations.find(loop);
    return known != iterations.end() && known->second.kind != Iteration::Kind::unknown;
  }

  /// Returns the loops of its function that the access was written in and that still exist, but not around
  /// it. The result is absent if the innermost loop around it that was not unrolled, in its own function or
  /// in one that it was inlined into, is not one of those.
  std::optional<std::set<Position>> out_of(const llvm::DILocation* own, const std::set<LoopCopy>& present,
                                           const std::set<LoopCopy>& around,
                                           const Iterations& iterations) const {
    for (const llvm::DILocation* level = own; level; level = level->getInlinedAt()) {
      const auto found = loops_.find(position_of(*level));
      if (found == loops_.end())
        continue;
      const auto innermost = std::ranges::find_if(
          found->second, [&](const Position& loop) { return !was_unrolled(loop, iterations); });
      if (innermost == found->second.end())
        continue;
      const auto left = [&](const Position& loop) {
        const LoopCopy copy{loop, level->getInlinedAt()};
        return present.contains(copy) && !around.contains(copy);
      };
      if (!left(*innermost))
        return std::nullopt;
      std::set<Position> loops;
      if (level == own)
        std::copy_if(found->second.begin(), found->second.end(), std::inserter(loops, loops.end()), left);
      return loops;
    }
    return std::nullopt;
  }

  void note_local(const llvm::Instruction& access, const llvm::Value* address,
                  AccessesLeft::Seen AccessesLeft::Place::* seen) {
    if (!address)
      return;
    const llvm::DILocation& location = *access.getDebugLoc();
    const LocalMemory::Objects objects = local_memory_.objects_at(address);
    if (objects.variables.empty() && !objects.unknown)
      return;
    AccessesLeft::Place& place = places_[position_of(location)];
    for (const llvm::Value* variable : objects.variables) {
      (place.*seen).local.insert({variable->getName().str(), is_of_pointer(access)});
      place.functions_after.insert(location.getScope()->getSubprogram());
      local_accesses_.insert(position_of(location));
    }
    if (objects.unknown)
      (place.*seen).local.insert({std::string(), is_of_pointer(access)});
  }

  bool take_over(const Position& into, const Position& other) {
    const AccessesLeft::Place& from = places_[into];
    AccessesLeft::Place& to = places_[other];
    const bool same_loops = loops_[into] == loops_[other];
    bool changed = false;
    const auto take = [&](const AccessesLeft::Seen& source, AccessesLeft::Seen& target) {
      const AccessesLeft::Seen before = target;
      target.in_place |= source.in_place;
      if (source.outside)
        target.note_outside(*source.outside);
      target.iterations.insert(source.iterations.begin(), source.iterations.end());
      target.in_any_iteration |= source.in_any_iteration || (!source.iterations.empty() && !same_loops);
      target.local.insert(source.local.begin(), source.local.end());
      changed |= target.in_place != before.in_place || target.outside != before.outside ||
                 target.iterations != before.iterations ||
                 target.in_any_iteration != before.in_any_iteration ||
                 target.local.size() != before.local.size();
    };
    take(from.read, to.read);
    take(from.stored, to.stored);
    take(from.any, to.any);
    if (!to.read.local.empty() || !to.stored.local.empty())
      to.functions_after.insert(to.functions_before.begin(), to.functions_before.end());
    return changed;
  }

  std::map<Position, AccessesLeft::Place>& places_;
  std::set<Position>& local_accesses_;
  LoopsAround loops_;
  /// Maps an access and a function that has it to its basic block before optimisation, which optimisation may
  /// have removed. A null block stands for several.
  std::map<Position, std::map<const llvm::Function*, const llvm::BasicBlock*>> blocks_;
  std::map<AccessesLeft::Seen*, std::map<InlinedCopy, std::set<Vector>>> copies_;
  std::vector<Joined> joined_;
  std::map<const llvm::Instruction*, std::pair<std::size_t, std::size_t>>
      joined_of_;                             ///< the joined access, and the index of the part
  std::set<const AccessesLeft::Seen*> alone_; ///< entries with a copy that is joined with no other
  LocalMemory local_memory_;
  bool lost_read_ = false, lost_written_ = false;
};

AccessesLeft AccessesLeft::in_module(llvm::Module& module) {
  describe_texture_fetches(module);
  AccessesLeft accesses_left;
  AccessesLeftCollector collector(accesses_left.places_, accesses_left.local_accesses_);
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      collector.note_written(function);
  const Optimised outcome = optimise(module, collector.loops_around());
  accesses_left.trip_counts_ = outcome.trip_counts;
  accesses_left.copies_ = outcome.copies;
  accesses_left.unrolled_by_nvcc_ = outcome.unrolled_by_nvcc;
  accesses_left.atomics_ = outcome.atomics;
  accesses_left.waits_ = outcome.waits;
  collector.expect_joined(outcome);
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      collector.note_left(function, outcome);
  collector.settle_joined();
  collector.number_copies();
  collector.note_merged(outcome);
  collector.keep_what_may_be_lost();
  collector.note_loops();
  return accesses_left;
}

void AccessesLeft::Seen::note_outside(const std::set<Position>& loops) {
  if (outside)
    std::erase_if(*outside, [&](const Position& loop) { return !loops.contains(loop); });
  else
    outside = loops;
}

IterationsLeft AccessesLeft::iterations_left(const Place& place, const Seen& seen) const {
  if (seen.in_any_iteration || seen.iterations.empty())
    return {};
  IterationsLeft result;
  std::vector<std::size_t> numbered; // indices into the place's loops
  for (std::size_t i = place.loops.size(); i-- > 0;)
    if (std::ranges::any_of(seen.iterations,
                            [i](const auto& vector) { return vector.size() > i && vector[i]; })) {
      numbered.push_back(i);
      result.loops.push_back({place.loops[i], trip_counts_.at(place.loops[i])});
    }
  for (const IterationsLeft::Vector& vector : seen.iterations) {
    IterationsLeft::Vector own;
    for (const std::size_t i : numbered)
      own.push_back(i < vector.size() ? vector[i] : std::nullopt);
    result.left.insert(std::move(own));
  }
  return result;
}

AccessLeft AccessesLeft::judge(const Place& place, const Seen& seen, AccessKind kind) const {
  AccessLeft left{seen.in_place || seen.outside || !seen.written, seen.outside && !seen.in_place, kind};
  left.iterations = iterations_left(place, seen);
  left.joined_bytes = seen.joined_bytes;
  left.joined_into = seen.joined_into;
  if (left.hoisted)
    for (const Position& loop :
         place.loops) { // a removed loop in between ran its copies: the access did not leave it
      if (seen.outside->contains(loop))
        left.out_of = loop;
      else if (!std::ranges::any_of(left.iterations.loops,
                                    [&](const auto& one) { return one.start == loop; }))
        break;
    }
  return left;
}

/// Returns how many iterations' copies of the access lie next to each other.
unsigned AccessesLeft::copies_of(const Position& position, AccessKind kind, bool through_pointer) const {
  const auto found = copies_.find(position);
  if (found == copies_.end())
    return 1;
  const AdjacentCopies& copies = found->second;
  if (through_pointer)
    return copies.any;
  if (kind == AccessKind::load)
    return copies.read;
  return kind == AccessKind::store ? copies.stored : std::min(copies.read, copies.stored);
}

AccessLeft AccessesLeft::of(const Position& position, AccessKind kind, bool through_pointer) const {
  AccessLeft left = without_copies(position, kind, through_pointer);
  left.copies = copies_of(position, left.kind, through_pointer);
  if (const auto atomic = atomics_.find(position); kind == AccessKind::atomic && atomic != atomics_.end())
    left.atomic = atomic->second;
  left.waits = waits_.contains(position);
  return left;
}

AccessLeft AccessesLeft::without_copies(const Position& position, AccessKind kind,
                                        bool through_pointer) const {
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
  const AccessLeft load = judge(place, place.read, AccessKind::load),
                   store = judge(place, place.stored, AccessKind::store);
  if (kind == AccessKind::update && load.is_left != store.is_left)
    return load.is_left ? load : store;
  if (kind == AccessKind::update && load.is_left && load.hoisted != store.hoisted)
    return load.hoisted ? store : load;
  Seen both = place.read;
  both.joined_bytes = std::max(both.joined_bytes, place.stored.joined_bytes);
  both.in_place |= place.stored.in_place;
  both.written |= place.stored.written;
  both.iterations.insert(place.stored.iterations.begin(), place.stored.iterations.end());
  both.in_any_iteration |= place.stored.in_any_iteration;
  if (place.stored.outside)
    both.note_outside(*place.stored.outside);
  AccessLeft whole = judge(place, both, kind);
  whole.is_left = load.is_left || store.is_left;
  return whole;
}

Position AccessesLeft::position_of_operation(const clang::ASTContext& context,
                                             const MemoryOperation& operation) const {
  if (!positions_ || positions_of_ != &context ||
      !*context_lives_) { // another context may be allocated at the same address
    positions_ = std::make_shared<DebugPositions>(context);
    positions_of_ = &context;
    context_lives_ = std::make_shared<bool>(true);
    const auto at_end = [](void* lives) {
      **static_cast<std::shared_ptr<bool>*>(lives) = false;
      delete static_cast<std::shared_ptr<bool>*>(lives);
    };
    context.AddDeallocation(at_end, new std::shared_ptr<bool>(context_lives_));
  }
  return positions_->of(operation);
}

AccessLeft AccessesLeft::of(const clang::ASTContext& context, const MemoryOperation& operation) const {
  return of(position_of_operation(context, operation), operation.kind, operation.through_pointer);
}

bool AccessesLeft::is_fully_unrolled(const clang::ASTContext& context, const clang::Stmt& loop) const {
  const Position start = analysis::position_of(context, loop.getBeginLoc());
  return trip_counts_.contains(start) || unrolled_by_nvcc_.contains(start);
}

bool AccessesLeft::in_local_memory(const clang::ASTContext& context, const MemoryOperation& operation,
                                   const clang::VarDecl* variable) const {
  if (local_accesses_.empty()) // then no pointer leads to any
    return false;
  const auto found = places_.find(position_of_operation(context, operation));
  if (found == places_.end())
    return false;
  const Place& place = found->second;
  // `q` and `q[i]` share one place.
  const bool pointer = operation.place->getType()->isAnyPointerType();
  const auto is_it = [&](const LocalAccess& access) {
    return access.pointer == pointer && (!variable || names(access.variable, variable->getName()));
  };
  const bool in_all = std::includes(place.functions_after.begin(), place.functions_after.end(),
                                    place.functions_before.begin(), place.functions_before.end());
  return in_all && ((operation.kind != AccessKind::store && std::ranges::any_of(place.read.local, is_it)) ||
                    (operation.kind != AccessKind::load && std::ranges::any_of(place.stored.local, is_it)));
}

} // namespace warplens::analysis
