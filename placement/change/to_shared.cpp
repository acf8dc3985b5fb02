// Shared memory: each block copies what it touches of the array, or all of it, before its first access, and
// back behind its last one where it writes. The copy is a load and a store of 16 bytes by each lane, dealt to
// the warps, and a barrier; from sm_80 on it goes past the L1 and the registers (cp.async.cg). With padded
// rows the pieces are elements, as wider ones would not be aligned.
#include "model/gpu/occupancy.h"
#include "placement/change/block_copy.h"
#include "placement/change/place.h"
#include "placement/change/to_shared_tiles.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace warplens::placement {
namespace {

/// Returns whether two blocks store to one byte; with `whole_lines` also, whether a block touches a line that
/// another one stores to.
bool is_stored_for_others(const Array& array, bool whole_lines) {
  std::unordered_map<std::uint64_t, StoredLine> stored; // by line
  for (const auto& [block, use] : array.block_uses) {
    if (use.has_too_many_lines && !use.stored.empty())
      return true;
    for (const StoredLine& line : use.stored_lines) {
      StoredLine& all = stored[line.line];
      if (((all.bytes[0] & line.bytes[0]) | (all.bytes[1] & line.bytes[1])) != 0)
        return true;
      if (whole_lines && (all.bytes[0] | all.bytes[1]) != 0)
        return true;
      all.bytes[0] |= line.bytes[0];
      all.bytes[1] |= line.bytes[1];
    }
  }
  if (!whole_lines)
    return false;
  for (const auto& [block, use] : array.block_uses)
    for (const std::uint64_t line : use.lines)
      if (stored.contains(line) && use.stores_to(line) == nullptr)
        return true;
  return false;
}

/// Returns whether the block's stores fill chunks of these bytes.
bool fills_chunks(const Array& array, std::uint32_t bytes) {
  const std::uint64_t chunk = (std::uint64_t{1} << bytes) - 1;
  for (const auto& [block, use] : array.block_uses)
    for (const StoredLine& line : use.stored_lines)
      for (const std::uint64_t half : line.bytes)
        for (unsigned at = 0; at < 64; at += bytes)
          if ((half >> at & chunk) != 0 && (half >> at & chunk) != chunk)
            return false;
  return true;
}

class ToShared final : public Transformation {
public:
  /// `copies_in`: the block needs what is in memory. `whole`: the lines that each block copies; empty: those
  /// that it touches.
  ToShared(const Array& array, std::uint32_t number, std::uint64_t offset, std::uint32_t chunk_bytes,
           bool copies_in, std::vector<std::uint64_t> whole, std::uint32_t padding,
           const ChangeContext& context)
      : array_(array), offset_(offset), chunk_bytes_(chunk_bytes), copies_in_(copies_in),
        is_async_(context.gpu->capability() >= 80 && chunk_bytes >= 4),
        threads_(std::uint32_t(context.launch.block.count())), whole_(std::move(whole)),
        in_(array, 2 * std::uint64_t{number}, context.site(array.first_access)),
        back_(array, 2 * std::uint64_t{number} + 1, context.site(array.first_access)) {
    for (const auto& [block, use] : array.block_uses)
      copies_.emplace(block, BlockCopy(whole_.empty() ? use.lines : whole_, padding));
  }

  void change(Site& site) const override {
    site.space = Space::shared;
    site.cache_operator = CacheOperator::none;
  }
  void change(std::uint64_t block, trace::WarpAccess& access) const override {
    access.space = Space::shared;
    const auto copy = copies_.find(block);
    if (copy == copies_.end())
      return;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = offset_ + copy->second.offset_of(address);
    }
  }
  std::vector<Site> added_sites() const override {
    std::vector<Site> sites;
    if (copies_in_)
      sites = in_.all(Space::global, chunk_bytes_, is_async_, "to");
    if (array_.stores != 0)
      std::ranges::copy(back_.all(Space::shared, chunk_bytes_, false, "back from"),
                        std::back_inserter(sites));
    return sites;
  }

  void begin(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    if (!copies_in_)
      return;
    if (const auto copy = copies_.find(block); copy != copies_.end())
      each_piece(copy->second, offset_, chunk_bytes_, warp, threads_, nullptr,
                 [&](const CopyPiece& piece) { in_.put(piece, true, emit); });
    put_barrier(warp, threads_, in_.barrier(), emit);
  }
  void end(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    if (array_.stores == 0)
      return;
    put_barrier(warp, threads_, back_.barrier(), emit);
    if (const auto copy = copies_.find(block); copy != copies_.end())
      each_piece(copy->second, offset_, chunk_bytes_, warp, threads_,
                 copies_in_ ? nullptr : &array_.block_uses.at(block),
                 [&](const CopyPiece& piece) { back_.put(piece, false, emit); });
  }

private:
  const Array& array_;
  std::uint64_t offset_;
  std::uint32_t chunk_bytes_;
  bool copies_in_, is_async_;
  std::uint32_t threads_;
  std::vector<std::uint64_t> whole_; ///< the array's lines, where each block copies all of them
  std::unordered_map<std::uint64_t, BlockCopy> copies_;
  CopySites in_, back_;
};

