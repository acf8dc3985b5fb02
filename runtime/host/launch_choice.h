// Decides which launches are traced: those that differ from the ones before them, so that a few stand for all
// of an application's (Principal Kernel Analysis, Baddouh et al., MICRO 2021, chooses them likewise from a
// first run).
#pragma once

#include "trace/records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace warplens::runtime {

/// Counts the launches of a program, and chooses among them. Not thread-safe.
class LaunchChoice {
public:
  /// `first_of_each`: the first launches of each kernel are traced, that many; none: those are that differ in
  /// their shape or in their work.
  explicit LaunchChoice(std::optional<std::uint64_t> first_of_each) : first_of_each_(first_of_each) {}

  /// Returns whether a launch that is about to begin is to be traced. What it will do is not known: a shape's
  /// further launches are traced as long as the one before did what none that was traced did. If what
  /// launches did is never known, as on a GPU, no later launch of a kernel and shape is wanted once one is
  /// not.
  bool wants(const trace::Launch& launch) const;
  /// Returns whether any launch of the kernel would be; only with `first_of_each`.
  bool wants_more_of(const std::string& symbol) const;
  /// Notes that a launch is traced.
  void begin_traced(const trace::Launch& launch);
  /// Counts a launch that has ended, or of which no more will be known. Returns its line of counts(), which
  /// stays where it is.
  trace::KernelLaunches& count(const trace::Launch& launch, const trace::LaunchWork& work, bool traced);

  /// Returns the kernel's demangled name if it was launched; else an empty string.
  std::string name_of(const std::string& symbol) const;
  /// Returns all launches, those of one shape and about the same work together.
  std::vector<trace::KernelLaunches> counts() const;
  /// Makes counts() empty from now on.
  void forget_counts() { forgets_counts_ = true; }

private:
  using Shape = std::array<std::uint32_t, 7>; ///< grid, block, dynamic shared bytes
  struct OfShape {
    bool traced = false;
    bool last_was_new = false;            ///< the last launch did what no traced one had done
    std::vector<trace::LaunchWork> works; ///< of the traced ones
    /// By the logarithms of their work: close enough for one launch to stand for another.
    std::map<std::pair<int, int>, trace::KernelLaunches> launches;
  };
  struct Kernel {
    std::string name;
    std::uint64_t traced = 0;
    std::map<Shape, OfShape> shapes;
  };
  static Shape shape_of(const trace::Launch& launch);

  std::optional<std::uint64_t> first_of_each_;
  using Key = std::pair<std::string, std::uint64_t>; ///< trace::Launch::symbol, code
  static Key key_of(const trace::Launch& launch) { return {launch.symbol, launch.code}; }
  const Kernel* find(const std::string& symbol) const;

  bool forgets_counts_ = false;
  std::map<Key, Kernel> kernels_;
};

} // namespace warplens::runtime
