// Shared memory: each block copies what it touches of the array, or all of it, before its first access, and
// back behind its last one where it writes. The copy is a load and a store of 16 bytes by each lane, dealt to
// the warps, and a barrier; from sm_80 on it goes past the L1 and the registers (cp.async.cg).
#include "model/gpu/occupancy.h"
#include "placement/change/transformation.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <bit>

namespace warplens::placement {
namespace {

constexpr std::uint32_t copy_bytes = 16; ///< of a lane
constexpr std::uint64_t alignment = 16;

/// Returns whether another block touches what a block stores.
bool is_stored_for_others(const Array& array) {
  std::vector<AddressRange> stored;
  for (const auto& [block, use] : array.of_block)
    if (!use.stored.empty())
      stored.push_back(use.stored);
  std::ranges::sort(stored, {}, &AddressRange::begin);
  for (std::size_t i = 1; i < stored.size(); ++i)
    if (stored[i].overlaps(stored[i - 1]))
      return true;
  for (const auto& [block, use] : array.of_block)
    for (const std::uint64_t line : use.lines) {
      const AddressRange range{line * line_bytes, (line + 1) * line_bytes};
      const auto at = std::ranges::upper_bound(stored, range.begin, {}, &AddressRange::end);
      if (at != stored.end() && at->overlaps(range) &&
          (at->begin != use.stored.begin || at->end != use.stored.end))
        return true;
    }
  return false;
}

class ToShared final : public Transformation {
public:
  ToShared(const Array& array, std::uint32_t number, std::uint64_t offset, SharedPart part,
           const ChangeContext& context)
      : array_(array), offset_(offset), part_(part), threads_(std::uint32_t(context.launch.block.count())),
        is_async_(context.gpu->capability() >= 80), first_(context.site(array.first_access)) {
    const std::uint64_t id = (std::uint64_t{0x5a4e'd000} + number) << 32;
    load_ = id + 1;
    store_ = id + 2;
    barrier_ = id + 3;
    load_back_ = id + 4;
    store_back_ = id + 5;
    barrier_back_ = id + 6;
  }

  void change(Site& site) const override {
    site.space = Space::shared;
    site.cache_operator = CacheOperator::none;
  }
  void change(std::uint64_t block, trace::WarpAccess& access) const override {
    access.space = Space::shared;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = offset_of(block, address);
    }
  }

  std::vector<Site> added_sites() const override {
    const auto site = [&](std::uint64_t id, AccessKind kind, Space space, CacheOperator cache) {
      Site added;
      added.id = id;
      added.file = first_.file;
      added.line = first_.line;
      added.column = first_.column;
      added.expression = fmt::format("copy of {} to shared memory", array_.name);
      added.kind = kind;
      added.space = space;
      added.element_bytes = is_access(kind) ? copy_bytes : 0;
      added.cache_operator = cache;
      added.object = array_.name;
      return added;
    };
    std::vector<Site> sites;
    sites.push_back(site(load_, AccessKind::load, Space::global,
                         is_async_ ? CacheOperator::async_cg : CacheOperator::none));
    sites.push_back(site(store_, AccessKind::store, Space::shared,
                         is_async_ ? CacheOperator::async_cg : CacheOperator::none));
    sites.back().depends_on = {load_};
    sites.push_back(site(barrier_, AccessKind::barrier, Space::generic, CacheOperator::none));
    if (array_.stores != 0) {
      sites.push_back(site(load_back_, AccessKind::load, Space::shared, CacheOperator::none));
      sites.push_back(site(store_back_, AccessKind::store, Space::global, CacheOperator::none));
      sites.back().depends_on = {load_back_};
      sites.push_back(site(barrier_back_, AccessKind::barrier, Space::generic, CacheOperator::none));
      for (std::size_t i = 3; i < sites.size(); ++i)
        sites[i].expression = fmt::format("copy of {} back from shared memory", array_.name);
    }
    return sites;
  }

  void begin(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    each_chunk(block, warp, [&](const trace::WarpAccess& in_memory, const trace::WarpAccess& in_shared) {
      put(in_memory, load_, AccessKind::load, emit);
      put(in_shared, store_, AccessKind::store, emit);
    });
    put_barrier(warp, threads_, barrier_, emit);
  }
  void end(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    if (array_.stores == 0)
      return;
    put_barrier(warp, threads_, barrier_back_, emit);
    each_chunk(block, warp, [&](const trace::WarpAccess& in_memory, const trace::WarpAccess& in_shared) {
      put(in_shared, load_back_, AccessKind::load, emit);
      put(in_memory, store_back_, AccessKind::store, emit);
    });
  }

private:
  const std::vector<std::uint64_t>* lines_of(std::uint64_t block) const {
    const auto found = array_.of_block.find(block);
    return found == array_.of_block.end() ? nullptr : &found->second.lines;
  }
  std::uint64_t bytes_of(std::uint64_t block) const {
    if (part_ == SharedPart::whole)
      return array_.bytes;
    const auto* const lines = lines_of(block);
    return lines == nullptr ? 0 : lines->size() * line_bytes;
  }
  /// Returns the address in device memory of a byte of the block's copy.
  std::uint64_t source_of(std::uint64_t block, std::uint64_t byte) const {
    if (part_ == SharedPart::whole)
      return array_.base + byte;
    return (*lines_of(block))[byte / line_bytes] * line_bytes + byte % line_bytes;
  }
  std::uint64_t offset_of(std::uint64_t block, std::uint64_t address) const {
    if (part_ == SharedPart::whole)
      return offset_ + (address - array_.base);
    const auto* const lines = lines_of(block);
    if (lines == nullptr)
      return offset_;
    const auto at = std::ranges::lower_bound(*lines, address / line_bytes) - lines->begin();
    return offset_ + std::uint64_t(at) * line_bytes + address % line_bytes;
  }

  template <class Visit> void each_chunk(std::uint64_t block, std::uint32_t warp, Visit&& visit) const {
    const std::uint64_t bytes = bytes_of(block);
    const std::uint32_t warps = (threads_ + warp_lanes - 1) / warp_lanes;
    constexpr std::uint64_t of_warp = copy_bytes * warp_lanes;
    for (std::uint64_t chunk = warp; chunk * of_warp < bytes; chunk += warps) {
      trace::WarpAccess in_memory, in_shared;
      in_memory.bytes = in_shared.bytes = copy_bytes;
      in_memory.space = Space::global;
      in_shared.space = Space::shared;
      for (std::uint32_t lane = 0; lane < lanes_of(warp, threads_); ++lane) {
        const std::uint64_t byte = chunk * of_warp + lane * copy_bytes;
        if (byte >= bytes)
          break;
        in_memory.active |= 1u << lane;
        in_memory.addresses[lane] = source_of(block, byte);
        in_shared.addresses[lane] = offset_ + byte;
      }
      in_shared.active = in_memory.active;
      visit(in_memory, in_shared);
    }
  }
  static void put(trace::WarpAccess access, std::uint64_t site, AccessKind kind, const Emit& emit) {
    access.site = site;
    access.kind = kind;
    if (access.active != 0)
      emit(access);
  }

  const Array& array_;
  std::uint64_t offset_;
  SharedPart part_;
  std::uint32_t threads_;
  bool is_async_;
  const Site& first_;
  std::uint64_t load_, store_, barrier_, load_back_, store_back_, barrier_back_; ///< Site::id
};

} // namespace

Planned to_shared(const Array& array, std::uint32_t index, const Move& move, ChangeContext& context) {
  const auto refuse = [&](std::uint32_t site, std::string text) {
    return Planned{nullptr, {context.because(site, std::move(text))}};
  };
  if (array.space != Space::global)
    return refuse(array.first_access, "it is not in global memory");
  if (array.first_atomic != no_site)
    return refuse(array.first_atomic, "blocks share it by atomics");
  if (array.is_cuda_array)
    return refuse(array.first_access, "its texels lie in blocks");
  if (array.first_store != no_site && is_stored_for_others(array))
    return refuse(array.first_store, "a block stores to lines of 128 bytes that others access as well");
  std::uint64_t bytes = move.part == SharedPart::whole ? array.bytes : 0;
  bool too_many = false;
  if (move.part == SharedPart::touched)
    for (const auto& [block, use] : array.of_block) {
      bytes = std::max<std::uint64_t>(bytes, use.lines.size() * line_bytes);
      too_many |= use.has_too_many_lines;
    }
  const std::uint64_t taken =
      std::uint64_t{context.launch.static_shared_bytes} + context.launch.dynamic_shared_bytes;
  const std::uint64_t offset = round_up(taken, alignment);
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
  return {std::make_unique<ToShared>(array, index, offset, move.part, context), {}};
}

} // namespace warplens::placement
