// Which source-level accesses are left after optimisation: what the compiler removes (redundant, forwarded,
// dead, hoisted) must not be counted as if it ran.
#pragma once

#include "analysis/debug_position.h"
#include "trace/records.h"

#include <cstdint>
#include <llvm/IR/Module.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::analysis {

struct Survival {
  bool survives = true;
  bool hoisted = false; ///< it survives, but outside of a loop that it was written in and that is still there
  /// What is left of it: of an update, the load or the store alone where the other half is kept in a
  /// register, or leaves the loop while this one runs in every iteration.
  trace::AccessKind kind = trace::AccessKind::load;
  /// Where the outermost loop starts that it was hoisted out of. Absent where that loop is not in the
  /// function that the access is written in but around a call of it.
  std::optional<Position> out_of = std::nullopt;
};

/// The optimised device code's loads, stores and atomics by source position. Answers err towards "survives":
/// an access that is merged with another in one of two inlined copies survives, and so does all that
/// optimisation loses track of, and what was not compiled at all.
class Survivors {
public:
  /// Of what Clang generated for the device half of the unmodified source (take_device_module()): looks at
  /// the LLVM IR before and after -O2.
  static Survivors of_module(llvm::Module& module);

  /// What is left of an operation found in the AST of the same source. This is the form to use: it knows
  /// where in the debug information Clang puts which kind of access.
  Survival of(const clang::ASTContext& context, const MemoryOperation& operation) const;

  /// The same by position; `through_pointer` as in MemoryOperation (then the position is the call's).
  Survival of(const Position& position, trace::AccessKind kind, bool through_pointer) const;

private:
  friend class SurvivorCollector;
  /// What was seen of one kind of access at one position.
  struct Seen {
    bool written = false;  ///< before optimisation
    bool in_place = false; ///< after it, in the innermost loop it was written in, or that loop is gone
    /// After it, outside of that loop: where the loops of its function start that each such copy is out of.
    std::optional<std::set<Position>> outside;
    void note_outside(const std::set<Position>& loops);
  };
  struct Place {
    Seen read, stored, any;
    std::vector<Position> loops; ///< those it was written in, in its own function, innermost first
  };
  static Survival judge(const Place& place, const Seen& seen, trace::AccessKind kind);
  std::map<Position, Place> places_;
  mutable std::shared_ptr<DebugPositions> positions_; // remembers the function that was asked about last
  mutable const clang::ASTContext* positions_of_ = nullptr;
  mutable std::shared_ptr<bool> context_lives_;
};

} // namespace warplens::analysis
