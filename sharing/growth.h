// How a process's share of a cache grows with its accesses, from the reuse distances of these.
#pragma once

#include <cstddef>
#include <vector>

namespace warplens::sharing {

/// The share of a process's accesses that miss, by the number of ways of each set that the process holds:
/// those with a stack distance beyond that number (the most recently used line has distance 1). Between whole
/// numbers it is linear.
class MissCurve {
public:
  /// `by_ways[i]`: the share with i + 1 ways; from 0 to 1, not ascending, at least one value. The last value
  /// holds for more ways; without any way each access misses.
  explicit MissCurve(std::vector<double> by_ways) : by_ways_(std::move(by_ways)) {}

  double at(std::size_t ways) const {
    return ways == 0 ? 1 : by_ways_[ways < by_ways_.size() ? ways - 1 : by_ways_.size() - 1];
  }
  double operator()(double ways) const;
  /// Returns the change with one more way, between the whole numbers around `ways`.
  double slope(double ways) const;
  std::size_t size() const { return by_ways_.size(); } ///< the number of ways from which on it is constant

private:
  std::vector<double> by_ways_;
};

/// The mean number of distinct lines of a set that a process has accessed after n accesses to it: G(n) of Xu,
/// equations 3.6 and 3.7, where an access to s lines adds another one with the probability that its stack
/// distance is beyond s. The numbers are not limited to the ways that there are.
class Growth {
public:
  explicit Growth(const MissCurve& misses);

  /// Returns the lines after `accesses`; 0 after none.
  double lines(std::size_t accesses);

  struct Point {
    double accesses; ///< infinite where the process never has as many lines
    double slope;    ///< of the accesses, by lines
  };
  /// Returns the accesses that it takes to have `lines`, linear between whole numbers of accesses.
  Point accesses(double lines);

private:
  void step();

  MissCurve misses_;
  std::vector<double> share_;      ///< [s - 1]: the probability of s lines, below the curve's size
  double share_beyond_ = 0;        ///< of as many lines as the curve's size or more
  double lines_beyond_ = 0;        ///< the same, each times its lines
  std::vector<double> lines_{0.0}; ///< by accesses
};

} // namespace warplens::sharing
