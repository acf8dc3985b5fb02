// Addresses as linear forms, which distinguish one thread's accesses from those of others in its block.
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

/// The way in which a value differs between the threads of a block.
enum class Variation {
  none,   ///< all threads have the same value, or groups of neighbours do (threadIdx.x / 32)
  data,   ///< the value depends on memory or on the result of a call
  thread, ///< each thread has its own value
};

/// A sum of values times constants, in bytes. Integers are assumed not to wrap around: the forms only decide
/// where a stop is useful and which accesses are alike.
struct LinearForm {
  std::map<const llvm::Value*, std::int64_t> terms; ///< a special register's key is its intrinsic
  std::int64_t constant = 0;

  bool operator==(const LinearForm&) const = default;
  LinearForm minus(const LinearForm& other) const;
};

LinearForm linear_form(const llvm::Value* value, const llvm::DataLayout& layout, std::int64_t scale = 1);

/// Determines how the values of one function vary. Caches its results.
class Variations {
public:
  explicit Variations(bool is_kernel) : is_kernel_(is_kernel) {}
  Variation of(const llvm::Value* value);
  /// Returns the variation of the address as a whole: the largest of its terms.
  Variation of(const LinearForm& form);

private:
  Variation find(const llvm::Value& value);

  bool is_kernel_; ///< a kernel's parameters are the same for all threads
  std::map<const llvm::Value*, Variation> known_;
};

/// The range of bytes that a pointer into a variable with members stays in, relative to the variable's begin:
/// that of the innermost array or member that constant indices select.
struct Extent {
  std::uint64_t begin, end;
  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
};
std::optional<Extent> extent_of(const llvm::Value* pointer, const llvm::DataLayout& layout);

/// A condition that holds wherever a block runs: `condition` equals `value` there.
struct Guard {
  const llvm::Value* condition;
  bool value;
  auto operator<=>(const Guard&) const = default;
};
/// Returns the comparisons that hold in a block because of the branches that lead to it.
std::vector<Guard> guards_of(const llvm::BasicBlock& block, const llvm::DominatorTree& dominators);

/// Returns whether the guard lets only one thread of a warp pass (threadIdx.x == 0).
bool admits_one_lane(const Guard& guard, Variations& variations);

} // namespace warplens::lowering
