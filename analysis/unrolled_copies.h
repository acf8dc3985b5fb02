// Which iteration of a fully unrolled loop each copy of an access is.
#pragma once

#include "analysis/debug_position.h"

#include <compare>
#include <functional>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/ValueHandle.h>
#include <map>
#include <utility>
#include <vector>

namespace warplens::analysis {

/// Where Clang says a loop starts, or null; it is kept with the loop through inlining, rotation and unrolling
/// in part.
const llvm::DILocation* start_of(const llvm::Loop& loop);

/// What a copy of an access is with regard to a loop of the source that LLVM unrolled fully, or deleted
/// because nothing in it was left to be done or because it runs once.
struct Iteration {
  enum class Kind {
    numbered,  ///< it ran in the iteration `number`, from 0
    moved_out, ///< LLVM had moved it out of the loop before
    unknown
  };
  Kind kind = Kind::unknown;
  unsigned number = 0;
  friend auto operator<=>(const Iteration&, const Iteration&) = default;
};

/// By where the loop starts.
using Iterations = std::map<Position, Iteration>;

/// By access or call: where the loops of its function around it start, innermost first.
using LoopsAround = std::map<Position, std::vector<Position>>;

/// Observes LLVM's full unrolling and deletion of loops and numbers the copies of each access. The number is
/// kept in the discriminator of the access's debug location, so that it stays with the access as its place
/// does, also through inlining, and of copies that are merged that of one is left.
class UnrolledCopies {
public:
  /// Must outlive the passes that run with these callbacks. `refresh` is called when a function was unrolled
  /// in.
  UnrolledCopies(const LoopsAround& written_in, llvm::PassInstrumentationCallbacks& callbacks,
                 std::function<void(llvm::Function&)> refresh);
  UnrolledCopies(const UnrolledCopies&) = delete;

  /// By the discriminator of an access's location: what the access is a copy of. 0: of nothing.
  const std::vector<Iterations>& iterations() const { return iterations_; }

  /// By where a loop starts: the largest number of iterations that it had in any of its copies. Of a deleted
  /// one it is not known: 2, so that the first iteration is not all of them.
  const std::map<Position, unsigned>& trip_counts() const { return trip_counts_; }

private:
  /// A call in front of an access that no pass removes or takes for more expensive than nothing.
  struct Anchor {
    llvm::WeakVH call;
    unsigned number = 0; ///< of the access's own discriminator while the pass runs
  };
  /// A pass over one loop.
  struct Attempt {
    llvm::Function* function = nullptr;
    const llvm::DILocation* start = nullptr;
    std::vector<Anchor> anchors;        ///< of unrolling
    std::vector<llvm::WeakVH> accesses; ///< of deletion: those in the loop
  };
  enum class Outcome { nothing_done, loop_changed, loop_gone };
  const Iterations& iterations_of(const llvm::DILocation& location) const;
  void begin(const llvm::Loop& loop, bool deletion);
  void end(Outcome outcome, bool deletion);
  void set_anchors(const llvm::Loop& loop, Attempt& attempt);
  void number_copies(const Attempt& attempt, Outcome outcome);
  void note_deletion(const Attempt& attempt);
  void note_moved_out(llvm::Function& function, const llvm::DILocation& start);
  const std::vector<Position>& loops_around(const llvm::DILocation& location);
  void set(llvm::Instruction& access, const Position& loop, Iteration iteration);
  unsigned number_of(const Iterations& iterations);

  const LoopsAround& written_in_;
  llvm::DenseMap<std::pair<const llvm::DIFile*, std::uint64_t>, const std::vector<Position>*>
      known_; ///< of `written_in_`, by line and column
  std::function<void(llvm::Function&)> refresh_;
  std::vector<Attempt> attempts_;
  std::vector<Iterations> iterations_{{}}; ///< by discriminator; 0: none
  std::map<Iterations, unsigned> numbers_{{{}, 0}};
  std::map<Position, unsigned> trip_counts_;
};

} // namespace warplens::analysis
