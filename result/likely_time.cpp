#include "result/likely_time.h"

#include <cmath>

namespace warplens {
namespace {

/// The share of a time from which on the launch itself is a notable part of it.
constexpr double notable_launch = 0.25;

LaunchKind kind_of(Resource bound) {
  switch (bound) {
  case Resource::dram: return LaunchKind::dram;
  case Resource::l2_slices:
  case Resource::atomics:
  case Resource::fabric: return LaunchKind::l2;
  default: return LaunchKind::sm;
  }
}

} // namespace

LaunchKind kind_of(const KernelTime& time) {
  if (time.launch_us > notable_launch * time.microseconds.mean)
    return LaunchKind::small;
  return time.bound ? kind_of(*time.bound) : LaunchKind::latency;
}

std::optional<LikelyTime> likely_time_of(const KernelResult& kernel) {
  if (!kernel.time || !kernel.accuracy || !(kernel.time->microseconds.mean > 0))
    return std::nullopt;
  const std::optional<ErrorOfKind>& like = kernel.accuracy->time_by_kind[std::size_t(kind_of(*kernel.time))];
  if (!like)
    return std::nullopt;
  // Both errors are relative, and neither depends on the other.
  const double mean = kernel.time->microseconds.mean;
  const double trial_deviation = 2 * kernel.time->microseconds.std_deviation / mean;
  const double factor = std::exp(std::hypot(std::log1p(like->within), trial_deviation));
  return LikelyTime{mean / factor, mean * factor, *like};
}

} // namespace warplens
