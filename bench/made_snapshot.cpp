#include "bench/made_snapshot.h"

#include "numeric/random.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

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

/// A kernel's code that is made instruction by instruction, with the compiler's usual schedule.
class MadeCode {
public:
  /// Begins a block, to which the path does not belong yet.
  std::uint32_t begin_block() {
    code_.first_slot.push_back(std::uint32_t(code_.slots.size()));
    sass::Block& block = code_.kernel.blocks.emplace_back();
    block.begin = block.end = std::uint32_t(code_.kernel.instructions.size());
    return std::uint32_t(code_.kernel.blocks.size() - 1);
  }
  sass::Instruction& add(sass::InstructionClass kind, std::uint8_t stall) {
    sass::Instruction& made = code_.kernel.instructions.emplace_back();
    made.kind = kind;
    made.control.stall = stall;
    ++code_.kernel.blocks.back().end;
    return made;
  }
  /// Adds a load whose result the first scoreboard clears.
  void add_load() {
    constexpr std::uint8_t bytes = 4;
    code_.slots.push_back({std::uint32_t(code_.kernel.instructions.size()), 0, bytes, false});
    sass::Instruction& load = add(sass::InstructionClass::load_global, 1);
    load.access_bytes = bytes;
    load.control.write_scoreboard = 0;
  }
  /// Gives all warps of the snapshot the path, on which each slot makes an access.
  void finish(std::vector<std::uint32_t> path, Snapshot& snapshot) && {
    code_.architecture = 90;
    code_.first_slot.push_back(std::uint32_t(code_.slots.size()));
    code_.paths.push_back({std::move(path), {}});
    code_.paths.back().makes_access.resize(snapshot.warps.front().accesses.size(), 1);
    snapshot.code = std::make_shared<const model::Code>(std::move(code_));
  }

private:
  model::Code code_;
};

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
  Random random(1, 0, 0);
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, warp_lanes, one_sector, [&] { return random.below(lines_of_64_mb); });
  finalize(made);
  return made;
}

Snapshot spmv_like(std::uint32_t transactions) {
  Snapshot made = with_sites(3);
  Random random(2, 0, 0);
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

Snapshot streaming_with_code(std::uint32_t transactions) {
  using enum sass::InstructionClass;
  Snapshot made = streaming(transactions);
  MadeCode code;
  const std::uint32_t loop = code.begin_block();
  code.add(multiply_add, 4);
  code.add(multiply_add, 5);
  code.add_load();
  code.add(alu, 4);
  code.add(alu, 6);
  code.add(fp32, 4).control.wait_mask = 1;
  code.add(alu, 13);
  code.add(branch, 5);
  std::move(code).finish(std::vector(made.warps.front().accesses.size(), loop), made);
  return made;
}

Snapshot computing_with_code(std::uint32_t transactions) {
  using enum sass::InstructionClass;
  constexpr std::uint32_t lines_of_block = 64, iterations_of_barrier = 4;
  Snapshot made = with_sites(1);
  Random random(4, 0, 0);
  while (made.transactions < transactions)
    for (model::Warp& warp : made.warps)
      load(made, warp, 0, 1, whole_line,
           [&] { return std::uint32_t(warp.block) * lines_of_block + random.below(lines_of_block); });
  finalize(made);
  MadeCode code;
  const std::uint32_t iteration = code.begin_block();
  code.add(multiply_add, 5);
  code.add_load();
  code.add(fp32, 4).control.wait_mask = 1;
  for (int product = 0; product < 35; ++product)
    code.add(product % 4 == 3 ? alu : fp32, product % 3 == 2 ? 4 : 1);
  code.add(alu, 13);
  code.add(branch, 5);
  const std::uint32_t meeting = code.begin_block();
  code.add(barrier, 5);
  std::vector<std::uint32_t> path;
  for (std::size_t i = 0; i < made.warps.front().accesses.size(); ++i) {
    path.push_back(iteration);
    if (i % iterations_of_barrier == iterations_of_barrier - 1)
      path.push_back(meeting);
  }
  std::move(code).finish(std::move(path), made);
  return made;
}

Snapshot paper_spmv() {
  constexpr std::uint32_t rows = 4 * 14 * 1536, non_zeros = 51, rows_per_block = 256, float_bytes = 4;
  constexpr std::uint64_t array_distance = 1u << 28; // where each of the arrays begins
  Snapshot made;
  made.sites.resize(5);
  Random random(3, 0, 0);
  for (std::uint32_t block = 0; block < rows / rows_per_block; ++block) {
    made.blocks.push_back({block, std::uint32_t(made.warps.size()), rows_per_block / warp_lanes});
    for (std::uint32_t number = 0; number < rows_per_block / warp_lanes; ++number) {
      model::Warp& warp = made.warps.emplace_back();
      warp.block = block;
      warp.warp = number;
      const std::uint64_t first_row = block * rows_per_block + number * warp_lanes;
      const auto element = [&](std::uint64_t array, std::uint64_t index) {
        return array * array_distance + index * float_bytes;
      };
      load_lanes(made, warp, 0, true, [&](unsigned lane) { return element(0, first_row + lane); });
      load_lanes(made, warp, 1, false, [&](unsigned lane) { return element(0, first_row + lane + 1); });
      for (std::uint32_t j = 0; j < non_zeros; ++j) {
        const auto element_of_row = [&](unsigned lane) { return (first_row + lane) * non_zeros + j; };
        load_lanes(made, warp, 2, true, [&](unsigned lane) { return element(1, element_of_row(lane)); });
        load_lanes(made, warp, 3, false, [&](unsigned lane) { return element(2, element_of_row(lane)); });
        load_lanes(made, warp, 4, true, [&](unsigned) { return element(3, random.below(rows)); });
      }
    }
  }
  made.blocks_seen = made.blocks.size();
  finalize(made);
  return made;
}

} // namespace warplens::bench
