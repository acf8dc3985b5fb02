#include "model/snapshot/block_parts.h"

#include <algorithm>
#include <span>
#include <vector>

namespace warplens::model {
namespace {

/// The first access of a bulk.
struct BulkBegin {
  const Access* access;
  const Transaction* transactions;
};
/// Returns the begin of the warp's bulk of this number, or the end of its accesses.
BulkBegin bulk_begin(const Warp& warp, std::uint32_t bulk) {
  BulkBegin begin{warp.accesses.data(), warp.transactions.data()};
  const Access* const end = begin.access + warp.accesses.size();
  if (bulk >= warp.bulks)
    return {end, begin.transactions + warp.transactions.size()};
  for (std::uint32_t begun = 0; begin.access != end; ++begin.access) {
    if ((begun += begin.access->starts_bulk) > bulk)
      break;
    begin.transactions += begin.access->transactions;
  }
  return begin;
}

std::uint32_t bulk_at(const Warp& warp, double share) {
  return std::uint32_t(share * warp.bulks);
}

/// Returns the numbers of the bulks that are barriers.
std::vector<std::uint32_t> barriers_of(const Warp& warp) {
  std::vector<std::uint32_t> barriers;
  std::uint32_t begun = 0;
  for (const Access& access : warp.accesses) {
    begun += access.starts_bulk;
    if (access.kind == AccessKind::barrier && access.phase == PhaseRole::none)
      barriers.push_back(begun - 1);
  }
  return barriers;
}

/// Returns the warp's bulk at this share that lies between the same barriers as the longest warp's.
std::uint32_t bulk_at(const Warp& warp, const Warp& longest, double share) {
  if (share <= 0 || share >= 1 || &warp == &longest)
    return bulk_at(warp, share);
  const std::vector<std::uint32_t> barriers = barriers_of(warp), longest_barriers = barriers_of(longest);
  const auto passed =
      std::ranges::lower_bound(longest_barriers, bulk_at(longest, share)) - longest_barriers.begin();
  const std::size_t passed_by_warp = std::min(std::size_t(passed), barriers.size());
  const std::uint32_t first = passed_by_warp == 0 ? 0 : barriers[passed_by_warp - 1] + 1;
  const std::uint32_t last = passed_by_warp < barriers.size() ? barriers[passed_by_warp] : warp.bulks;
  return std::clamp(bulk_at(warp, share), first, last);
}

WarpPart between(const Warp& warp, std::uint32_t first, std::uint32_t end) {
  const BulkBegin begin = bulk_begin(warp, first);
  return {begin.access, bulk_begin(warp, end).access, begin.transactions, end - first};
}

} // namespace

WarpPart part_of(const Warp& warp, double from, double to) {
  return between(warp, bulk_at(warp, from), bulk_at(warp, to));
}

WarpPart part_of(const Warp& warp, const Snapshot& snapshot, const BlockPart& part) {
  if (!snapshot.has_barriers)
    return part_of(warp, part.from, part.to);
  const Warp& longest = longest_warp(snapshot, snapshot.blocks[part.block]);
  return between(warp, bulk_at(warp, longest, part.from), bulk_at(warp, longest, part.to));
}

PathPlace place_at(const Code& code, const Warp& warp, const Access* access) {
  const Path& path = code.paths[warp.path];
  PathPlace place{path.blocks.data(), path.makes_access.data(), warp.accesses.data(),
                  warp.transactions.data()};
  const std::uint32_t* const end = place.block + path.blocks.size();
  const bool is_end = access == place.access + warp.accesses.size();
  const auto pass_access = [&] { place.transactions += place.access++->transactions; };
  while (place.block != end && (is_end || place.access < access)) {
    const std::uint32_t block = *place.block++;
    if (block == Path::unmatched)
      pass_access();
    else
      for (std::size_t slots = code.slots_of(block).size(); slots != 0; --slots)
        if (*place.makes_access++ != 0)
          pass_access();
  }
  return place;
}

const Warp& longest_warp(const Snapshot& snapshot, const Snapshot::Block& block) {
  const auto warps = std::span(snapshot.warps).subspan(block.first_warp, block.warps);
  return *std::max_element(warps.begin(), warps.end(),
                           [](const Warp& a, const Warp& b) { return a.bulks < b.bulks; });
}

bool is_in_loop(const Warp& warp, double share) {
  constexpr int several = 4;
  const Access* const begin = bulk_begin(warp, bulk_at(warp, share)).access;
  if (begin == warp.accesses.data() + warp.accesses.size())
    return false;
  return std::count_if(warp.accesses.begin(), warp.accesses.end(), [&](const Access& access) {
           return access.starts_bulk && access.site == begin->site;
         }) > several;
}

} // namespace warplens::model
