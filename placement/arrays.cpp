#include "placement/arrays.h"

#include "placement/row_length.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <set>

namespace warplens::placement {
namespace {

/// No block's shared memory holds as many lines: 228 KiB are the most that an SM has.
constexpr std::size_t max_lines_of_block = 228 * 1024 / line_bytes;
constexpr std::uint32_t no_allocation = ~0u;

template <class Visit> void each_lane(const trace::WarpAccess& access, Visit&& visit) {
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1)
    visit(access.addresses[unsigned(std::countr_zero(lanes))]);
}

/// The allocations by address. Memory may have been freed and allocated again: later allocations count.
class AllocationMap {
public:
  explicit AllocationMap(const std::vector<trace::Allocation>& all) {
    for (std::uint32_t i = std::uint32_t(all.size()); i-- > 0;) {
      const std::uint64_t begin = all[i].address, end = begin + all[i].bytes;
      const auto next = by_end_.upper_bound(begin);
      if (all[i].bytes != 0 && end > begin && (next == by_end_.end() || all[next->second].address >= end))
        by_end_.emplace(end, i);
    }
    all_ = &all;
  }
  std::uint32_t of(std::uint64_t address) const {
    const auto found = by_end_.upper_bound(address);
    return found != by_end_.end() && (*all_)[found->second].address <= address ? found->second
                                                                               : no_allocation;
  }

private:
  std::map<std::uint64_t, std::uint32_t> by_end_;
  const std::vector<trace::Allocation>* all_ = nullptr;
};

/// An array while its accesses are read: those by one name in one memory or allocation.
struct Gathered {
  Array array;
  std::map<std::uint32_t, std::uint64_t> widths; ///< of elements, by accesses
  RowLength row;
  std::set<std::uint32_t> sites;
  std::uint32_t allocation = no_allocation;
};

/// Inserts into an ascending list; accesses come mostly in ascending order.
void insert(std::vector<std::uint64_t>& lines, std::uint64_t line) {
  if (lines.empty() || lines.back() < line) {
    lines.push_back(line);
    return;
  }
  const auto at = std::ranges::lower_bound(lines, line);
  if (*at != line)
    lines.insert(at, line);
}

/// Returns the entry of a line in an ascending list, a new one where there is none.
StoredLine& stored_line(std::vector<StoredLine>& lines, std::uint64_t line) {
  if (lines.empty() || lines.back().line < line)
    return lines.emplace_back(StoredLine{line, {}});
  const auto at = std::ranges::lower_bound(lines, line, {}, &StoredLine::line);
  return at->line == line ? *at : *lines.insert(at, StoredLine{line, {}});
}

void merge(Gathered& into, Gathered&& from) {
  Array& a = into.array;
  Array& b = from.array;
  if (b.loads + b.stores + b.atomics > a.loads + a.stores + a.atomics)
    std::swap(a.name, b.name);
  a.touched.cover(b.touched.begin, b.touched.end);
  a.loads += b.loads;
  a.stores += b.stores;
  a.atomics += b.atomics;
  a.lane_bytes += b.lane_bytes;
  a.is_read_only_load |= b.is_read_only_load;
  a.is_fetched |= b.is_fetched;
  a.first_access = std::min(a.first_access, b.first_access);
  a.first_store = std::min(a.first_store, b.first_store);
  a.first_atomic = std::min(a.first_atomic, b.first_atomic);
  for (const auto& [stride, count] : b.lane_strides)
    a.lane_strides[stride] += count;
  a.whole_warps += b.whole_warps;
  into.sites.merge(from.sites);
  for (const auto& [width, count] : from.widths)
    into.widths[width] += count;
  into.row.merge(from.row);
  for (auto& [block, use] : b.block_uses) {
    BlockUse& of = a.block_uses[block];
    std::vector<std::uint64_t> lines;
    std::ranges::set_union(of.lines, use.lines, std::back_inserter(lines));
    of.lines = std::move(lines);
    for (const StoredLine& stored : use.stored_lines) {
      StoredLine& line = stored_line(of.stored_lines, stored.line);
      line.bytes[0] |= stored.bytes[0];
      line.bytes[1] |= stored.bytes[1];
    }
    of.has_too_many_lines |= use.has_too_many_lines || of.lines.size() > max_lines_of_block;
    of.stored.cover(use.stored.begin, use.stored.end);
  }
}

/// Notes the distance between neighbouring lanes, if it is the same for all.
void note_lane_stride(Array& array, const trace::WarpAccess& access) {
  if (access.active != ~0u)
    return;
  ++array.whole_warps;
  const auto distance = [&](unsigned lane) {
    return std::int64_t(access.addresses[lane + 1] - access.addresses[lane]);
  };
  for (unsigned lane = 1; lane + 1 < warp_lanes; ++lane)
    if (distance(lane) != distance(0))
      return;
  if (array.lane_strides.size() < 64 || array.lane_strides.contains(distance(0)))
    ++array.lane_strides[distance(0)];
}

class Gatherer {
public:
  Gatherer(const trace::AccessSource& trace, const trace::Launch& launch)
      : threads_(launch.block), sites_(trace.sites()), allocations_(trace.allocations()),
        map_(trace.allocations()) {
    for (std::uint32_t i = 0; i < sites_.size(); ++i)
      site_index_.emplace(sites_[i].id, i);
  }

