#include "sharing/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warplens::sharing {
namespace {

/// Beyond this number of accesses to a set, what a process has not brought in never comes: a working set is
/// used again within far fewer.
constexpr std::size_t max_accesses = std::size_t{1} << 22;

/// If fewer processes in a million million can still gain a line, the number of lines grows no more.
constexpr double no_growth = 1e-12;

} // namespace

double MissCurve::operator()(double ways) const {
  const auto below = std::size_t(ways);
  return at(below) + (ways - double(below)) * (at(below + 1) - at(below));
}

double MissCurve::slope(double ways) const {
  const auto below = std::size_t(ways);
  return at(below + 1) - at(below);
}

Growth::Growth(const MissCurve& misses) : misses_(misses), share_(misses.size() - 1, 0.0) {
  if (share_.empty())
    share_beyond_ = lines_beyond_ = 1;
  else
    share_[0] = 1;
  lines_.push_back(1);
}

void Growth::step() {
  const std::size_t size = misses_.size();
  const double out = share_.empty() ? 0 : share_.back() * misses_.at(size - 1);
  lines_beyond_ += misses_.at(size) * share_beyond_ + double(size) * out;
  share_beyond_ += out;
  for (std::size_t s = share_.size(); s-- > 0;)
    share_[s] = share_[s] * (1 - misses_.at(s + 1)) + (s == 0 ? 0 : share_[s - 1] * misses_.at(s));
  double all = lines_beyond_;
  for (std::size_t s = 0; s < share_.size(); ++s)
    all += double(s + 1) * share_[s];
  lines_.push_back(all);
}

double Growth::lines(std::size_t accesses) {
  while (lines_.size() <= accesses)
    step();
  return lines_[accesses];
}

Growth::Point Growth::accesses(double lines) {
  while (lines_.back() < lines) {
    const double grown = lines_.back() - lines_[lines_.size() - 2];
    if (grown < no_growth || lines_.size() > max_accesses ||
        lines - lines_.back() > grown * double(max_accesses)) // growth only gets slower
      return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    step();
  }
  const auto above = std::max<std::ptrdiff_t>(1, std::ranges::lower_bound(lines_, lines) - lines_.begin());
  const double before = lines_[std::size_t(above - 1)], slope = 1 / (lines_[std::size_t(above)] - before);
  return {double(above - 1) + (lines - before) * slope, slope};
}

} // namespace warplens::sharing
