#include "bench/made_snapshot.h"

#include "model/numeric/random.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>

namespace warplens::bench {
namespace {

using model::Snapshot;

constexpr std::uint32_t warps_per_block = 8, blocks = 132 * 8 * 2;
constexpr std::uint32_t lines_of_64_mb = (64u << 20) / line_bytes;

/// Returns a snapshot with blocks of empty warps, and this number of sites.
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

/// Adds a load by the warp of `sectors` in `count` lines, each of which `line()` returns.
template <class Line>
void load(Snapshot& made, model::Warp& warp, std::uint32_t site, unsigned count, unsigned sectors,
          Line&& line) {
  model::Access access;
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

/// Adds a load of four bytes by each lane of the warp, at `address(lane)`.
template <class Address>
void load_lanes(Snapshot& made, model::Warp& warp, std::uint32_t site, bool starts_bulk, Address&& address) {
  std::array<std::pair<std::uint32_t, std::uint32_t>, warp_lanes> touched; // line, its sector's bit
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t at = address(lane);
    touched[lane] = {std::uint32_t(at / line_bytes), 1u << at % line_bytes / sector_bytes};
  }
  std::sort(touched.begin(), touched.end());
  model::Access access;
  access.site = site;
  access.starts_bulk = starts_bulk;
  for (const auto& [line, sector] : touched)
    if (access.transactions != 0 && warp.transactions.back().line == line) {
      warp.transactions.back().sectors |= sector;
    } else {
      warp.transactions.push_back({line, sector});
      ++access.transactions;
    }
  warp.bulks += starts_bulk;
  warp.accesses.push_back(access);
  made.transactions += access.transactions;
  ++made.warp_accesses;
}

} // namespace

Snapshot streaming(std::uint32_t transactions) {
  Snapshot made = with_sites(1);
  std::uint32_t next = 0;
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, 1, whole_line, [&] { return next++; });
  finalize(made);
  return made;
}

Snapshot random_over_64_mb(std::uint32_t transactions) {
  Snapshot made = with_sites(1);
  model::Random random(1, 0, 0);
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, warp_lanes, one_sector, [&] { return random.below(lines_of_64_mb); });
  finalize(made);
  return made;
}

Snapshot spmv_like(std::uint32_t transactions) {
  Snapshot made = with_sites(3);
  model::Random random(2, 0, 0);
  std::uint32_t next = lines_of_64_mb;
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps) {
      load(made, warp, 0, 1, whole_line, [&] { return next++; });
      load(made, warp, 1, 1, whole_line, [&] { return next++; });
      load(made, warp, 2, warp_lanes, one_sector, [&] { return random.below(lines_of_64_mb); });
    }
  finalize(made);
  return made;
}

Snapshot paper_spmv() {
  constexpr std::uint32_t rows = 4 * 14 * 1536, non_zeros = 51, rows_per_block = 256, float_bytes = 4;
  constexpr std::uint64_t of_array = 1u << 28; // where each of the arrays begins
  Snapshot made;
  made.sites.resize(5);
  model::Random random(3, 0, 0);
  for (std::uint32_t block = 0; block < rows / rows_per_block; ++block) {
    made.blocks.push_back({block, std::uint32_t(made.warps.size()), rows_per_block / warp_lanes});
    for (std::uint32_t number = 0; number < rows_per_block / warp_lanes; ++number) {
      model::Warp& warp = made.warps.emplace_back();
      warp.block = block;
      warp.warp = number;
      const std::uint64_t first_row = block * rows_per_block + number * warp_lanes;
      const auto element = [&](std::uint64_t array, std::uint64_t index) {
        return array * of_array + index * float_bytes;
      };
      load_lanes(made, warp, 0, true, [&](unsigned lane) { return element(0, first_row + lane); });
      load_lanes(made, warp, 1, false, [&](unsigned lane) { return element(0, first_row + lane + 1); });
      for (std::uint32_t j = 0; j < non_zeros; ++j) {
        const auto of_row = [&](unsigned lane) { return (first_row + lane) * non_zeros + j; };
        load_lanes(made, warp, 2, true, [&](unsigned lane) { return element(1, of_row(lane)); });
        load_lanes(made, warp, 3, false, [&](unsigned lane) { return element(2, of_row(lane)); });
        load_lanes(made, warp, 4, true, [&](unsigned) { return element(3, random.below(rows)); });
      }
    }
  }
  made.blocks_seen = made.blocks.size();
  finalize(made);
  return made;
}

} // namespace warplens::bench