  void add(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
    if (!is_access(access.kind) || access.active == 0 || access.bytes == 0 || access.space == Space::local)
      return;
    const auto known = site_index_.find(access.site);
    if (known == site_index_.end())
      return;
    const std::uint64_t first = access.addresses[unsigned(std::countr_zero(access.active))];
    const bool in_device_memory = access.space == Space::global || access.space == Space::generic;
    const std::uint32_t allocation = in_device_memory ? map_.of(first) : no_allocation;
    Gathered& of = gathered(known->second, in_device_memory ? Space::global : access.space, allocation);
    note(of, known->second, access);
    note_lane_stride(of.array, access);
    each_lane(access,
              [&](std::uint64_t address) { of.array.touched.cover(address, address + access.bytes); });
    if (in_device_memory)
      note_block(of.array.block_uses[block], access);
    of.row.note(block, warp, known->second, sites_[known->second].sequence, access, threads_);
  }

  std::vector<Gathered> finish() && {
    std::vector<Gathered> result;
    for (auto& [key, one] : gathered_)
      result.push_back(std::move(one));
    std::ranges::sort(result, {}, [](const Gathered& one) {
      return std::tuple(one.array.space, one.array.touched.begin, one.array.name);
    });
    std::vector<Gathered> merged;
    for (Gathered& one : result) {
      const bool overlaps = !merged.empty() && one.array.space == Space::global &&
                            merged.back().array.space == Space::global &&
                            merged.back().array.touched.overlaps(one.array.touched);
      if (overlaps)
        merge(merged.back(), std::move(one));
      else
        merged.push_back(std::move(one));
    }
    for (Gathered& one : merged)
      complete(one, merged);
    return merged;
  }

private:
  using Key = std::tuple<Space, std::uint32_t, std::string>;

  Gathered& gathered(std::uint32_t site, Space space, std::uint32_t allocation) {
    const std::uint64_t cached = (std::uint64_t{site} << 32 | allocation) * 8 + unsigned(space);
    if (const auto found = cache_.find(cached); found != cache_.end())
      return *found->second;
    Gathered& of = gathered_[Key(space, allocation, sites_[site].object)];
    of.array.name = sites_[site].object;
    of.array.space = space;
    of.allocation = allocation;
    cache_.emplace(cached, &of);
    return of;
  }

  void note(Gathered& of, std::uint32_t site, const trace::WarpAccess& access) const {
    Array& array = of.array;
    const bool loads = access.kind == AccessKind::load || access.kind == AccessKind::update;
    const bool stores = access.kind == AccessKind::store || access.kind == AccessKind::update;
    array.loads += loads;
    array.stores += stores;
    array.atomics += access.kind == AccessKind::atomic;
    array.lane_bytes += std::uint64_t{access.bytes} * unsigned(std::popcount(access.active));
    array.first_access = std::min(array.first_access, site);
    if (stores)
      array.first_store = std::min(array.first_store, site);
    if (access.kind == AccessKind::atomic)
      array.first_atomic = std::min(array.first_atomic, site);
    array.is_read_only_load |= sites_[site].cache_operator == CacheOperator::nc;
    array.is_fetched |= sites_[site].cache_operator == CacheOperator::tex;
    of.sites.insert(site);
    // A site in a template is that of all instantiations, and has the size of one of them.
    const bool is_known = sites_[site].element_bytes != 0 && !sites_[site].in_template;
    ++of.widths[is_known ? sites_[site].element_bytes : access.bytes];
  }

  static void note_block(BlockUse& use, const trace::WarpAccess& access) {
    const bool writes = access.kind != AccessKind::load;
    each_lane(access, [&](std::uint64_t address) {
      const std::uint64_t behind = address + access.bytes;
      if (writes)
        use.stored.cover(address, behind);
      if (use.has_too_many_lines)
        return;
      for (std::uint64_t line = address / line_bytes; line <= (behind - 1) / line_bytes; ++line) {
        insert(use.lines, line);
        if (!writes)
          continue;
        StoredLine& stored = stored_line(use.stored_lines, line);
        const std::uint64_t first = std::max(address, line * line_bytes);
        for (std::uint64_t byte = first; byte < std::min(behind, (line + 1) * line_bytes); ++byte)
          stored.bytes[byte % line_bytes / 64] |= std::uint64_t{1} << byte % 64;
      }
      if (use.lines.size() > max_lines_of_block) {
        use.has_too_many_lines = true;
        use.lines = {};
        use.stored_lines = {};
      }
    });
  }

