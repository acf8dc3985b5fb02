#include "sharing/cache_equilibrium.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

namespace warplens::sharing {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double precision = 1e-9; ///< of ways, and of the logarithms of times
constexpr unsigned max_iterations = 200;
constexpr unsigned scan_points = 1000;
constexpr double min_ways = 1e-9; ///< a process that runs holds some of the cache

/// A process with the growth of its lines.
class Sharer {
public:
  explicit Sharer(const CacheProcess& process) : process_(process), growth_(process.misses) {}

  struct LogTime {
    double value; ///< infinite for more ways than the process can fill
    double slope; ///< by ways
  };
  /// Returns the logarithm of the seconds in which the process brings in `ways` lines of a set while it holds
  /// them.
  LogTime log_seconds(double ways) {
    const Growth::Point point = growth_.accesses(ways);
    if (std::isinf(point.accesses))
      return {infinite, infinite};
    const double instruction_seconds = process_.seconds_per_instruction(ways);
    return {std::log(point.accesses * instruction_seconds / process_.accesses_per_instruction),
            point.slope / point.accesses +
                process_.alpha * process_.misses.slope(ways) / instruction_seconds};
  }
  /// Returns the lines of its working set, if they are no more than `limit`.
  std::optional<double> lines_within(double limit) {
    for (std::size_t lines = 1; double(lines) <= limit; ++lines)
      if (process_.misses.at(lines) == 0)
        return double(lines);
    return std::nullopt;
  }

private:
  const CacheProcess& process_;
  Growth growth_;
};

class Solver {
public:
  Solver(std::span<const CacheProcess> processes, double ways) : processes_(processes), ways_(ways) {
    for (const CacheProcess& process : processes)
      sharers_.emplace_back(process);
  }

  Equilibria solve() {
    Equilibria found;
    if (auto fits = all_fit())
      return {{*fits}, 0, 0};
    if (processes_.size() == 1)
      return {{{{ways_}, seconds({ways_}), true}}, 0, 0};
    const auto reached = newton(start(), found.iterations);
    if (processes_.size() == 2)
      scan(found.all);
    else
      try_further_starts(found.all);
    if (reached)
      add(*reached, found.all);
    std::ranges::sort(found.all, {}, &Equilibrium::ways);
    found.reached = nearest(reached ? reached->ways : start(), found.all);
    return found;
  }

private:
  using Ways = std::vector<double>;

  std::optional<Equilibrium> all_fit() {
    Equilibrium fits{{}, infinite, true};
    double sum = 0;
    for (Sharer& sharer : sharers_) {
      const auto lines = sharer.lines_within(ways_);
      if (!lines || (sum += *lines) > ways_)
        return std::nullopt;
      fits.ways.push_back(*lines);
    }
    return fits;
  }

  Ways start() const {
    Ways ways;
    for (const CacheProcess& process : processes_)
      ways.push_back(process.accesses_per_instruction / process.seconds_per_instruction(ways_));
    const double sum = std::accumulate(ways.begin(), ways.end(), 0.0);
    for (double& way_count : ways)
      way_count *= ways_ / sum;
    return ways;
  }

  /// Returns the largest difference of two processes' logarithms; infinite where a process cannot fill its
  /// ways.
  double spread(const Ways& ways) {
    double low = infinite, high = -infinite;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const double log = ways[i] < min_ways ? infinite : sharers_[i].log_seconds(ways[i]).value;
      low = std::min(low, log);
      high = std::max(high, log);
    }
    return std::isinf(high) ? infinite : high - low;
  }
  double seconds(const Ways& ways) { return std::exp(sharers_[0].log_seconds(ways[0]).value); }

  /// Gives lines that a process cannot fill to the others.
  Ways within_working_sets(Ways ways) {
    double surplus = 0, others = 0;
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (const auto lines = sharers_[i].lines_within(ways_); lines && ways[i] >= *lines) {
        surplus += ways[i] - 0.999 * *lines;
        ways[i] = 0.999 * *lines;
      } else {
        others += ways[i];
      }
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (const auto lines = sharers_[i].lines_within(ways_);
          others > 0 && (!lines || ways[i] < 0.998 * *lines))
        ways[i] *= 1 + surplus / others;
    return ways;
  }

