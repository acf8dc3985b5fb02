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
