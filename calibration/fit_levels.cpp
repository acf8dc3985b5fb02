#include "calibration/fit_levels.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace warplens::calibration {
namespace {

constexpr double lines_per_kib = 8;
/// The ranges of associativity. At least two ways keep noise from making a cache direct-mapped, which no
/// published structure is, and no published L2 has fewer than four. Beyond 24 a ramp is too steep to
/// distinguish its end from its beginning.
constexpr unsigned min_ways = 2, min_l2_ways = 4, max_ways = 24;
constexpr std::size_t max_levels = 4;

struct Candidate {
  std::uint64_t sets = 1;
  unsigned ways = min_ways;
  std::vector<double> misses; ///< at each point of the curve
};

Candidate make_candidate(const std::vector<ChasePoint>& chase, double kib, unsigned ways) {
  Candidate candidate;
  candidate.ways = ways;
  candidate.sets = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kib * lines_per_kib / ways + 0.5));
  for (const ChasePoint& point : chase)
    candidate.misses.push_back(
        miss_ratio(static_cast<std::uint64_t>(point.kib * lines_per_kib), candidate.sets, ways));
  return candidate;
}

struct Fit {
  double error = std::numeric_limits<double>::infinity(); ///< sum of squares of relative errors
  Eigen::VectorXd steps; ///< the first level's latency, then the increase by each level's misses
};

/// Fits the latencies of the given caches: least squares of the relative errors. A level is requested only
/// for misses of those before it, and is so much larger that its own sets overflow only then; so misses add
/// up.
Fit fit_latencies(const std::vector<ChasePoint>& chase, const std::vector<const Candidate*>& caches) {
  const auto points = static_cast<Eigen::Index>(chase.size()),
             unknowns = static_cast<Eigen::Index>(caches.size() + 1);
  Eigen::MatrixXd terms(points, unknowns);
  for (Eigen::Index i = 0; i < points; ++i) {
    const double weight = 1 / chase[static_cast<std::size_t>(i)].cycles;
    terms(i, 0) = weight;
    for (Eigen::Index level = 1; level < unknowns; ++level)
      terms(i, level) =
          weight * caches[static_cast<std::size_t>(level - 1)]->misses[static_cast<std::size_t>(i)];
  }
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(points);
  Fit fit;
  fit.steps = (terms.transpose() * terms).ldlt().solve(terms.transpose() * ones);
  if (!fit.steps.allFinite() || fit.steps.minCoeff() <= 0)
    return {};
  fit.error = (terms * fit.steps - ones).squaredNorm();
  return fit;
}

std::vector<const Candidate*> pointers_to(const std::vector<Candidate>& caches) {
  std::vector<const Candidate*> pointers;
  for (const Candidate& cache : caches)
    pointers.push_back(&cache);
  return pointers;
}

double size_of(const Candidate& cache) {
  return static_cast<double>(cache.sets * cache.ways) / lines_per_kib;
}

/// Tries every size from `low` to `high` in steps of `step` (a ratio) with each number of ways in `which`'s
/// place.
bool search(const std::vector<ChasePoint>& chase, std::vector<Candidate>& caches, std::size_t which,
            double low, double high, double step, const std::vector<unsigned>& ways, double& error) {
  bool better = false;
  auto trial = pointers_to(caches);
  const bool is_largest = std::none_of(caches.begin(), caches.end(), [&](const Candidate& cache) {
    return &cache != &caches[which] && size_of(cache) > low;
  });
  std::optional<Candidate> best;
  for (double kib = low; kib <= high; kib *= step)
    for (const unsigned some : ways) {
      if (some < (is_largest && caches.size() > 1 ? min_l2_ways : min_ways))
        continue;
      const Candidate candidate = make_candidate(chase, kib, some);
      trial[which] = &candidate;
      if (const Fit fit = fit_latencies(chase, trial); fit.error < error) {
        error = fit.error;
        best = candidate;
        better = true;
      }
    }
  if (best)
    caches[which] = std::move(*best);
  return better;
}