Planned to_shared(const Array& array, const Move& move, ChangeContext& context) {
  const auto refuse = [&](std::uint32_t site, std::string text) {
    return Planned{nullptr, {context.because(site, std::move(text))}};
  };
  if (array.space != Space::global)
    return refuse(array.first_access, "it is not in global memory");
  if (array.first_atomic != no_site)
    return refuse(array.first_atomic, "blocks share it by atomics");
  if (array.is_cuda_array)
    return refuse(array.first_access, "its texels lie in blocks");
  if (move.part == SharedPart::tile)
    return to_shared_tiles(array, move, context);
  const std::uint32_t padding =
      move.part == SharedPart::padded ? std::bit_ceil(std::clamp(array.element_bytes, 4u, widest_chunk)) : 0;
  // If a block only stores to an array, it copies back what it stored, and needs nothing before that.
  std::uint32_t chunk_bytes = padding == 0 ? widest_chunk : padding;
  bool copies_in = array.loads != 0;
  if (!copies_in && !fills_chunks(array, chunk_bytes)) {
    chunk_bytes = std::min(chunk_bytes, 4u);
    copies_in = !fills_chunks(array, chunk_bytes);
  }
  if (array.first_store != no_site && is_stored_for_others(array, copies_in))
    return refuse(array.first_store, "a block stores to lines of 128 bytes that others access as well");

  std::vector<std::uint64_t> whole;
  if (move.part == SharedPart::whole && array.bytes <= context.gpu->shared.max_bytes_per_block) {
    whole.resize((array.base + array.bytes - 1) / line_bytes - array.base / line_bytes + 1);
    std::iota(whole.begin(), whole.end(), array.base / line_bytes);
  }
  std::uint64_t bytes = move.part == SharedPart::whole ? array.bytes : 0;
  bool too_many = false;
  if (move.part != SharedPart::whole)
    for (const auto& [block, use] : array.block_uses) {
      bytes = std::max(bytes, BlockCopy(use.lines, padding).bytes());
      too_many |= use.has_too_many_lines;
    }
  const std::uint64_t taken =
      std::uint64_t{context.launch.static_shared_bytes} + context.launch.dynamic_shared_bytes;
  const std::uint64_t offset = round_up(taken, shared_alignment);
  const std::uint64_t most =
      context.gpu->shared.max_bytes_per_block - context.gpu->shared.reserved_bytes_per_block;
  if (too_many || offset + bytes > most)
    return refuse(array.first_access,
                  fmt::format("a block accesses {} of it, of {} B of shared memory{}",
                              too_many ? "more than 228 KiB" : fmt::format("{} B", bytes), most,
                              taken == 0 ? "" : fmt::format(", of which {} are in use", taken)));
  context.launch.static_shared_bytes += std::uint32_t(offset + bytes - taken);
  if (const auto occupied = model::occupancy(*context.gpu, context.launch); !occupied)
    return refuse(array.first_access, occupied.error().message);
  return {std::make_unique<ToShared>(array, move.array, offset, chunk_bytes, copies_in, std::move(whole),
                                     padding, context),
          {}};
}

std::string staging_of(const Move& move, const Array& array) {
  const std::string& name = array.name;
  if (move.part == SharedPart::tile)
    return fmt::format("stage {} through a tile in shared memory: the block's threads copy what the next "
                       "steps of the loop load, side by side, between two barriers",
                       name);
  const char* const rows =
      move.part == SharedPart::padded ? ", in rows one element longer than they are" : "";
  if (array.loads == 0)
    return fmt::format("let each block store {} to a tile in shared memory{}, and copy that to memory behind "
                       "a barrier, neighbouring lanes side by side",
                       name, rows);
  return fmt::format("copy what a block accesses of {} to shared memory at its begin{}, neighbouring lanes "
                     "side by side",
                     name, rows);
}

std::string_view shared_memory(const model::Gpu&) {
  return "shared memory";
}

std::string shared_words(const TracedKernel&, const Suggested& suggested) {
  return staging_of(suggested.move, suggested.array);
}

} // namespace

constinit const PlaceTraits shared_place{
    .plan = to_shared,
    .words = shared_words,
    .memory_behind = shared_memory,
    .counter = RuleCounter::excess_sectors,
};

} // namespace warplens::placement
