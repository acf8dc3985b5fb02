// Finds the source-level accesses that are left after optimisation: accesses that the compiler removes
// (redundant, forwarded, dead, hoisted) must not be counted as if they ran.
#pragma once

#include "analysis/adjacent_copies.h"
#include "analysis/atomics.h"
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
class Stmt;
class VarDecl;
} // namespace clang

namespace warplens::analysis {

/// The iterations of fully unrolled loops that an access is left in.
struct IterationsLeft {
  struct Loop {
    Position start;
    unsigned iterations = 0; ///< the largest number that any copy of the loop has
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  /// One number, from 0, for each of the loops. An absent number stands for any iteration.
  using Vector = std::vector<std::optional<unsigned>>;

  std::vector<Loop> loops; ///< the loops of its own function, outermost first
  std::set<Vector> left;
  friend bool operator==(const IterationsLeft&, const IterationsLeft&) = default;
};

struct AccessLeft {
  bool is_left = true;
  bool hoisted = false; ///< it is left, but outside of a loop that it was written in and that still exists
  /// The kind of access that is left. An update becomes a load or a store alone if the other half is kept in
  /// a register, or leaves the loop while this half runs in every iteration.
  AccessKind kind = AccessKind::load;
  /// The start of the outermost loop that it was hoisted out of. Absent if that loop is not in the function
  /// that the access is written in but around a call of it.
  std::optional<Position> out_of = std::nullopt;
  /// No loops: it is left in every iteration of the loops around it.
  IterationsLeft iterations = {};
  unsigned joined_bytes =
      0; ///< the size of the access that it and the accesses behind it were joined into; 0: it is alone
  std::optional<Position> joined_into = std::nullopt; ///< the other access that it became a part of
  unsigned copies = 1; ///< AdjacentCopies, the most of all functions and instances of templates
  AtomicCode atomic = {};
  bool waits = false; ///< threads wait by it, in a loop, until another one changes what it reads
};

/// The optimised form of an access that may be to local memory.
struct LocalAccess {
  /// LLVM's name of the variable: the one in the source, maybe with a suffix. Empty: the access goes through
  /// a pointer to an unknown place that is certainly in memory.
  std::string variable;
  bool pointer = false; ///< it reads or writes a pointer
  friend auto operator<=>(const LocalAccess&, const LocalAccess&) = default;
};

/// The optimised device code's loads, stores and atomics by source position. The answers err towards "is
/// left": an access that is merged with another in one of two inlined copies counts as left, and so do
/// accesses that optimisation loses track of or that were not compiled.
class AccessesLeft {
public:
  /// Compares the LLVM IR before and after -O2 of what Clang generated for the device half of the unmodified
  /// source (take_device_module()).
  static AccessesLeft in_module(llvm::Module& module);

  /// Returns what is left of an operation found in the AST of the same source. Callers should prefer this
  /// overload: it knows where in the debug information Clang puts each kind of access.
  AccessLeft of(const clang::ASTContext& context, const MemoryOperation& operation) const;

  /// Returns the same for a position; `through_pointer` as in MemoryOperation (then the position is the
  /// call's).
  AccessLeft of(const Position& position, AccessKind kind, bool through_pointer) const;

  /// Returns whether the operation, which accesses a local variable, finds it in memory in all instances of
  /// its template. `variable` is the variable that it names; null if it goes through a reference or a
  /// pointer.
  bool in_local_memory(const clang::ASTContext& context, const MemoryOperation& operation,
                       const clang::VarDecl* variable) const;

  /// Returns whether a loop of the source disappears in the compiled code: LLVM unrolls it fully, or nvcc
  /// does.
  bool is_fully_unrolled(const clang::ASTContext& context, const clang::Stmt& loop) const;

  /// The positions at which accesses to local memory are left, also those of initialisations and copies that
  /// have no expression of their own.
  const std::set<Position>& local_accesses() const { return local_accesses_; }

private:
  friend class AccessesLeftCollector;
  /// The copies of one kind of access at one position.
  struct Seen {
    bool written = false; ///< the access exists before optimisation
    bool in_place =
        false; ///< after it, a copy is in the innermost loop it was written in, or that loop was removed
    /// After optimisation, copies exist outside of that loop: the starts of the loops of its function that
    /// every such copy is out of.
    std::optional<std::set<Position>> outside;
    /// One number for each of the place's loops, innermost first.
    std::set<IterationsLeft::Vector> iterations;
    bool in_any_iteration = false; ///< the iterations of some copy are not known
    std::set<LocalAccess> local;   ///< the accesses to local memory after optimisation
    unsigned joined_bytes = 0;     ///< AccessLeft::joined_bytes
    std::optional<Position> joined_into;
    void note_outside(const std::set<Position>& loops);
  };
  struct Place {
    Seen read, stored, any;
    std::vector<Position> loops; ///< the loops it was written in, in its own function, innermost first
    /// The functions, or instances of a template, in which it accesses a local variable: before optimisation
    /// one that is no scalar, after it one in local memory.
    std::set<const llvm::DISubprogram*> functions_before, functions_after;
  };
  Position position_of_operation(const clang::ASTContext& context, const MemoryOperation& operation) const;
  unsigned copies_of(const Position& position, AccessKind kind, bool through_pointer) const;
  AccessLeft without_copies(const Position& position, AccessKind kind, bool through_pointer) const;
  AccessLeft judge(const Place& place, const Seen& seen, AccessKind kind) const;
  IterationsLeft iterations_left(const Place& place, const Seen& seen) const;
  std::map<Position, Place> places_;
  AdjacentCopiesAt copies_;
  AtomicsAt atomics_;
  std::set<Position> waits_;
  std::set<Position> unrolled_by_nvcc_;      ///< the starts of loops that LLVM leaves
  std::map<Position, unsigned> trip_counts_; ///< the trip counts of fully unrolled loops
  std::set<Position> local_accesses_;
  mutable std::shared_ptr<DebugPositions>
      positions_; // holds the maps of the function that was looked up last
  mutable const clang::ASTContext* positions_of_ = nullptr;
  mutable std::shared_ptr<bool> context_lives_;
};

} // namespace warplens::analysis
