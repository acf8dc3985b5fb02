#include "analysis/unrolled_copies.h"

#include "analysis/access_instructions.h"

#include <algorithm>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <set>

namespace warplens::analysis {

namespace {

constexpr llvm::StringRef full_unrolling = "LoopFullUnrollPass", deleting = "LoopDeletionPass";

bool is_observed(llvm::StringRef pass) {
  return pass == full_unrolling || pass == deleting;
}

void set_discriminator(llvm::Instruction& access, unsigned discriminator) {
  access.setDebugLoc(access.getDebugLoc()->cloneWithDiscriminator(discriminator));
}

/// Returns the access that an anchor was put in front of, if it still exists.
llvm::Instruction* access_behind(llvm::Instruction& anchor, unsigned discriminator) {
  for (llvm::Instruction* next = anchor.getNextNode(); next; next = next->getNextNode()) {
    if (llvm::isa<llvm::PseudoProbeInst>(next))
      return nullptr;
    if (next->getDebugLoc() && next->getDebugLoc()->getDiscriminator() == discriminator)
      return next;
  }
  return nullptr;
}

} // namespace

const llvm::DILocation* start_of(const llvm::Loop& loop) {
  if (const llvm::MDNode* id = loop.getLoopID())
    for (const llvm::MDOperand& operand : llvm::drop_begin(id->operands()))
      if (const auto* location = llvm::dyn_cast_or_null<llvm::DILocation>(operand))
        return location;
  return nullptr;
}

UnrolledCopies::UnrolledCopies(const LoopsAround& written_in, llvm::PassInstrumentationCallbacks& callbacks,
                               std::function<void(llvm::Function&)> refresh)
    : written_in_(written_in), refresh_(std::move(refresh)) {
  callbacks.registerBeforeNonSkippedPassCallback([this](llvm::StringRef pass, llvm::Any unit) {
    if (is_observed(pass))
      begin(**llvm::any_cast<const llvm::Loop*>(&unit), pass == deleting);
  });
  // The callback comes before other observers, which must not see the anchors.
  callbacks.registerAfterPassCallback(
      [this](llvm::StringRef pass, const llvm::Any&, const llvm::PreservedAnalyses& preserved) {
        if (is_observed(pass))
          end(preserved.areAllPreserved() ? Outcome::nothing_done : Outcome::loop_changed, pass == deleting);
      },
      /*ToFront=*/true);
  callbacks.registerAfterPassInvalidatedCallback(
      [this](llvm::StringRef pass, const llvm::PreservedAnalyses&) {
        if (is_observed(pass))
          end(Outcome::loop_removed, pass == deleting);
      });
}

unsigned UnrolledCopies::number_of(const Iterations& iterations) {
  const auto [known, is_new] = numbers_.try_emplace(iterations, iterations_.size());
  if (is_new)
    iterations_.push_back(iterations);
  return known->second;
}

const Iterations& UnrolledCopies::iterations_of(const llvm::DILocation& location) const {
  const unsigned discriminator = location.getDiscriminator();
  return iterations_[discriminator < iterations_.size() ? discriminator : 0];
}

void UnrolledCopies::set(llvm::Instruction& access, const Position& loop, Iteration iteration) {
  Iterations all = iterations_of(*access.getDebugLoc());
  const auto [known, is_new] = all.try_emplace(loop, iteration);
  if (!is_new) // the loop of a function that was inlined into itself
    known->second = {};
  set_discriminator(access, number_of(all));
}

void UnrolledCopies::begin(const llvm::Loop& loop, bool deletion) {
  Attempt& attempt = attempts_.emplace_back();
  attempt.function = loop.getHeader()->getParent();
  attempt.start = start_of(loop);
  if (!attempt.start)
    return;
  if (!deletion)
    return set_anchors(loop, attempt);
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block)
      if (access_of(instruction) && instruction.getDebugLoc())
        attempt.accesses.emplace_back(&instruction);
}

void UnrolledCopies::end(Outcome outcome, bool deletion) {
  const Attempt attempt = std::move(attempts_.back());
  attempts_.pop_back();
  if (!attempt.start)
    return;
  if (!deletion)
    number_copies(attempt, outcome);
  if (outcome != Outcome::loop_removed)
    return;
  if (deletion)
    note_deletion(attempt);
  note_moved_out(*attempt.function, *attempt.start);
  refresh_(*attempt.function);
}

/// Gives the only iteration to all accesses that are left of a deleted loop.
void UnrolledCopies::note_deletion(const Attempt& attempt) {
  const Position loop = position_of(*attempt.start);
  bool runs_once = false;
  for (const llvm::WeakVH& handle : attempt.accesses)
    if (auto* access = llvm::cast_or_null<llvm::Instruction>(static_cast<llvm::Value*>(handle))) {
      set(*access, loop, {Iteration::Kind::numbered, 0});
      runs_once = true;
    }
  trip_counts_[loop] = std::max(trip_counts_[loop], runs_once ? 1u : 2u);
}