  /// The equations are ln T_i = c for all i, and a sum of ways that is given: their Jacobian is diagonal but
  /// for c, so that a step needs no linear solver. A step is no longer than a quarter of the cache, and
  /// halved until the times differ less.
  std::optional<Equilibrium> newton(Ways ways, unsigned& iterations) {
    ways = within_working_sets(std::move(ways));
    for (unsigned count = 0; count < max_iterations; ++count) {
      double weighted = 0, weights = 0;
      std::vector<Sharer::LogTime> logs;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        logs.push_back(sharers_[i].log_seconds(ways[i]));
        if (std::isinf(logs.back().value) || logs.back().slope == 0)
          return std::nullopt;
        weighted += logs.back().value / logs.back().slope;
        weights += 1 / logs.back().slope;
      }
      const double common = weighted / weights;
      Ways step;
      double longest = 0;
      for (const auto& log : logs)
        longest = std::max(longest, std::abs(step.emplace_back((common - log.value) / log.slope)));
      if (longest < precision && spread(ways) < precision) {
        iterations = count;
        return Equilibrium{ways, seconds(ways), is_stable(ways)};
      }
      double scale = std::min(1.0, ways_ / 4 / longest);
      const double before = spread(ways);
      Ways next;
      for (;; scale /= 2) {
        next = ways;
        for (std::size_t i = 0; i < ways.size(); ++i)
          next[i] += scale * step[i];
        if (spread(next) < before)
          break;
        if (scale < precision)
          return std::nullopt;
      }
      ways = next;
    }
    return std::nullopt;
  }

  /// Returns whether ways that are moved from one process to another come back. A process with more ways than
  /// its share must need longer to fill them than the others do theirs.
  bool is_stable(const Ways& ways) {
    unsigned falling = 0;
    double inverse = 0;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const double slope = slope_around(i, ways[i]);
      falling += slope < 0;
      inverse += 1 / slope;
    }
    // The Hessian on the plane of a constant sum is positive if all slopes are, or if all but one are and the
    // sum of their inverses is negative.
    return falling == 0 || (falling == 1 && inverse < 0);
  }
  double slope_around(std::size_t i, double ways) {
    const double step = 1e-6;
    const double up = sharers_[i].log_seconds(ways + step).value,
                 down = sharers_[i].log_seconds(ways - step).value;
    return (up - down) / (2 * step);
  }

  /// Finds all equilibria of two processes: sign changes of the difference of their logarithms.
  void scan(std::vector<Equilibrium>& all) {
    const auto difference = [&](double first) {
      const double one = sharers_[0].log_seconds(first).value,
                   other = sharers_[1].log_seconds(ways_ - first).value;
      return std::isinf(one) && std::isinf(other) ? 0 : one - other;
    };
    double before = min_ways, value_before = difference(before);
    for (unsigned point = 1; point <= scan_points; ++point) {
      const double at = point == scan_points ? ways_ - min_ways : ways_ * point / scan_points;
      const double value = difference(at);
      if (value != 0 && (value > 0) != (value_before > 0)) {
        double low = before, high = at;
        while (high - low > precision / 4) {
          const double middle = (low + high) / 2;
          ((difference(middle) > 0) == (value > 0) ? high : low) = middle;
        }
        const Ways ways{low, ways_ - low};
        add({ways, seconds(ways), value > 0}, all);
      }
      if (value != 0) // else the next point decides
        std::tie(before, value_before) = std::pair(at, value);
    }
  }

  void try_further_starts(std::vector<Equilibrium>& all) {
    std::vector<Ways> starts{Ways(processes_.size(), ways_ / double(processes_.size())),
                             ways_by_misses(processes_, ways_)};
    for (std::size_t favoured = 0; favoured < processes_.size(); ++favoured) {
      starts.emplace_back(processes_.size(), ways_ * 0.2 / double(processes_.size() - 1));
      starts.back()[favoured] = ways_ * 0.8;
    }
    for (const Ways& from : starts) {
      unsigned iterations = 0;
      if (const auto one = newton(from, iterations); one && one->is_stable)
        add(*one, all);
    }
    if (all.empty())
      add(by_time(), all);
  }

  /// Returns the equilibrium in which each process holds the fewest ways that take it a common time, where
  /// that exists, or the ways on both sides of the knee at which one gains several at once.
  Equilibrium by_time() {
    const auto ways_at = [&](double log_time) {
      Ways ways;
      for (Sharer& sharer : sharers_) {
        double low = min_ways, high = ways_;
        for (double below = min_ways, step = ways_ / scan_points; below < ways_; below += step)
          if (sharer.log_seconds(std::min(ways_, below + step)).value >= log_time) {
            std::tie(low, high) = std::pair(below, std::min(ways_, below + step));
            break;
          }
        while (high - low > precision / 4) {
          const double middle = (low + high) / 2;
          (sharer.log_seconds(middle).value >= log_time ? high : low) = middle;
        }
        ways.push_back(high);
      }
      return ways;
    };
    double low = -200, high = 200; // of e: no time of a process is beyond
    while (high - low > precision) {
      const double middle = (low + high) / 2;
      const Ways ways = ways_at(middle);
      (std::accumulate(ways.begin(), ways.end(), 0.0) > ways_ ? high : low) = middle;
    }
    const Ways below = ways_at(low), above = ways_at(high);
    const double sum_below = std::accumulate(below.begin(), below.end(), 0.0);
    const double gap = std::accumulate(above.begin(), above.end(), 0.0) - sum_below;
    Ways ways = below;
    for (std::size_t i = 0; i < ways.size() && gap > 0; ++i)
      ways[i] += (above[i] - below[i]) * (ways_ - sum_below) / gap;
    return {ways, std::exp(low), true};
  }

  /// Adds an equilibrium unless it is there already.
  static void add(const Equilibrium& one, std::vector<Equilibrium>& all) {
    const auto same = [&](const Equilibrium& other) {
      double apart = 0;
      for (std::size_t i = 0; i < one.ways.size(); ++i)
        apart = std::max(apart, std::abs(one.ways[i] - other.ways[i]));
      return apart < 1e-6;
    };
    if (std::ranges::none_of(all, same))
      all.push_back(one);
  }
  static std::size_t nearest(const Ways& ways, const std::vector<Equilibrium>& all) {
    const auto distance = [&](const Equilibrium& one) {
      double sum = 0;
      for (std::size_t i = 0; i < ways.size(); ++i)
        sum += std::abs(one.ways[i] - ways[i]);
      return sum;
    };
    return std::size_t(std::ranges::min_element(all, {}, distance) - all.begin());
  }

  std::span<const CacheProcess> processes_;
  double ways_;
  std::vector<Sharer> sharers_;
};

