#include "model/snapshot/access_coalescer.h"

#include "support/display_name.h"

#include <algorithm>
#include <bit>

namespace warplens::model {
namespace {

/// Returns the first cache of loads from global memory with this operator.
FirstCache first_cache(CacheOperator cache, const LaneRules& rules) {
  if (cache == CacheOperator::nc && rules.own_read_only_cache)
    return FirstCache::read_only;
  if (cache == CacheOperator::tex && rules.texture_cache != TextureCache::l1)
    return rules.texture_cache == TextureCache::own ? FirstCache::texture : FirstCache::read_only;
  return FirstCache::l1;
}

std::uint8_t one_byte(unsigned count) {
  return std::uint8_t(std::min(count, 255u));
}

} // namespace

Expected<std::uint32_t> PageNumbers::line_number(std::uint64_t line, const trace::Launch& launch) {
  const std::uint64_t page = line >> page_shift;
  if (page != last_page_) {
    const auto [found, fresh] = numbers_.emplace(page, std::uint32_t(numbers_.size()));
    if (numbers_.size() > max_pages)
      return fail("kernel '{}' touches more than {} pages of 2 MiB, which is more than can be modelled",
                  display_name(launch.kernel), max_pages);
    last_page_ = page;
    last_number_ = found->second;
  }
  return last_number_ << page_shift | std::uint32_t(line & ((1u << page_shift) - 1));
}

PageNumbers::InOrder PageNumbers::finish() const {
  InOrder in_order;
  for (const auto& [page, number] : numbers_)
    in_order.pages.push_back(page);
  std::ranges::sort(in_order.pages);
  in_order.renumbered.resize(in_order.pages.size());
  for (std::uint32_t i = 0; i < in_order.pages.size(); ++i)
    in_order.renumbered[numbers_.at(in_order.pages[i])] = i;
  return in_order;
}

Expected<std::uint32_t> ByteMasks::index_of(const Coalesced::Line& written, const trace::Launch& launch) {
  const unsigned sectors = written.sectors();
  ByteMask whole{};
  for (unsigned sector = 0; sector < sectors_per_line; ++sector)
    if (sectors >> sector & 1)
      whole[sector / 2] |= std::uint64_t{0xffff'ffff} << sector % 2 * sector_bytes;
  const ByteMask mask{written.bytes[0], written.bytes[1]};
  if (mask == whole)
    return 0u;
  const auto [found, fresh] = indices_.emplace(mask, std::uint32_t(masks_.size()));
  if (fresh)
    masks_.push_back(mask);
  if (masks_.size() > max_byte_masks)
    return fail("kernel '{}' writes parts of lines in more than {} ways, which is more than can be modelled",
                display_name(launch.kernel), max_byte_masks);
  return found->second;
}

Expected<Access> AccessCoalescer::coalesce(const trace::WarpAccess& access, std::uint32_t site, Warp& warp,
                                           SiteSummary& summary) {
  Access entry;
  entry.site = site;
  entry.kind = access.kind;
  entry.is_awaited = access.kind == AccessKind::load || access.kind == AccessKind::update ||
                     (access.kind == AccessKind::atomic && !sites_[site].is_reduction);
  summary.adds_floats = sites_[site].is_floating;
  if (access.space == Space::shared) {
    const BankWavefronts banks = bank_wavefronts(access, rules_);
    ++summary.shared;
    summary.bank_wavefronts += banks.count;
    summary.min_bank_wavefronts += banks.min;
    entry.cache = FirstCache::shared;
    entry.is_uniform = is_uniform(access);
    entry.passes = one_byte(banks.count);
    return entry;
  }
  const Coalesced touched = model::coalesce(access, rules_);
  summary.sectors += touched.sectors();
  summary.bytes_used += touched.distinct_bytes();
  const std::size_t before = warp.transactions.size();
  if (access.space == Space::constant) {
    TRY(put_constant(access, entry, warp, summary));
  } else {
    ++summary.cached;
    choose_cache(access, sites_[site].cache_operator, entry);
    TRY(put_transactions(warp, touched, access));
  }
  entry.transactions = std::uint8_t(warp.transactions.size() - before);
  if (accesses_ != Accesses::cached)
    entry.passes = passes(access, entry);
  return entry;
}

/// Appends one transaction for each address.
Expected<void> AccessCoalescer::put_constant(const trace::WarpAccess& access, Access& entry, Warp& warp,
                                             SiteSummary& summary) {
  ++summary.constant;
  entry.kind = AccessKind::load;
  entry.cache = FirstCache::constant;
  entry.skips_l1 = true;
  trace::WarpAccess request;
  request.active = 1;
  request.bytes = access.bytes;
  for (const std::uint64_t address : distinct_addresses(access)) {
    ++summary.constant_requests;
    request.addresses[0] = address;
    TRY(put_transactions(warp, model::coalesce(request, rules_), request));
  }
  return {};
}

void AccessCoalescer::choose_cache(const trace::WarpAccess& access, CacheOperator cache, Access& entry) {
  entry.skips_l1 = access.kind == AccessKind::atomic || cache == CacheOperator::cg ||
                   cache == CacheOperator::cv || (cache == CacheOperator::async_cg && access.bytes == 16);
  if (access.space == Space::local) {
    entry.cache = FirstCache::l1_local;
    entry.skips_l1 = false;
    stores_local_ |= access.kind != AccessKind::load;
  } else if (const FirstCache first = first_cache(cache, rules_);
             access.kind == AccessKind::load && first != FirstCache::l1) {
    entry.cache = first;
    entry.skips_l1 = true;
    (entry.cache == FirstCache::texture ? reads_textures_ : reads_read_only_) = true;
  } else if (!rules_.global_loads_in_l1 && cache != CacheOperator::ca && cache != CacheOperator::tex) {
    entry.skips_l1 = true;
  }
}

Expected<void> AccessCoalescer::put_transactions(Warp& warp, const Coalesced& touched,
                                                 const trace::WarpAccess& access) {
  for (unsigned i = 0; i < touched.count; ++i) {
    TRY_LET(line, pages_.line_number(touched.lines[i].line, launch_));
    std::uint32_t mask = 0;
    if (access.kind == AccessKind::store || access.kind == AccessKind::update) {
      TRY_LET(known_mask, masks_.index_of(touched.lines[i], launch_));
      mask = *known_mask;
    } else if (access.kind == AccessKind::atomic) {
      mask = atomics_in_turn(access, touched.lines[i].line, touched.lines[i].sectors());
    }
    warp.transactions.push_back({*line, touched.lines[i].sectors(), mask});
  }
  return {};
}

/// Returns how often the access passes the SM's memory pipeline: once for each row of the banks in which the
/// L1 keeps its data, as those of shared memory, and for each group of tags, whichever is more.
std::uint8_t AccessCoalescer::passes(const trace::WarpAccess& access, const Access& entry) const {
  const auto in_groups = [](unsigned count, unsigned of) { return (count + of - 1) / of; };
  if (entry.cache == FirstCache::constant)
    return one_byte(entry.transactions);
  // The texture units serve fetches and, where the read-only cache is theirs (Kepler), the loads through it.
  if (sites_[entry.site].cache_operator == CacheOperator::tex ||
      (entry.cache == FirstCache::read_only && rules_.texture_cache == TextureCache::read_only))
    return one_byte(in_groups(unsigned(std::popcount(access.active)), rules_.texture_lanes));
  const unsigned tag_passes = in_groups(entry.transactions, rules_.tags_per_pass);
  if (access.kind == AccessKind::atomic)
    return one_byte(tag_passes);
  const unsigned wavefronts =
      access.space == Space::local ? in_groups(access.bytes, 4) : bank_wavefronts(access, rules_).count;
  return one_byte(std::max(wavefronts, tag_passes));
}

PageNumbers::InOrder AccessCoalescer::finish(Snapshot& snapshot) && {
  PageNumbers::InOrder in_order = pages_.finish();
  snapshot.pages = in_order.pages;
  snapshot.byte_masks = masks_.take();
  snapshot.stores_local = stores_local_;
  snapshot.reads_read_only = reads_read_only_;
  snapshot.reads_textures = reads_textures_;
  return in_order;
}

} // namespace warplens::model