/// Puts anchors in front of the accesses. Copies of one access are distinguished by the order in which the
/// unroller appends them to the function. A copy that the unroller finds to be dead in one iteration is
/// missing there, but no anchor is.
void UnrolledCopies::set_anchors(const llvm::Loop& loop, Attempt& attempt) {
  const auto anchor = [&](llvm::BasicBlock::iterator place) {
    const auto own = static_cast<unsigned>(iterations_.size());
    llvm::IRBuilder<> builder(place->getParent(), place);
    builder.SetCurrentDebugLocation({});
    const auto number = builder.getInt64(own), nothing = builder.getInt64(0);
    attempt.anchors.push_back({builder.CreateIntrinsic(llvm::Intrinsic::pseudoprobe, {},
                                                       {number, nothing, builder.getInt32(0), nothing}),
                               own});
    iterations_.emplace_back();
    return own;
  };
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block)
      if (access_of(instruction) && instruction.getDebugLoc() &&
          !llvm::isa<llvm::PseudoProbeInst>(instruction)) {
        // The access gets a discriminator of its own for the duration of the pass.
        const Iterations known = iterations_of(*instruction.getDebugLoc());
        const unsigned own = anchor(instruction.getIterator());
        iterations_[own] = known;
        set_discriminator(instruction, own);
      }
  anchor(loop.getHeader()->getFirstInsertionPt()); // counts iterations without an access
}

void UnrolledCopies::number_copies(const Attempt& attempt, Outcome outcome) {
  const Position loop = position_of(*attempt.start);
  std::map<std::uint64_t, std::vector<llvm::Instruction*>> copies; // the original comes first
  for (const Anchor& anchor : attempt.anchors)
    copies[anchor.number].push_back(
        llvm::cast_or_null<llvm::Instruction>(static_cast<llvm::Value*>(anchor.call)));
  if (outcome != Outcome::nothing_done)
    for (llvm::Instruction& instruction : llvm::instructions(*attempt.function))
      if (const auto* anchor = llvm::dyn_cast<llvm::PseudoProbeInst>(&instruction)) {
        auto& of_access = copies[anchor->getFuncGuid()->getZExtValue()];
        if (of_access.front() != &instruction)
          of_access.push_back(&instruction);
      }
  const bool has_copies = llvm::any_of(copies, [](const auto& one) { return one.second.size() > 1; });
  for (auto& [own, of_access] : copies) {
    for (unsigned i = 0; i < of_access.size(); ++i) {
      llvm::Instruction* access =
          of_access[i] ? access_behind(*of_access[i], static_cast<unsigned>(own)) : nullptr;
      if (!access)
        continue;
      if (outcome == Outcome::loop_removed)
        set(*access, loop, {Iteration::Kind::numbered, i});
      else if (has_copies) // some iterations were peeled off
        set(*access, loop, {});
      else
        set_discriminator(*access, number_of(iterations_of(*access->getDebugLoc())));
    }
    if (outcome == Outcome::loop_removed)
      trip_counts_[loop] = std::max(trip_counts_[loop], static_cast<unsigned>(of_access.size()));
  }
  for (auto& [own, of_access] : copies)
    for (llvm::Instruction* anchor : of_access)
      if (anchor)
        anchor->eraseFromParent();
}

const std::vector<Position>& UnrolledCopies::loops_around(const llvm::DILocation& location) {
  static const std::vector<Position> none;
  const std::uint64_t place = std::uint64_t{location.getLine()} << 32 | location.getColumn();
  const std::vector<Position>*& known = known_[{location.getFile(), place}];
  if (!known) {
    const auto found = written_in_.find(position_of(location));
    known = found == written_in_.end() ? &none : &found->second;
  }
  return *known;
}

/// Notes accesses that were written in the loop, are outside of all its copies and have no number: they had
/// left the loop before.
void UnrolledCopies::note_moved_out(llvm::Function& function, const llvm::DILocation& start) {
  const Position loop = position_of(start);
  const auto is_written_in_loop = [&](const llvm::DILocation* level) {
    for (; level; level = level->getInlinedAt())
      if (level->getInlinedAt() == start.getInlinedAt() && llvm::is_contained(loops_around(*level), loop))
        return true;
    return false;
  };
  std::vector<llvm::Instruction*> without_number;
  for (llvm::Instruction& access : llvm::instructions(function))
    if (access_of(access) &&
        !llvm::isa<llvm::MemIntrinsic>(access) && // a memory intrinsic may stand for the whole loop
        access.getDebugLoc() && is_written_in_loop(access.getDebugLoc()) &&
        !iterations_of(*access.getDebugLoc()).contains(loop))
      without_number.push_back(&access);
  if (without_number.empty())
    return;
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const auto is_in_another_copy = [&](const llvm::Instruction& access) {
    for (const llvm::Loop* around = loops.getLoopFor(access.getParent()); around;
         around = around->getParentLoop())
      if (const llvm::DILocation* other = start_of(*around);
          other && other->getInlinedAt() == start.getInlinedAt() && position_of(*other) == loop)
        return true;
    return false;
  };
  for (llvm::Instruction* access : without_number)
    if (!is_in_another_copy(*access))
      set(*access, loop, {Iteration::Kind::moved_out, 0});
}

} // namespace warplens::analysis
