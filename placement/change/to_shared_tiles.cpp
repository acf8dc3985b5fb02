// Shared memory, tile by tile: the block's warps copy what they will load by the next few accesses, wait,
// load it from there, and wait again before the next tile takes its place. This is how products of matrices
// are staged whose rows no block could keep.
#include "placement/change/to_shared_tiles.h"

#include "model/gpu/occupancy.h"
#include "placement/change/block_copy.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace warplens::placement {
namespace {

constexpr std::array accesses_of_tile{64u, 32u, 16u, 8u, 4u};
constexpr std::uint64_t max_lines = 8'000'000; ///< looked through for a launch: 64 MB

/// The lines that each block loads by the n-th access of its warps to the array.
struct LoadOrder {
  std::unordered_map<std::uint64_t, std::vector<std::vector<std::uint64_t>>> loads_by_block;
  std::string objection; ///< why it cannot be staged so; empty: it can
};

Expected<LoadOrder> order_of_loads(std::uint32_t index, const ChangeContext& context) {
  LoadOrder order;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> counts; // of each block's warps
  const auto warps = std::size_t((context.launch.block.count() + warp_lanes - 1) / warp_lanes);
  std::uint64_t lines = 0;
  TRY(context.trace->for_each_access(
      context.launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (context.arrays->of(access) != index || warp >= warps || lines > max_lines)
          return;
        auto& warp_counts = counts[block];
        warp_counts.resize(warps);
        auto& loads_by_block = order.loads_by_block[block];
        const std::uint32_t n = warp_counts[warp]++;
        if (n >= loads_by_block.size())
          loads_by_block.emplace_back();
        for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
          const std::uint64_t address = access.addresses[unsigned(std::countr_zero(lanes))];
          for (std::uint64_t line = address / line_bytes; line <= (address + access.bytes - 1) / line_bytes;
               ++line) {
            const auto at = std::ranges::lower_bound(loads_by_block[n], line);
            if (at == loads_by_block[n].end() || *at != line) {
              loads_by_block[n].insert(at, line);
              ++lines;
            }
          }
        }
      }));
  if (lines > max_lines)
    order.objection = "its accesses are too many to look through";
  for (const auto& [block, warp_counts] : counts)
    if (std::ranges::any_of(warp_counts, [&](std::uint32_t count) { return count != warp_counts.front(); }))
      order.objection = "the warps of a block do not load from it equally often";
  return order;
}

/// The tiles of each block, one behind the other.
using Tiles = std::unordered_map<std::uint64_t, std::vector<std::vector<std::uint64_t>>>;

Tiles tiles_of(const LoadOrder& order, std::uint32_t accesses) {
  Tiles tiles;
  for (const auto& [block, by_access] : order.loads_by_block)
    for (std::size_t i = 0; i < by_access.size(); ++i) {
      if (i % accesses == 0)
        tiles[block].emplace_back();
      std::vector<std::uint64_t>& tile = tiles[block].back();
      tile.insert(tile.end(), by_access[i].begin(), by_access[i].end());
    }
  for (auto& [block, loads_by_block] : tiles)
    for (std::vector<std::uint64_t>& tile : loads_by_block) {
      std::ranges::sort(tile);
      tile.erase(std::ranges::unique(tile).begin(), tile.end());
    }
  return tiles;
}

std::uint64_t largest(const Tiles& tiles, std::uint32_t padding) {
  std::uint64_t bytes = 0;
  for (const auto& [block, loads_by_block] : tiles)
    for (const std::vector<std::uint64_t>& tile : loads_by_block)
      bytes = std::max(bytes, BlockCopy(tile, padding).bytes());
  return bytes;
}

class ToSharedTiles final : public Transformation {
public:
  ToSharedTiles(const Array& array, std::uint32_t number, Tiles tiles, std::uint32_t accesses,
                std::uint32_t padding, std::uint64_t offset, const ChangeContext& context)
      : tiles_(std::move(tiles)), accesses_(accesses), offset_(offset),
        chunk_bytes_(padding == 0 ? widest_chunk : padding), is_async_(context.gpu->capability() >= 80),
        threads_(std::uint32_t(context.launch.block.count())),
        before_(array, 2 * std::uint64_t{number}, context.site(array.first_access)),
        behind_(array, 2 * std::uint64_t{number} + 1, context.site(array.first_access)) {
    for (const auto& [block, loads_by_block] : tiles_)
      for (const std::vector<std::uint64_t>& tile : loads_by_block)
        copies_[block].emplace_back(tile, padding);
  }

