#include "model/launch_shares.h"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

/// Blocks of another shape are less alike than grids or work that differ by this factor.
constexpr double factor_of_other_block = 100;

double log_ratio(std::uint64_t a, std::uint64_t b) {
  return a == 0 || b == 0 ? 0 : std::log(double(a) / double(b));
}

bool is_same(const trace::Dim3& a, const trace::Dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

double distance(const trace::KernelLaunches& counted, const trace::Launch& launch,
                const trace::LaunchWork& work) {
  const bool same_block =
      is_same(counted.block, launch.block) && counted.dynamic_shared_bytes == launch.dynamic_shared_bytes;
  return std::abs(log_ratio(counted.grid.count(), launch.grid.count())) +
         std::abs(log_ratio(counted.work.accesses, work.accesses)) +
         std::abs(log_ratio(counted.work.lines, work.lines)) +
         (same_block ? 0 : std::log(factor_of_other_block));
}

/// Returns the work of one of the counted launches in that of the traced one, as the geometric mean of
/// accesses and lines: rows that are not aligned touch more lines, and take less time than that.
double times(const trace::KernelLaunches& counted, const trace::Launch& launch,
             const trace::LaunchWork& work) {
  if (counted.work.lines != 0 && work.lines != 0)
    return std::exp(
        (log_ratio(counted.work.lines, work.lines) + log_ratio(counted.work.accesses, work.accesses)) / 2);
  return double(counted.grid.count()) / double(std::max<std::uint64_t>(1, launch.grid.count()));
}

} // namespace

std::vector<LaunchShare> launch_shares(const trace::AccessSource& trace) {
  const std::vector<trace::Launch>& launches = trace.launches();
  std::vector<trace::LaunchWork> works;
  for (const trace::Launch& launch : launches) {
    const auto end = trace.end_of(launch.id);
    works.push_back(end ? end->work : trace::LaunchWork());
  }
  std::vector<LaunchShare> shares(launches.size());
  for (const trace::KernelLaunches& counted : trace.kernel_launches()) {
    std::vector<std::size_t> nearest;
    double min_apart = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (launches[i].symbol != counted.symbol)
        continue;
      shares[i].kernel_launches += counted.launches;
      const double apart = distance(counted, launches[i], works[i]);
      constexpr double equal = 0.1; // launches are counted in steps of 5 % of accesses and of lines
      const bool is_like_first =
          !nearest.empty() && is_same(launches[i].grid, launches[nearest.front()].grid);
      if (nearest.empty() || (is_like_first ? apart < min_apart - equal : apart < min_apart)) {
        nearest = {i};
        min_apart = apart;
      } else if (is_like_first && apart <= min_apart + equal) {
        nearest.push_back(i);
        min_apart = std::min(min_apart, apart);
      }
    }
    // The rest of the division goes to those with fewest launches so far.
    std::ranges::stable_sort(nearest, {}, [&](std::size_t i) { return shares[i].launches; });
    for (std::size_t k = 0; k < nearest.size(); ++k) {
      const std::size_t i = nearest[k];
      const std::uint64_t part = counted.launches / nearest.size() + (k < counted.launches % nearest.size());
      shares[i].launches += part;
      shares[i].times += double(part) * times(counted, launches[i], works[i]);
    }
  }
  return shares;
}

void set_launch(KernelResult& kernel, std::uint32_t launch, const LaunchShare& share) {
  kernel.launch = launch;
  kernel.launches = share.launches;
  kernel.times_this_launch = share.times;
  kernel.launches_of_kernel = share.kernel_launches;
}

} // namespace warplens::model
