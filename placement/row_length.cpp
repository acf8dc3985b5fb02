#include "placement/row_length.h"

#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>

namespace warplens::placement {
namespace {

/// Shorter distances are within a row.
constexpr std::uint64_t min_row_bytes = 256;
constexpr std::size_t max_distances = 64, max_sites = 64;
/// Constants of a stencil's index are within this distance of a multiple of the row.
constexpr std::uint64_t stencil_bytes = 64;

std::uint64_t distance_of(std::uint64_t one, std::uint64_t other) {
  return std::max(one, other) - std::min(one, other);
}

void add(std::map<std::uint64_t, std::uint64_t>& distances, std::uint64_t distance) {
  if (distance >= min_row_bytes && (distances.size() < max_distances || distances.contains(distance)))
    ++distances[distance];
}

std::uint64_t mode_of(const std::map<std::uint64_t, std::uint64_t>& counts) {
  const auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? 0 : most->first;
}

/// Returns the mean of the shortest distances, as those of a stencil lie around the row on both sides.
std::uint64_t middle_of_shortest(const std::map<std::uint64_t, std::uint64_t>& counts,
                                 std::uint32_t element_bytes) {
  if (counts.size() == max_distances)
    return 0; // they are random
  std::uint64_t last = 0;
  double sum = 0, number = 0;
  for (const auto& [distance, count] : counts) {
    if (number > 0 && distance > last + stencil_bytes)
      break;
    sum += double(distance) * double(count);
    number += double(count);
    last = distance;
  }
  return number == 0 ? 0 : std::uint64_t(sum / number / element_bytes + 0.5) * element_bytes;
}

} // namespace

void RowLength::note(std::uint64_t block, std::uint32_t warp, std::uint32_t site, std::uint32_t sequence,
                     const trace::WarpAccess& access, const trace::Dim3& threads) {
  const std::uint64_t first = access.addresses[unsigned(std::countr_zero(access.active))];
  const std::uint64_t stream = (block * 32 + warp) * 4096 + site % 4096;
  const auto [last, is_first] = last_.try_emplace(stream, first);
  if (!is_first)
    add(loop_distances_, distance_of(first, last->second));
  last->second = first;
  if (is_first && threads.y > 1)
    note_neighbours_in_y(block, warp, site, access, threads);
  note_other_sites(block * 32 + warp, site, sequence, first);
}

void RowLength::note_neighbours_in_y(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                                     const trace::WarpAccess& access, const trace::Dim3& threads) {
  if (threads.x < warp_lanes) {
    for (unsigned lane = 0; lane + threads.x < warp_lanes; ++lane)
      if ((access.active >> lane & 1) != 0 && (access.active >> (lane + threads.x) & 1) != 0)
        add(thread_distances_, distance_of(access.addresses[lane + threads.x], access.addresses[lane]));
    return;
  }
  if (threads.x % warp_lanes != 0)
    return;
  const std::uint64_t first = access.addresses[unsigned(std::countr_zero(access.active))];
  const auto stream_of = [&](std::uint32_t of) { return (block * 32 + of) * 4096 + site % 4096; };
  first_of_warp_.emplace(stream_of(warp), first);
  for (const std::uint32_t other : {warp - threads.x / warp_lanes, warp + threads.x / warp_lanes})
    if (const auto above = first_of_warp_.find(stream_of(other)); other < 32 && above != first_of_warp_.end())
      add(thread_distances_, distance_of(first, above->second));
}

void RowLength::note_other_sites(std::uint64_t warp, std::uint32_t site, std::uint32_t sequence,
                                 std::uint64_t first) {
  Running& running = running_[warp];
  const auto is_it = [&](const auto& one) { return one.first == site; };
  if (running.sequence != sequence || running.sites.size() == max_sites ||
      std::ranges::any_of(running.sites, is_it))
    running.sites.clear();
  running.sequence = sequence;
  for (const auto& [other, address] : running.sites)
    add(index_distances_, distance_of(first, address));
  running.sites.emplace_back(site, first);
}

void RowLength::merge(const RowLength& other) {
  const auto sum = [](Distances& into, const Distances& from) {
    for (const auto& [distance, count] : from)
      into[distance] += count;
  };
  sum(loop_distances_, other.loop_distances_);
  sum(thread_distances_, other.thread_distances_);
  sum(index_distances_, other.index_distances_);
}

std::uint64_t RowLength::bytes(std::uint32_t element_bytes) const {
  if (const std::uint64_t row = mode_of(loop_distances_); row != 0)
    return row;
  if (const std::uint64_t row = mode_of(thread_distances_); row != 0)
    return row;
  return middle_of_shortest(index_distances_, std::max(1u, element_bytes));
}

} // namespace warplens::placement
