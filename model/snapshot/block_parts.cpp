#include "model/snapshot/block_parts.h"

#include <algorithm>
#include <span>

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

} // namespace

WarpPart part_of(const Warp& warp, double from, double to) {
  const BulkBegin begin = bulk_begin(warp, bulk_at(warp, from));
  return {begin.access, bulk_begin(warp, bulk_at(warp, to)).access, begin.transactions,
          bulk_at(warp, to) - bulk_at(warp, from)};
}

PathPlace place_at(const Code& code, const Warp& warp, double share) {
  const Path& path = code.paths[warp.path];
  PathPlace place{path.blocks.data(), path.makes_access.data(), warp.accesses.data(),
                  warp.transactions.data()};
  const auto behind = std::size_t(share * double(warp.accesses.size()));
  const Access* const target = place.access + behind;
  const std::uint32_t* const end = place.block + path.blocks.size();
  const auto pass_access = [&] { place.transactions += place.access++->transactions; };
  while (place.block != end && (share >= 1 || place.access < target)) {
    const std::uint32_t block = *place.block++;
    if (block == Path::loose)
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
