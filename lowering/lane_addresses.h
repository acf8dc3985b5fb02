// Addresses as linear forms, to tell what one thread of a block accesses from what the others do.
#pragma once

#include <cstdint>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace warplens::lowering {

/// How a value differs between the threads of a block.
enum class Variation {
  none,   ///< all threads have the same, or groups of neighbours do (threadIdx.x / 32)
  data,   ///< depends on memory or on what a call returned
  thread, ///< each thread has its own
};

/// A sum of values times constants, in bytes. Integers are taken not to wrap around: the forms only say where
/// a stop is of use, or which accesses are alike.
struct LinearForm {
  std::map<const llvm::Value*, std::int64_t> terms; ///< a special register's key is its intrinsic
  std::int64_t constant = 0;

  bool operator==(const LinearForm&) const = default;
  LinearForm minus(const LinearForm& other) const;
};

LinearForm linear_form(const llvm::Value* value, const llvm::DataLayout& layout, std::int64_t scale = 1);

/// How the values of one function vary. Keeps what it has found.
class Variations {
public:
  explicit Variations(bool is_kernel) : is_kernel_(is_kernel) {}
  Variation of(const llvm::Value* value);
  /// Of the address as a whole: the most that one of its terms varies.
  Variation of(const LinearForm& form);

private:
  Variation find(const llvm::Value& value);

  bool is_kernel_; ///< a kernel's parameters are the same for all threads
  std::map<const llvm::Value*, Variation> known_;
};

/// The bytes that a pointer into a variable with members stays in, from the variable's begin: those of the
/// innermost array or member that constant indices lead to.
struct Extent {
  std::uint64_t begin, end;
  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
};
std::optional<Extent> extent_of(const llvm::Value* pointer, const llvm::DataLayout& layout);

/// A condition that holds wherever a block runs: `condition` is `value` there.
struct Guard {
  const llvm::Value* condition;
  bool value;
  auto operator<=>(const Guard&) const = default;
};
/// The comparisons that hold in a block, by the branches that lead to it.
std::vector<Guard> guards_of(const llvm::BasicBlock& block, const llvm::DominatorTree& dominators);

/// Does the guard let only one thread of a warp pass (threadIdx.x == 0)?
bool admits_one_lane(const Guard& guard, Variations& variations);

} // namespace warplens::lowering
