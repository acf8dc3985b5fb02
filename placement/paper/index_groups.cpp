#include "placement/paper/index_groups.h"

#include "placement/changed_trace.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <unordered_map>

namespace warplens::placement {
namespace {

/// The index of each active lane.
struct Indices {
  std::uint32_t active = 0;
  std::array<std::int64_t, warp_lanes> group_by_lane{};

  /// Returns by how much these lie behind the other ones, in all lanes; none: it differs.
  std::optional<std::int64_t> distance_from(const Indices& other) const {
    if (active != other.active || active == 0)
      return std::nullopt;
    const auto first = unsigned(std::countr_zero(active));
    const std::int64_t distance = group_by_lane[first] - other.group_by_lane[first];
    for (std::uint32_t lanes = active; lanes != 0; lanes &= lanes - 1) {
      const auto lane = unsigned(std::countr_zero(lanes));
      if (group_by_lane[lane] - other.group_by_lane[lane] != distance)
        return std::nullopt;
    }
    return distance;
  }
};

Indices indices_of(const trace::WarpAccess& access, const Array& array) {
  Indices indices{.active = access.active};
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const auto lane = unsigned(std::countr_zero(lanes));
    indices.group_by_lane[lane] =
        std::int64_t(access.addresses[lane] - array.base) / std::max(1u, array.element_bytes);
  }
  return indices;
}

using SiteOfArray = std::pair<std::uint64_t, std::uint32_t>; ///< Site::id, and the array that it accesses

/// A site's accesses to one array, as far as they were read.
struct Seen {
  std::uint32_t sequence = 0;
  std::size_t order = 0; ///< among all, by first access
  double executions = 0;
  std::map<SiteOfArray, std::int64_t> distances; ///< from earlier ones of the sequence, as long as they hold
};

/// Finds the distances that hold in all executions.
class Finder {
public:
  void add(std::uint64_t warp, SiteOfArray site, std::uint32_t sequence, const Indices& indices) {
    Running& running = running_[warp];
    if (running.sequence != sequence || running.indices.contains(site))
      running.indices.clear();
    running.sequence = sequence;
    const auto [found, is_first] = seen_.try_emplace(site);
    Seen& seen = found->second;
    if (is_first) {
      seen.sequence = sequence;
      seen.order = seen_.size();
      for (const auto& [other, earlier] : running.indices)
        if (const auto distance = indices.distance_from(earlier))
          seen.distances.emplace(other, *distance);
    } else
      std::erase_if(seen.distances, [&](const auto& held) {
        const auto earlier = running.indices.find(held.first);
        return earlier == running.indices.end() || indices.distance_from(earlier->second) != held.second;
      });
    ++seen.executions;
    running.indices.emplace(site, indices);
  }

  const std::map<SiteOfArray, Seen>& seen() const { return seen_; }

private:
  /// The accesses of a warp's present execution of a sequence.
  struct Running {
    std::uint32_t sequence = ~0u;
    std::map<SiteOfArray, Indices> indices;
  };
  std::unordered_map<std::uint64_t, Running> running_;
  std::map<SiteOfArray, Seen> seen_;
};

} // namespace

Expected<IndexGroups> IndexGroups::find(const trace::AccessSource& trace, const trace::Launch& launch,
                                        std::uint64_t blocks, const Arrays& arrays,
                                        const std::set<std::uint64_t>& wide_sites) {
  std::unordered_map<std::uint64_t, std::uint32_t> sequences;
  for (const Site& site : trace.sites())
    sequences.emplace(site.id, site.sequence);
  Finder finder;
  TRY(trace.for_each_access(
      launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        const auto array = arrays.of(access);
        if (block - launch.first_block < blocks && access.active != 0 && is_access(access.kind) && array)
          finder.add(block * warp_lanes + warp, {access.site, *array}, sequences[access.site],
                     indices_of(access, arrays[*array]));
      }));
  std::vector<std::pair<SiteOfArray, const Seen*>> in_order;
  for (const auto& [site, seen] : finder.seen())
    in_order.emplace_back(site, &seen);
  std::ranges::sort(in_order, {}, [](const auto& one) { return one.second->order; });

  IndexGroups groups;
  std::map<std::uint32_t, std::size_t> group_of; // sequence
  std::map<SiteOfArray, std::uint32_t> index_of;
  for (const auto& [site, seen] : in_order) {
    IndexedAccess access{.array = site.second,
                         .space = place_of(arrays[site.second]),
                         .element_bytes = arrays[site.second].element_bytes,
                         .wide_index = wide_sites.contains(site.first)};
    access.index = std::uint32_t(index_of.size());
    for (const auto& [other, distance] : seen->distances) {
      access.index = index_of.at(other);
      access.constant_offset |= other.second == site.second && distance != 0;
    }
    index_of.emplace(site, access.index);
    const auto [group, is_new] = group_of.try_emplace(seen->sequence, groups.groups_.size());
    if (is_new)
      groups.groups_.emplace_back();
    groups.groups_[group->second].accesses.push_back(access);
    groups.groups_[group->second].executions.push_back(seen->executions);
  }
  return groups;
}

double IndexGroups::added_instructions(std::span<const Move> moves, const Addressing& of,
                                       Reading reading) const {
  double added = 0;
  for (const IndexGroup& group : groups_) {
    std::vector<IndexedAccess> moved = group.accesses;
    for (IndexedAccess& access : moved)
      for (const Move& move : moves)
        if (move.array == access.array)
          access.space = move.to;
    if (reading == Reading::literal) {
      for (std::size_t i = 0; i < moved.size(); ++i)
        added +=
            group.executions[i] * (addressing_instructions(std::span(&moved[i], 1), of, reading) -
                                   addressing_instructions(std::span(&group.accesses[i], 1), of, reading));
      continue;
    }
    added += std::ranges::max(group.executions) * (addressing_instructions(moved, of, reading) -
                                                   addressing_instructions(group.accesses, of, reading));
    for (std::size_t i = 0; i < moved.size(); ++i)
      added += group.executions[i] *
               (waiting_instructions(moved[i].space, of) - waiting_instructions(group.accesses[i].space, of));
  }
  return added;
}

} // namespace warplens::placement
