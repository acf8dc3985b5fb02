// Determines which iteration of a fully unrolled loop each copy of an access belongs to.
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

/// Returns where Clang says a loop starts, or null; it is kept with the loop through inlining, rotation and
/// partial unrolling.
const llvm::DILocation* start_of(const llvm::Loop& loop);

/// The relation of a copy of an access to a loop of the source that LLVM unrolled fully, or deleted because
/// nothing in it was left to be done or because it runs once.
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

/// Keyed by the start of the loop.
using Iterations = std::map<Position, Iteration>;

/// The starts of the loops of its function around each access or call, innermost first, keyed by the access's
/// position.
using LoopsAround = std::map<Position, std::vector<Position>>;

/// Observes LLVM's full unrolling and deletion of loops and numbers the copies of each access. The number is
/// kept in the discriminator of the access's debug location, so that it stays with the access, also through
/// inlining; merged copies keep the number of one of them.
class UnrolledCopies {
public:
  /// The object must outlive the passes that run with these callbacks. `refresh` is called after loops of a
  /// function were unrolled.
  UnrolledCopies(const LoopsAround& written_in, llvm::PassInstrumentationCallbacks& callbacks,
                 std::function<void(llvm::Function&)> refresh);
  UnrolledCopies(const UnrolledCopies&) = delete;

  /// The iterations of the copies, indexed by the discriminator of an access's location. Entry 0 is for
  /// accesses that are no copy.
  const std::vector<Iterations>& iterations() const { return iterations_; }

  /// The largest number of iterations in any copy of a loop, keyed by the start of the loop. For a deleted
  /// loop, whose count is not known, it is 2, so that the first iteration is not all of them.
  const std::map<Position, unsigned>& trip_counts() const { return trip_counts_; }

private:
  /// A call in front of an access that no pass removes and every pass treats as free.
  struct Anchor {
    llvm::WeakVH call;
    unsigned number = 0; ///< the access's own discriminator while the pass runs
  };
  /// A pass over one loop.
  struct Attempt {
    llvm::Function* function = nullptr;
    const llvm::DILocation* start = nullptr;
    std::vector<Anchor> anchors;        ///< for unrolling
    std::vector<llvm::WeakVH> accesses; ///< for deletion: the accesses in the loop
  };
  enum class Outcome { nothing_done, loop_changed, loop_removed };
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
      known_; ///< points into `written_in_`, keyed by line and column
  std::function<void(llvm::Function&)> refresh_;
  std::vector<Attempt> attempts_;
  std::vector<Iterations> iterations_{{}}; ///< indexed by discriminator; 0: none
  std::map<Iterations, unsigned> numbers_{{{}, 0}};
  std::map<Position, unsigned> trip_counts_;
};

} // namespace warplens::analysis
