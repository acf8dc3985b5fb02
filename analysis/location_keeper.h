// Keeps debug locations on memory accesses through LLVM's passes.
#pragma once

#include "analysis/access_instructions.h"
#include "analysis/debug_position.h"

#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/ValueHandle.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace warplens::analysis {

/// Returns whether a location is one place in the source. LLVM gives merged instructions line or column 0.
bool is_located(const llvm::DebugLoc& location);

/// Restores debug locations after each pass: an access that is hoisted or merged is still the one that was
/// written. LLVM drops or blurs the location of an instruction that it moves to another block (LLVM, "How to
/// Update Debug Info": a debugger should not jump).
class LocationKeeper {
public:
  /// Records the locations of the module's accesses before any pass. The object must outlive the passes that
  /// run with these callbacks.
  LocationKeeper(llvm::Module& module, llvm::PassInstrumentationCallbacks& callbacks);
  LocationKeeper(const LocationKeeper&) = delete;

  /// The accesses that were merged into the one that now has the key's location (`if (c) a[i] = 1; else a[i]
  /// = 2;`).
  const std::map<Position, std::set<Position>>& merged() const { return merged_; }

  /// The accesses of which copies from several iterations of an unrolled loop were merged across branches, so
  /// that the iteration of the copy that is left is not known.
  const std::set<Position>& without_iteration() const { return without_iteration_; }

  /// Updates the locations in a function that changed without a callback.
  void update(llvm::Function& function);

private:
  struct Access {
    llvm::WeakVH instruction;
    llvm::WeakTrackingVH read, written;
    bool reads = false;
    const llvm::Type* type = nullptr;
    llvm::DebugLoc location;
  };
  using PlaceInFile = std::tuple<const llvm::DIFile*, unsigned, unsigned>;
  static PlaceInFile place_of(const llvm::DebugLoc& location);
  /// Returns whether the location is one of an access. LLVM may give a merged access the location of the
  /// branch that chose between the two, where the source has no access.
  bool is_of_access(const llvm::DebugLoc& location) const;
  void locate(llvm::Instruction& instruction, const InstructionAccess& access,
              const std::vector<Access>& known);
  void note_merged(const llvm::Instruction& into, const Access& other);
  static bool same_place(const Access& known, const llvm::Value* read, const llvm::Value* written);

  std::map<const llvm::Function*, std::vector<Access>> known_;
  std::map<Position, std::set<Position>> merged_;
  std::set<Position> without_iteration_;
  std::set<PlaceInFile> places_; // the places of the source's accesses
};

} // namespace warplens::analysis