  void change(Site& site) const override {
    site.space = Space::shared;
    site.cache_operator = CacheOperator::none;
  }
  void change(std::uint64_t, trace::WarpAccess& access) const override { access.space = Space::shared; }
  void change_next(std::uint64_t block, std::uint32_t warp, trace::WarpAccess& access,
                   const Emit& emit) const override {
    const std::uint32_t n = done_[key(block, warp)]++;
    const auto loads_by_block = copies_.find(block);
    change(block, access);
    if (loads_by_block == copies_.end() || n / accesses_ >= loads_by_block->second.size())
      return;
    const BlockCopy& tile = loads_by_block->second[n / accesses_];
    if (n % accesses_ == 0) {
      if (n != 0)
        put_barrier(warp, threads_, before_.barrier(), emit);
      each_piece(tile, offset_, chunk_bytes_, warp, threads_, nullptr,
                 [&](const CopyPiece& piece) { behind_.put(piece, true, emit); });
      put_barrier(warp, threads_, behind_.barrier(), emit);
    }
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = offset_ + tile.offset_of(address);
    }
  }
  std::vector<Site> added_sites() const override {
    std::vector<Site> sites = behind_.all(Space::global, chunk_bytes_, is_async_, "to");
    sites.push_back(before_.all(Space::global, chunk_bytes_, is_async_, "to").back());
    return sites;
  }
  void begin(std::uint64_t block, std::uint32_t warp, const Emit&) const override {
    done_[key(block, warp)] = 0;
  }

private:
  static std::uint64_t key(std::uint64_t block, std::uint32_t warp) { return block * 64 + warp; }

  Tiles tiles_;
  std::unordered_map<std::uint64_t, std::vector<BlockCopy>> copies_;
  std::uint32_t accesses_;
  std::uint64_t offset_;
  std::uint32_t chunk_bytes_;
  bool is_async_;
  std::uint32_t threads_;
  CopySites before_, behind_;
  mutable std::unordered_map<std::uint64_t, std::uint32_t> done_; ///< accesses of each warp so far
};

} // namespace

Planned to_shared_tiles(const Array& array, const Move& move, ChangeContext& context) {
  const auto refuse = [&](std::uint32_t site, std::string text) {
    return Planned{nullptr, {context.because(site, std::move(text))}};
  };
  if (auto reasons = context.written(array, "a tile"); !reasons.empty())
    return {nullptr, std::move(reasons)};
  const auto order = order_of_loads(move.array, context);
  if (!order)
    return refuse(array.first_access, order.error().message);
  if (!order->objection.empty())
    return refuse(array.first_access, order->objection);
  const auto before = model::occupancy(*context.gpu, context.launch);
  const std::uint64_t taken =
      std::uint64_t{context.launch.static_shared_bytes} + context.launch.dynamic_shared_bytes;
  const std::uint64_t offset = round_up(taken, shared_alignment);
  const std::uint32_t padding =
      has_distant_lanes(array) ? std::bit_ceil(std::clamp(array.element_bytes, 4u, widest_chunk)) : 0;
  // The largest tile that leaves the SM as many blocks, else the smallest one.
  std::uint64_t bytes = 0;
  for (const std::uint32_t accesses : accesses_of_tile) {
    Tiles tiles = tiles_of(*order, accesses);
    bytes = largest(tiles, padding);
    trace::Launch launch = context.launch;
    launch.static_shared_bytes += std::uint32_t(offset + bytes - taken);
    const auto with_tile = model::occupancy(*context.gpu, launch);
    const bool is_smallest = accesses == accesses_of_tile.back();
    if (!with_tile || (!is_smallest && with_tile->blocks_per_sm < before->blocks_per_sm))
      continue;
    context.launch = std::move(launch);
    return {std::make_unique<ToSharedTiles>(array, move.array, std::move(tiles), accesses, padding, offset,
                                            context),
            {}};
  }
  return refuse(array.first_access,
                fmt::format("{} accesses touch {} B of it, more than there is shared memory",
                            accesses_of_tile.back(), bytes));
}

} // namespace warplens::placement
