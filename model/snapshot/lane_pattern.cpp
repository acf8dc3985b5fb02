#include "model/snapshot/lane_pattern.h"

#include "model/snapshot/coalesce.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace warplens::model {
namespace {

/// Returns the distance between neighbouring lanes that at least three quarters of the pairs have, or
/// nothing: a tile of several rows has another one where its rows change. `active` has two lanes at least.
std::optional<std::int64_t> common_distance(const trace::WarpAccess& access) {
  std::array<std::int64_t, warp_lanes> distances;
  unsigned pairs = 0;
  int before = -1;
  for (std::uint32_t left = access.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (before >= 0 && lane == before + 1)
      distances[pairs++] =
          std::int64_t(access.addresses[unsigned(lane)] - access.addresses[unsigned(before)]);
    before = lane;
  }
  if (pairs == 0)
    return std::nullopt;
  // A distance of the majority outlives the others (Boyer and Moore's vote).
  std::int64_t candidate = 0;
  unsigned votes = 0;
  for (unsigned pair = 0; pair < pairs; ++pair) {
    if (votes == 0)
      candidate = distances[pair];
    votes = distances[pair] == candidate ? votes + 1 : votes - 1;
  }
  const auto with_it = std::count(distances.begin(), distances.begin() + pairs, candidate);
  return 4 * with_it >= 3 * std::int64_t(pairs) ? std::optional(candidate) : std::nullopt;
}

} // namespace

void LanePatternCounter::add(const trace::WarpAccess& access) {
  if (std::popcount(access.active) < 2)
    return;
  ++requests_;
  const std::optional<std::int64_t> distance = common_distance(access);
  if (!distance)
    return;
  if (*distance == 0) {
    uniform_ += is_uniform(access);
    return;
  }
  ++strides_[*distance];
  if (*distance == access.bytes)
    ++offsets_[access.addresses[unsigned(std::countr_zero(access.active))] % sector_bytes];
}

LanePatternCounts LanePatternCounter::counts() const {
  LanePatternCounts counts;
  counts.requests = requests_;
  counts.uniform = uniform_;
  for (const auto& [distance, requests] : strides_)
    if (requests > counts.regular) {
      counts.regular = requests;
      counts.stride_bytes = distance;
    }
  counts.misaligned = std::accumulate(offsets_.begin() + 1, offsets_.end(), std::uint64_t{0});
  counts.offset_bytes =
      std::uint32_t(std::max_element(offsets_.begin() + 1, offsets_.end()) - offsets_.begin());
  if (counts.misaligned == 0)
    counts.offset_bytes = 0;
  return counts;
}

} // namespace warplens::model