/// Returns ways in proportion to weights that depend on them: the fixed point that halved steps reach from
/// equal ways.
template <class Weight>
std::vector<double> in_proportion(std::span<const CacheProcess> processes, double ways, Weight&& weight) {
  std::vector<double> shares(processes.size(), ways / double(processes.size())), weights(processes.size());
  for (unsigned count = 0; count < 10'000; ++count) {
    for (std::size_t i = 0; i < shares.size(); ++i)
      weights[i] = weight(processes[i], shares[i]);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double moved = 0;
    for (std::size_t i = 0; i < shares.size() && sum > 0; ++i) {
      const double step = (ways * weights[i] / sum - shares[i]) / 2;
      shares[i] += step;
      moved = std::max(moved, std::abs(step));
    }
    if (moved < 1e-12 * ways)
      break;
  }
  return shares;
}

} // namespace

Equilibria equilibria(std::span<const CacheProcess> processes, double ways) {
  return Solver(processes, ways).solve();
}

std::vector<double> ways_by_accesses(std::span<const CacheProcess> processes, double ways) {
  return in_proportion(processes, ways, [](const CacheProcess& process, double own_ways) {
    return process.accesses_per_instruction / process.seconds_per_instruction(own_ways);
  });
}

std::vector<double> ways_by_misses(std::span<const CacheProcess> processes, double ways) {
  return in_proportion(processes, ways, [](const CacheProcess& process, double own_ways) {
    return process.misses(own_ways) * process.accesses_per_instruction /
           process.seconds_per_instruction(own_ways);
  });
}

} // namespace warplens::sharing