/// Adds one level: it is searched everywhere, then all are adjusted in turn until nothing improves.
double add_level(const std::vector<ChasePoint>& chase, std::vector<Candidate>& caches) {
  std::vector<unsigned> all_ways;
  for (unsigned ways = min_ways; ways <= max_ways; ++ways)
    all_ways.push_back(ways);
  double error = std::numeric_limits<double>::infinity();
  caches.push_back(make_candidate(chase, chase.front().kib, min_ways));
  search(chase, caches, caches.size() - 1, chase.front().kib, chase.back().kib, 1.04, {2, 4, 8, 16}, error);
  for (unsigned round = 0; round < 6; ++round) {
    bool better = false;
    for (std::size_t which = 0; which < caches.size(); ++which) {
      const double kib = size_of(caches[which]);
      better |=
          search(chase, caches, which, kib / 1.15, kib * 1.15, round < 1 ? 1.02 : 1.004, all_ways, error);
    }
    if (!better)
      break;
  }
  return error;
}

Levels to_levels(const std::vector<ChasePoint>& chase, std::vector<Candidate> caches) {
  std::sort(caches.begin(), caches.end(),
            [](const Candidate& a, const Candidate& b) { return size_of(a) < size_of(b); });
  const Fit fit = fit_latencies(chase, pointers_to(caches));
  Levels levels;
  levels.hit_cycles = fit.steps(0);
  double latency = levels.hit_cycles;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    latency += fit.steps(static_cast<Eigen::Index>(i + 1));
    levels.levels.push_back({size_of(caches[i]), caches[i].ways, latency});
  }
  const auto near = std::count_if(chase.begin(), chase.end(), [&](const ChasePoint& point) {
    return std::abs(levels.latency_cycles(point.kib) / point.cycles - 1) <= 0.05;
  });
  levels.within_5_percent = static_cast<double>(near) / static_cast<double>(chase.size());
  return levels;
}

/// Returns whether the step of each level is significant. Latency in memory rises a little without a cache's
/// effect.
bool all_count(const Levels& levels) {
  double before = levels.hit_cycles, size = 0;
  for (const Level& level : levels.levels) {
    if (level.beyond_cycles < 1.15 * before || level.kib < 1.5 * size)
      return false;
    before = level.beyond_cycles;
    size = level.kib;
  }
  return true;
}

} // namespace

double miss_ratio(std::uint64_t lines, std::uint64_t sets, unsigned ways) {
  if (lines == 0)
    return 0;
  const std::uint64_t full = lines / sets, fuller_sets = lines % sets;
  std::uint64_t missing = full + 1 > ways ? fuller_sets * (full + 1) : 0;
  missing += full > ways ? (sets - fuller_sets) * full : 0;
  return static_cast<double>(missing) / static_cast<double>(lines);
}

double Levels::latency_cycles(double kib) const {
  double latency = hit_cycles, inside = hit_cycles;
  for (const Level& level : levels) {
    const auto sets =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(level.kib * lines_per_kib / level.ways + 0.5));
    latency += miss_ratio(static_cast<std::uint64_t>(kib * lines_per_kib), sets, level.ways) *
               (level.beyond_cycles - inside);
    inside = level.beyond_cycles;
  }
  return latency;
}

Expected<Levels> fit_levels(const std::vector<ChasePoint>& chase) {
  constexpr std::size_t min_points = 20;
  if (chase.size() < min_points)
    return fail("the pointer chase has {} sizes; at least {} are needed", chase.size(), min_points);
  std::vector<Candidate> caches;
  std::optional<Levels> found;
  double error = fit_latencies(chase, {}).error;
  while (caches.size() < max_levels) {
    auto more = caches;
    const double smaller = add_level(chase, more);
    if (smaller > 0.6 * error)
      break;
    Levels levels = to_levels(chase, more);
    if (!all_count(levels))
      break;
    caches = std::move(more);
    error = smaller;
    found = std::move(levels);
  }
  if (!found)
    return fail("the pointer chase shows no cache: its latency does not rise with the working set");
  return std::move(*found);
}

} // namespace warplens::calibration
