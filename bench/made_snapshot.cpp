#include "bench/made_snapshot.h"

#include "model/geometry.h"
#include "model/random.h"

namespace warplens::bench {
namespace {

using model::Snapshot;

constexpr std::uint32_t warps_per_block = 8, blocks = 132 * 8 * 2;
constexpr std::uint32_t lines_of_64_mb = (64u << 20) / model::line_bytes;

/// Blocks of empty warps, and as many sites.
Snapshot with_sites(std::uint32_t sites) {
  Snapshot made;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    made.blocks.push_back({block, block * warps_per_block, warps_per_block});
    for (std::uint32_t warp = 0; warp < warps_per_block; ++warp)
      made.warps.push_back({block, warp, 0, {}, {}});
  }
  made.blocks_seen = blocks;
  made.sites.resize(sites);
  return made;
}

/// A load of `count` lines by the warp; `line()` and `sectors` say which.
template <class Line>
void load(Snapshot& made, model::Warp& warp, std::uint32_t site, unsigned count, unsigned sectors,
          Line&& line) {
  model::Access access;
  access.first_transaction = std::uint32_t(warp.transactions.size());
  access.site = site;
  access.transactions = std::uint8_t(count);
  access.starts_bulk = site == 0;
  warp.bulks += access.starts_bulk;
  warp.accesses.push_back(access);
  for (unsigned i = 0; i < count; ++i)
    warp.transactions.push_back({line(), sectors});
  made.transactions += count;
  ++made.warp_accesses;
}

constexpr unsigned one_sector = 1;

} // namespace

Snapshot streaming(std::uint32_t transactions) {
  Snapshot made = with_sites(1);
  std::uint32_t next = 0;
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, 1, model::whole_line, [&] { return next++; });
  return made;
}

Snapshot random_over_64_mb(std::uint32_t transactions) {
  Snapshot made = with_sites(1);
  model::Random random(1, 0, 0);
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, model::warp_lanes, one_sector, [&] { return random.below(lines_of_64_mb); });
  return made;
}

Snapshot spmv_like(std::uint32_t transactions) {
  Snapshot made = with_sites(3);
  model::Random random(2, 0, 0);
  std::uint32_t next = lines_of_64_mb;
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps) {
      load(made, warp, 0, 1, model::whole_line, [&] { return next++; });
      load(made, warp, 1, 1, model::whole_line, [&] { return next++; });
      load(made, warp, 2, model::warp_lanes, one_sector, [&] { return random.below(lines_of_64_mb); });
    }
  return made;
}

} // namespace warplens::bench
