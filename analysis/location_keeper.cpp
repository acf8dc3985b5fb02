#include "analysis/location_keeper.h"

#include "analysis/access_instructions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LazyCallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace warplens::analysis {

namespace {

/// Returns whether `address` is `known` or chosen between it and others, as after two accesses in two
/// branches became one.
bool may_be(const llvm::Value* address, const llvm::Value* known) {
  if (!address || !known)
    return false;
  if (address == known)
    return true;
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(address))
    return llvm::is_contained(phi->incoming_values(), known);
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(address))
    return select->getTrueValue() == known || select->getFalseValue() == known;
  return false;
}

/// Returns the type that a plain load or store accesses; null for other instructions.
const llvm::Type* access_type(const llvm::Instruction& instruction) {
  const bool is_plain = llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction);
  return is_plain ? llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&instruction)) : nullptr;
}

} // namespace

bool is_located(const llvm::DebugLoc& location) {
  return location && location.getLine() != 0 && location.getCol() != 0;
}

LocationKeeper::PlaceInFile LocationKeeper::place_of(const llvm::DebugLoc& location) {
  return {location->getFile(), location.getLine(), location.getCol()};
}

bool LocationKeeper::is_of_access(const llvm::DebugLoc& location) const {
  return is_located(location) && places_.contains(place_of(location));
}

bool LocationKeeper::same_place(const Access& known, const llvm::Value* read, const llvm::Value* written) {
  return may_be(read, known.read) || may_be(written, known.written);
}

void LocationKeeper::note_merged(const llvm::Instruction& into, const Access& other) {
  if (!is_located(other.location))
    return;
  const llvm::DILocation &own = *into.getDebugLoc(), &removed = *other.location;
  const Position place = position_of(own), of_other = position_of(removed);
  merged_[place].insert(of_other);
  if (own.getDiscriminator() != removed.getDiscriminator())
    without_iteration_.insert({place, of_other});
}

void LocationKeeper::locate(llvm::Instruction& instruction, const InstructionAccess& access,
                            const std::vector<Access>& known) {
  auto before = llvm::find_if(known, [&](const Access& one) { return one.instruction == &instruction; });
  const auto of_same_place = [&](const Access& one) { return same_place(one, access.read, access.written); };
  if (before == known.end())
    before = llvm::find_if(known, of_same_place);
  if (before != known.end()) {
    if (!is_located(before->location))
      return;
    instruction.setDebugLoc(before->location);
    for (const Access& one : known)
      if (!one.instruction && of_same_place(one))
        note_merged(instruction, one);
    return;
  }
  // The access was made of several places' accesses, whose addresses were rewritten in the same pass: any of
  // the removed locations will do.
  for (const Access& one : known) {
    if (one.instruction || !is_located(one.location) || one.type != access_type(instruction) ||
        one.reads != (access.read != nullptr))
      continue;
    if (!is_of_access(instruction.getDebugLoc()))
      instruction.setDebugLoc(one.location);
    note_merged(instruction, one);
  }
}

void LocationKeeper::update(llvm::Function& function) {
  std::vector<Access>& known = known_[&function];
  std::vector<Access> now;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const InstructionAccess access = access_of(instruction);
    if (!access)
      continue;
    const bool is_copy = llvm::isa<llvm::MemTransferInst>(instruction);
    if (access.other) {
      if (!is_located(instruction.getDebugLoc())) // a call that moved
        for (const Access& one : known)
          if (one.instruction == &instruction && is_located(one.location))
            instruction.setDebugLoc(one.location);
    } else if (!is_of_access(instruction.getDebugLoc()) && !is_copy) {
      locate(instruction, access, known);
    }
    if (is_copy && is_located(instruction.getDebugLoc())) // `t = a[i]; b[i] = t;` becomes one copy, at the
                                                          // second access's place
      for (const Access& one : known)
        if (one.read == access.read && one.instruction != &instruction)
          note_merged(instruction, one);
    now.push_back({llvm::WeakVH(&instruction), llvm::WeakTrackingVH(const_cast<llvm::Value*>(access.read)),
                   llvm::WeakTrackingVH(const_cast<llvm::Value*>(access.written)), access.read != nullptr,
                   access_type(instruction), instruction.getDebugLoc()});
  }
  known = std::move(now);
}

LocationKeeper::LocationKeeper(llvm::Module& initial, llvm::PassInstrumentationCallbacks& callbacks) {
  for (llvm::Function& function : initial) {
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (is_located(instruction.getDebugLoc()) && is_access_in_source(access_of(instruction)))
        places_.insert(place_of(instruction.getDebugLoc()));
    update(function);
  }
  callbacks.registerAfterPassCallback(
      [this](llvm::StringRef pass, llvm::Any unit, const llvm::PreservedAnalyses& preserved) {
        // Managers and adaptors do nothing beyond the passes within.
        if (pass.contains("PassManager") || pass.contains("PassAdaptor") || preserved.areAllPreserved())
          return;
        if (const auto* function = llvm::any_cast<const llvm::Function*>(&unit)) {
          update(const_cast<llvm::Function&>(**function));
        } else if (const auto* loop = llvm::any_cast<const llvm::Loop*>(&unit)) {
          update(*(*loop)->getHeader()->getParent());
        } else if (const auto* component = llvm::any_cast<const llvm::LazyCallGraph::SCC*>(&unit)) {
          for (llvm::LazyCallGraph::Node& node : **component)
            update(node.getFunction());
        } else if (const auto* module = llvm::any_cast<const llvm::Module*>(&unit)) {
          for (llvm::Function& function_of_module : const_cast<llvm::Module&>(**module))
            update(function_of_module);
        }
      });
}

} // namespace warplens::analysis
