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

namespace clang {
class VarDecl;
} // namespace clang

namespace warplens::analysis {

/// Which iterations of fully unrolled loops an access is left in.
struct IterationsLeft {
  struct Loop {
    Position start;
    unsigned iterations = 0; ///< the largest number that any copy of the loop has
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  /// One number, from 0, for each of the loops. Absent: any.
  using Vector = std::vector<std::optional<unsigned>>;

  std::vector<Loop> loops; ///< of its own function, outermost first
  std::set<Vector> left;
  friend bool operator==(const IterationsLeft&, const IterationsLeft&) = default;
};

struct Survival {
  bool survives = true;
  bool hoisted = false; ///< it survives, but outside of a loop that it was written in and that is still there
  /// What is left of it: of an update, the load or the store alone where the other half is kept in a
  /// register, or leaves the loop while this one runs in every iteration.
  trace::AccessKind kind = trace::AccessKind::load;
  /// Where the outermost loop starts that it was hoisted out of. Absent where that loop is not in the
  /// function that the access is written in but around a call of it.
  std::optional<Position> out_of = std::nullopt;
  /// Without loops: it is left in every iteration of the loops around it.
  IterationsLeft iterations = {};
  unsigned joined_bytes =
      0; ///< what it and others, which are behind it, became one access of; 0: it is alone
  std::optional<Position> joined_into = std::nullopt; ///< the other access that it became a part of
};

/// What an access that may be to local memory looks like in optimised code.
struct LocalAccess {
  /// As LLVM names it: as in the source, maybe with something appended. Empty: it goes through a pointer, and
  /// what that points to is not seen, but memory for certain.
  std::string variable;
  bool pointer = false; ///< it reads or writes a pointer
  friend auto operator<=>(const LocalAccess&, const LocalAccess&) = default;
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

  /// Does the operation, which accesses a local variable, find it in memory, in all instances of its
  /// template? `variable` is the one that it names; null where it goes through a reference or a pointer.
  bool in_local_memory(const clang::ASTContext& context, const MemoryOperation& operation,
                       const clang::VarDecl* variable) const;

  /// Where accesses to local memory are left, whoever asks for them: also initialisations and copies without
  /// an expression of their own.
  const std::set<Position>& local_accesses() const { return local_accesses_; }

private:
  friend class SurvivorCollector;
  /// What was seen of one kind of access at one position.
  struct Seen {
    bool written = false;  ///< before optimisation
    bool in_place = false; ///< after it, in the innermost loop it was written in, or that loop is gone
    /// After it, outside of that loop: where the loops of its function start that each such copy is out of.
    std::optional<std::set<Position>> outside;
    /// One number for each of the place's loops, innermost first.
    std::set<IterationsLeft::Vector> iterations;
    bool in_any_iteration = false; ///< `iterations` cannot be told
    std::set<LocalAccess> local;   ///< after it, in local memory
    unsigned joined_bytes = 0;     ///< Survival::joined_bytes
    std::optional<Position> joined_into;
    void note_outside(const std::set<Position>& loops);
  };
  struct Place {
    Seen read, stored, any;
    std::vector<Position> loops; ///< those it was written in, in its own function, innermost first
    /// The functions, or instances of a template, in which it accesses a local variable: before optimisation
    /// one that is no scalar, after it one in local memory.
    std::set<const llvm::DISubprogram*> functions_before, functions_after;
  };
  Position position_of_operation(const clang::ASTContext& context, const MemoryOperation& operation) const;
  Survival judge(const Place& place, const Seen& seen, trace::AccessKind kind) const;
  IterationsLeft iterations_left(const Place& place, const Seen& seen) const;
  std::map<Position, Place> places_;
  std::map<Position, unsigned> trip_counts_; ///< of fully unrolled loops
  std::set<Position> local_accesses_;
  mutable std::shared_ptr<DebugPositions> positions_; // remembers the function that was asked about last
  mutable const clang::ASTContext* positions_of_ = nullptr;
  mutable std::shared_ptr<bool> context_lives_;
};

} // namespace warplens::analysis