  void complete(Gathered& one, const std::vector<Gathered>& all) const {
    Array& array = one.array;
    array.sites.assign(one.sites.begin(), one.sites.end());
    std::uint64_t most = 0;
    for (const auto& [width, count] : one.widths)
      if (count > most) {
        most = count;
        array.element_bytes = width;
      }
    array.row_bytes = one.row.bytes(array.element_bytes);
    array.base = array.touched.begin;
    array.bytes = array.touched.bytes();
    const auto arrays_in_allocation =
        std::ranges::count(all, one.allocation, [](const Gathered& other) { return other.allocation; });
    if (one.allocation != no_allocation) {
      const trace::Allocation& allocation = allocations_[one.allocation];
      array.is_cuda_array = allocation.label == "CUDA array";
      if (arrays_in_allocation == 1) {
        array.base = allocation.address;
        array.bytes = allocation.bytes;
      }
    }
    if (array.name.empty())
      array.name = fmt::format("{}@{:#x}", name_of(array.space), array.base);
  }

  trace::Dim3 threads_; ///< of a block
  const std::vector<Site>& sites_;
  const std::vector<trace::Allocation>& allocations_;
  AllocationMap map_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_index_;
  std::map<Key, Gathered> gathered_;
  std::unordered_map<std::uint64_t, Gathered*> cache_;
};

} // namespace

double Array::reuse_in_block() const {
  std::uint64_t lines = 0;
  for (const auto& [block, use] : block_uses) {
    if (use.has_too_many_lines)
      return 0;
    lines += use.lines.size();
  }
  return lines == 0 ? 0 : double(lane_bytes) / double(lines * line_bytes);
}

const StoredLine* BlockUse::stores_to(std::uint64_t line) const {
  const auto at = std::ranges::lower_bound(stored_lines, line, {}, &StoredLine::line);
  return at == stored_lines.end() || at->line != line ? nullptr : &*at;
}

Expected<Arrays> Arrays::find(const trace::AccessSource& trace, const trace::Launch& launch) {
  Gatherer gatherer(trace, launch);
  TRY(trace.for_each_access(launch.id,
                            [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
                              gatherer.add(block, warp, access);
                            }));
  Arrays arrays;
  std::map<std::string, unsigned> names;
  for (Gathered& one : std::move(gatherer).finish()) {
    const auto index = std::uint32_t(arrays.arrays_.size());
    if (one.array.space == Space::global)
      arrays.by_end_.emplace(one.array.touched.end, index);
    else
      for (const std::uint32_t site : one.sites)
        arrays.by_site_.emplace(trace.sites()[site].id, index);
    if (const unsigned before = names[one.array.name]++; before != 0) // arrays of one name, of other places
      one.array.name += fmt::format("#{}", before + 1);
    arrays.arrays_.push_back(std::move(one.array));
  }
  return arrays;
}

std::uint64_t Arrays::global_bytes() const {
  std::uint64_t bytes = 0;
  for (const Array& one : arrays_)
    bytes += one.space == Space::global ? one.touched.bytes() : 0;
  return bytes;
}

std::optional<std::uint32_t> Arrays::of(const trace::WarpAccess& access) const {
  if (!is_access(access.kind) || access.active == 0 || access.space == Space::local)
    return std::nullopt;
  if (access.space == Space::shared || access.space == Space::constant) {
    const auto found = by_site_.find(access.site);
    return found == by_site_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto array_at = [&](std::uint64_t address) -> std::optional<std::uint32_t> {
    const auto found = by_end_.upper_bound(address);
    if (found == by_end_.end() || arrays_[found->second].touched.begin > address)
      return std::nullopt;
    return found->second;
  };
  const std::optional<std::uint32_t> first =
      array_at(access.addresses[unsigned(std::countr_zero(access.active))]);
  if (!first)
    return std::nullopt;
  const AddressRange& range = arrays_[*first].touched;
  bool all = true;
  each_lane(access, [&](std::uint64_t address) { all &= address >= range.begin && address < range.end; });
  return all ? first : std::nullopt;
}

Expected<std::uint32_t> Arrays::named(const std::string& name) const {
  std::string names;
  for (std::uint32_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].name == name)
      return i;
    names += (names.empty() ? "" : ", ") + arrays_[i].name;
  }
  return fail("the kernel has no array '{}'; it has {}", name, names.empty() ? "none" : names);
}

} // namespace warplens::placement
