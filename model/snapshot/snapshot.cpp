#include "model/snapshot/snapshot.h"

#include "support/display_name.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace warplens::model {
namespace {

/// CUDA's limits are 1024 threads per block and fewer than 2^63 blocks per grid; a snapshot of 2^58 blocks
/// exists in no file.
constexpr std::uint32_t max_warps_per_block = 32;
constexpr std::uint64_t max_blocks = std::uint64_t{1} << 58;

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

/// Counts the sectors of lines that a snapshot touches, and those that it stores.
class StoredSectors {
public:
  void touch(std::uint32_t line, unsigned stored) {
    std::uint8_t& state = line < lines_.size() ? lines_[line] : grown(line);
    touched_ += state == 0;
    stored_ += sector_count(stored & ~state);
    state |= std::uint8_t(touched | stored);
  }
  std::uint64_t lines() const { return touched_; }
  double share() const { return touched_ == 0 ? 0 : double(stored_) / (double(touched_) * sectors_per_line); }

private:
  static constexpr unsigned touched = 1u << sectors_per_line;
  std::uint8_t& grown(std::uint32_t line) {
    lines_.resize((std::size_t(line >> page_shift) + 1) << page_shift);
    return lines_[line];
  }
  std::vector<std::uint8_t> lines_; ///< the stored sectors, and `touched`
  std::uint64_t touched_ = 0, stored_ = 0;
};

} // namespace

SnapshotBuilder::SnapshotBuilder(const std::vector<Site>& sites, const trace::Launch& launch,
                                 const LaneRules& rules, Accesses accesses)
    : trace_sites_(sites), launch_(launch), rules_(rules), accesses_(accesses), depends_on_(sites.size()),
      summaries_(sites.size()), patterns_(sites.size()) {
  masks_.push_back({~std::uint64_t{0}, ~std::uint64_t{0}});
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    site_index_.emplace(sites[i].id, i);
    summaries_[i].site = i;
  }
  for (std::uint32_t i = 0; i < sites.size(); ++i)
    for (const std::uint64_t id : sites[i].depends_on)
      if (const auto found = site_index_.find(id); found != site_index_.end())
        depends_on_[i].push_back(found->second);
}

SnapshotBuilder::Stream& SnapshotBuilder::stream_of(std::uint64_t block, std::uint32_t warp) {
  const std::uint64_t key = (block - launch_.first_block) * max_warps_per_block + warp;
  if (key == last_stream_key_)
    return streams_[last_stream_];
  const auto [found, fresh] = stream_index_.emplace(key, std::uint32_t(streams_.size()));
  if (fresh) {
    streams_.emplace_back();
    streams_.back().warp.block = block;
    streams_.back().warp.warp = warp;
  }
  last_stream_key_ = key;
  last_stream_ = found->second;
  return streams_[last_stream_];
}

bool SnapshotBuilder::starts_bulk(const Stream& stream, std::uint32_t site) const {
  if (stream.bulk.empty())
    return true;
  if (trace_sites_[stream.bulk.back()].sequence != trace_sites_[site].sequence)
    return true;
  for (const std::uint32_t earlier : stream.bulk) {
    if (earlier == site)
      return true; // the next iteration of a loop
    // What a store's address needs has ended the sequence; while the store waits for its value, loads behind
    // it are sent.
    if (trace_sites_[site].kind == AccessKind::load || trace_sites_[site].kind == AccessKind::update)
      for (const std::uint32_t needed : depends_on_[site])
        if (earlier == needed)
          return true;
  }
  return false;
}

/// Determines the bulk of the warp's next access, which is at this site.
///
/// Within an iteration an access comes into a later bulk than those that it depends on. The others are in
/// order, but that the compiler sends loads of a sequence before stores of it that wait for their values, if
/// these are to another memory space and so cannot change what is loaded:
///
///     tile[t] = a[i]; tile[u] = b[i];  trace: a tile b tile  bulks: a b | tile tile
///
/// The bulks of up to Site::copies iterations are merged, the first of each, the second of each and so on:
/// with 2 copies
///
///     for (…) s += a[b[i]];  trace: b0 a0 b1 a1 b2 a2 …  bulks: b0 b1 | a0 a1 | b2 b3 | a2 a3 | …
///
/// So a further access of a site joins the bulk of the access before at this site, or a later one if it
/// depends on an access there. A window ends where a site has as many accesses in it as it has copies, and
/// where the code goes on in another sequence for another reason than a dependence (a barrier, another loop,
/// a function): accesses are not moved across these. A barrier is a window of its own.
void SnapshotBuilder::put_into_window(Stream& stream, std::uint32_t site,
                                      const trace::WarpAccess& access) const {
  Window& window = stream.window;
  const auto seen_at = [&](std::uint32_t other) {
    return std::ranges::find(window.sites, other, &Window::Seen::site);
  };
  const std::uint32_t sequence = trace_sites_[site].sequence;
  bool other_sequence = !window.bulks.empty() && sequence != window.last_sequence;
  auto seen = seen_at(site);
  std::uint32_t after_needed = 0; // 0: it needs no access of the window
  for (const std::uint32_t needed : depends_on_[site])
    if (const auto found = seen_at(needed); found != window.sites.end())
      after_needed = std::max(after_needed, found->bulk + 1);
  if (seen != window.sites.end() ? seen->accesses >= trace_sites_[site].copies
                                 : other_sequence && after_needed == 0) {
    close_window(stream);
    seen = window.sites.end();
    after_needed = 0;
    other_sequence = false;
  }
  std::uint32_t& stored = window.stored_bulk[std::size_t(access.space)];
  if (seen == window.sites.end()) {
    const std::uint32_t in_order =
        access.kind == AccessKind::load ? std::max(window.sequence_bulk, stored) : window.last_bulk;
    window.sites.push_back({site, 1, std::max(in_order, after_needed)});
    seen = window.sites.end() - 1;
  } else {
    ++seen->accesses;
    seen->bulk = std::max(seen->bulk, after_needed);
  }
  if (other_sequence)
    window.sequence_bulk = seen->bulk;
  if (access.kind != AccessKind::load)
    stored = std::max(stored, seen->bulk);
  window.bulks.push_back(seen->bulk);
  window.last_bulk = std::max(window.last_bulk, seen->bulk);
  window.last_sequence = sequence;
}

/// Orders the window's accesses by bulk, within a bulk as they are, and begins an empty window.
void SnapshotBuilder::close_window(Stream& stream) {
  Window& window = stream.window;
  Warp& warp = stream.warp;
  const std::span<Access> accesses = std::span(warp.accesses).subspan(window.first_access);
  if (!std::ranges::is_sorted(window.bulks)) {
    const std::vector<Access> old(accesses.begin(), accesses.end());
    const std::vector<Transaction> old_transactions(
        warp.transactions.begin() + std::ptrdiff_t(window.first_transaction), warp.transactions.end());
    std::vector<std::uint32_t> order(old.size()), first(old.size());
    for (std::uint32_t i = 0, transaction = 0; i < old.size(); transaction += old[i++].transactions) {
      order[i] = i;
      first[i] = transaction;
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return window.bulks[i]; });
    auto to = warp.transactions.begin() + std::ptrdiff_t(window.first_transaction);
    for (std::size_t i = 0; i < order.size(); ++i) {
      accesses[i] = old[order[i]];
      to = std::copy_n(old_transactions.begin() + first[order[i]], accesses[i].transactions, to);
    }
    std::ranges::sort(window.bulks);
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    accesses[i].starts_bulk = i == 0 || window.bulks[i] != window.bulks[i - 1];
    warp.bulks += accesses[i].starts_bulk;
  }
  window.sites.clear();
  window.bulks.clear();
  window.last_bulk = window.sequence_bulk = 0;
  window.stored_bulk.fill(0);
  window.first_access = warp.accesses.size();
  window.first_transaction = warp.transactions.size();
}

Expected<std::uint32_t> SnapshotBuilder::line_id(std::uint64_t line) {
  const std::uint64_t page = line >> page_shift;
  if (page != last_page_) {
    const auto [found, fresh] = page_ids_.emplace(page, std::uint32_t(page_ids_.size()));
    if (page_ids_.size() > max_pages)
      return fail("kernel '{}' touches more than {} pages of 2 MiB, which is more than can be modelled",
                  display_name(launch_.kernel), max_pages);
    last_page_ = page;
    last_page_id_ = found->second;
  }
  return last_page_id_ << page_shift | std::uint32_t(line & ((1u << page_shift) - 1));
}

/// Returns 0 where all bytes of the touched sectors are written, which is nearly always so.
Expected<std::uint32_t> SnapshotBuilder::mask_of(const Coalesced::Line& written) {
  const unsigned sectors = written.sectors();
  ByteMask whole{};
  for (unsigned sector = 0; sector < sectors_per_line; ++sector)
    if (sectors >> sector & 1)
      whole[sector / 2] |= std::uint64_t{0xffff'ffff} << sector % 2 * sector_bytes;
  const ByteMask mask{written.bytes[0], written.bytes[1]};
  if (mask == whole)
    return 0u;
  const auto [found, fresh] = mask_index_.emplace(mask, std::uint32_t(masks_.size()));
  if (fresh)
    masks_.push_back(mask);
  if (masks_.size() > max_byte_masks)
    return fail("kernel '{}' writes parts of lines in more than {} ways, which is more than can be modelled",
                display_name(launch_.kernel), max_byte_masks);
  return found->second;
}

Expected<void> SnapshotBuilder::add(std::uint64_t block, std::uint32_t warp,
                                    const trace::WarpAccess& traced) {
  const auto refuse = [&](const std::string& what) {
    return fail("damaged trace: an access of kernel '{}', block {}, warp {} {}", display_name(launch_.kernel),
                block, warp, what);
  };
  if (block < launch_.first_block || block - launch_.first_block >= std::min(launch_.blocks, max_blocks))
    return refuse("is outside the launch's snapshot");
  if (warp >= max_warps_per_block || std::uint64_t{warp} * warp_lanes >= launch_.block.count())
    return refuse("is outside the block");
  if (is_access(traced.kind) && !has_possible_width(traced))
    return refuse(fmt::format("has {} bytes per lane", traced.bytes));
  if (traced.active == 0)
    return refuse("has no active lane");
  if (traced.kind > AccessKind::mark || traced.space > Space::constant)
    return refuse("is of no known kind or space");
  const auto known = site_index_.find(traced.site);
  if (known == site_index_.end())
    return refuse(fmt::format("names site {:#x}, which the trace does not describe", traced.site));

  const std::uint32_t site = known->second;
  if (site >= max_sites)
    return fail(
        "kernel '{}' accesses memory in the trace's site number {}; more than {} sites cannot be modelled",
        launch_.kernel, site, max_sites);
  if (traced.kind == AccessKind::mark) {
    if (accesses_ == Accesses::all_in_program_order)
      put_mark(stream_of(block, warp).warp, site, traced);
    return {};
  }
  if (traced.kind == AccessKind::barrier) {
    if (accesses_ != Accesses::of_caches)
      put_barrier(stream_of(block, warp), site, traced.active);
    return {};
  }
  SiteSummary& summary = summaries_[site];
  ++summary.executions;
  summary.active_lanes += unsigned(std::popcount(traced.active));
  summary.bytes = std::max<std::uint32_t>(summary.bytes, traced.bytes);
  summary.seen[unsigned(traced.space)] = true;
  if (traced.space != Space::local && trace_sites_[site].cache_operator != CacheOperator::tex)
    patterns_[site].add(traced);
  std::optional<trace::WarpAccess> aggregated;
  if (traced.kind == AccessKind::atomic) {
    aggregated = traced;
    aggregated->active = lanes_carried_out(traced, trace_sites_[site].aggregation, rules_);
  }
  const trace::WarpAccess& access = aggregated ? *aggregated : traced;

  Stream& stream = stream_of(block, warp);
  if (accesses_ == Accesses::all) {
    put_into_window(stream, site, access);
  } else {
    if (starts_bulk(stream, site)) {
      stream.bulk.clear();
      stream.bulk_ended = true;
    }
    stream.bulk.push_back(site);
  }

  Access entry;
  entry.site = site;
  entry.kind = access.kind;
  entry.active_lanes = std::uint8_t(std::popcount(traced.active)) & 63;
  entry.is_awaited = access.kind == AccessKind::load || access.kind == AccessKind::update ||
                     (access.kind == AccessKind::atomic && !trace_sites_[site].is_reduction);
  if (accesses_ == Accesses::all_in_program_order)
    entry.continues = continues_last(stream, site, access);
  if (access.space == Space::shared) {
    const BankWavefronts banks = bank_wavefronts(access, rules_);
    ++summary.shared;
    summary.bank_wavefronts += banks.count;
    summary.min_bank_wavefronts += banks.min;
    if (accesses_ == Accesses::of_caches)
      return {};
    entry.cache = FirstCache::shared;
    entry.is_uniform = is_uniform(access);
    entry.passes = one_byte(banks.count);
    put_access(stream, entry);
    return {};
  }
  const Coalesced touched = coalesce(access, rules_);
  summary.sectors += touched.sectors();
  summary.bytes_used += touched.distinct_bytes();
  const CacheOperator cache = trace_sites_[site].cache_operator;
  const std::size_t before = stream.warp.transactions.size();
  Expected<void> put;
  if (access.space == Space::constant) {
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
      if (put)
        put = put_transactions(stream.warp, coalesce(request, rules_), request);
    }
  } else {
    ++summary.cached;
    entry.skips_l1 = access.kind == AccessKind::atomic || cache == CacheOperator::cg ||
                     cache == CacheOperator::cv || (cache == CacheOperator::async_cg && access.bytes == 16);
    if (access.space == Space::local) {
      entry.cache = FirstCache::l1_local;
      stores_local_ |= access.kind != AccessKind::load;
    } else if (const FirstCache first = first_cache(cache, rules_);
               access.kind == AccessKind::load && first != FirstCache::l1) {
      entry.cache = first;
      entry.skips_l1 = true;
      (entry.cache == FirstCache::texture ? reads_textures_ : reads_read_only_) = true;
    } else if (!rules_.global_loads_in_l1 && cache != CacheOperator::ca && cache != CacheOperator::tex)
      entry.skips_l1 = true;
    put = put_transactions(stream.warp, touched, access);
  }
  entry.transactions = std::uint8_t(stream.warp.transactions.size() - before);
  if (accesses_ != Accesses::of_caches)
    entry.passes = passes(access, entry);
  put_access(stream, entry);
  return put;
}

/// Appends a warp's arrival at a barrier, with a window of its own: no access is moved across it, and the
/// warp arrives when the results of its earlier accesses are there. Lanes that arrive one after the other at
/// one barrier, as divergent lanes of a GPU do, are one arrival.
void SnapshotBuilder::put_barrier(Stream& stream, std::uint32_t site, std::uint32_t lanes) {
  SiteSummary& summary = summaries_[site];
  summary.active_lanes += unsigned(std::popcount(lanes));
  summary.seen[unsigned(Space::generic)] = true;
  const bool continues =
      stream.lanes_at_barrier != 0 && stream.barrier_site == site && (stream.lanes_at_barrier & lanes) == 0;
  stream.barrier_site = site;
  stream.lanes_at_barrier = continues ? stream.lanes_at_barrier | lanes : lanes;
  if (continues)
    return;
  ++summary.executions;
  ++summary.barriers;
  Access entry;
  entry.site = site;
  entry.active_lanes = std::uint8_t(std::popcount(lanes)) & 63;
  entry.kind = AccessKind::barrier;
  entry.is_awaited = false;
  if (accesses_ == Accesses::all_in_program_order) {
    stream.bulk.clear();
    stream.bulk_ended = true;
    put_access(stream, entry);
    stream.bulk_ended = true;
    return;
  }
  close_window(stream);
  stream.window.bulks.push_back(0);
  put_access(stream, entry);
  close_window(stream);
}

/// Returns whether the lanes access what lies behind that of the site's access before in this warp; it is the
/// last one from now on.
bool SnapshotBuilder::continues_last(Stream& stream, std::uint32_t site, const trace::WarpAccess& access) {
  if (site >= stream.last.size())
    stream.last.resize(site + 1);
  const LastLanes now{access.active, access.addresses[unsigned(std::countr_zero(access.active))],
                      access.addresses[warp_lanes - 1 - unsigned(std::countl_zero(access.active))]};
  const LastLanes before = std::exchange(stream.last[site], now);
  return before.active == now.active && before.first + access.bytes == now.first &&
         before.last + access.bytes == now.last;
}

/// Appends a mark, or adds it to the last one if that is the same: lanes that diverge execute a body apart.
void SnapshotBuilder::put_mark(Warp& warp, std::uint32_t site, const trace::WarpAccess& mark) {
  const std::uint64_t count = mark.addresses[unsigned(std::countr_zero(mark.active))];
  const auto before = std::uint32_t(warp.accesses.size());
  if (!warp.marks.empty() && warp.marks.back().before == before && warp.marks.back().site == site)
    warp.marks.back().count += count;
  else
    warp.marks.push_back({before, site, count});
}

/// Appends the access to its warp's.
void SnapshotBuilder::put_access(Stream& stream, Access access) const {
  if (accesses_ != Accesses::all) { // close_window() does this otherwise
    access.starts_bulk = std::exchange(stream.bulk_ended, false);
    stream.warp.bulks += access.starts_bulk;
  }
  stream.warp.accesses.push_back(access);
}

/// Returns how often the access passes the SM's memory pipeline: once for each row of the banks in which the
/// L1 keeps its data, as those of shared memory, and for each group of tags, whichever is more.
std::uint8_t SnapshotBuilder::passes(const trace::WarpAccess& access, const Access& entry) const {
  const auto in_groups = [](unsigned count, unsigned of) { return (count + of - 1) / of; };
  if (entry.cache == FirstCache::constant)
    return one_byte(entry.transactions);
  if (trace_sites_[entry.site].cache_operator == CacheOperator::tex)
    return one_byte(in_groups(unsigned(std::popcount(access.active)), rules_.texture_lanes));
  const unsigned of_tags = in_groups(entry.transactions, rules_.tags_per_pass);
  if (access.kind == AccessKind::atomic)
    return one_byte(of_tags);
  const unsigned of_banks =
      access.space == Space::local ? in_groups(access.bytes, 4) : bank_wavefronts(access, rules_).count;
  return one_byte(std::max(of_banks, of_tags));
}

Expected<void> SnapshotBuilder::put_transactions(Warp& warp, const Coalesced& touched,
                                                 const trace::WarpAccess& access) {
  for (unsigned i = 0; i < touched.count; ++i) {
    TRY_LET(line, line_id(touched.lines[i].line));
    std::uint32_t mask = 0;
    if (access.kind == AccessKind::store || access.kind == AccessKind::update) {
      TRY_LET(known_mask, mask_of(touched.lines[i]));
      mask = *known_mask;
    } else if (access.kind == AccessKind::atomic) {
      mask = atomics_in_turn(access, touched.lines[i].line, touched.lines[i].sectors());
    }
    warp.transactions.push_back({*line, touched.lines[i].sectors(), mask});
  }
  return {};
}

Snapshot SnapshotBuilder::finish(bool all_seen) && {
  for (Stream& stream : streams_)
    if (accesses_ == Accesses::all)
      close_window(stream);
  // Number the pages by address, so that the result does not depend on the order of the warps.
  std::vector<std::uint64_t> pages;
  for (const auto& [page, id] : page_ids_)
    pages.push_back(page);
  std::sort(pages.begin(), pages.end());
  std::vector<std::uint32_t> renumbered(pages.size());
  for (std::uint32_t i = 0; i < pages.size(); ++i)
    renumbered[page_ids_.at(pages[i])] = i;

  Snapshot snapshot;
  snapshot.pages = std::move(pages);
  snapshot.byte_masks = std::move(masks_);
  snapshot.stores_local = stores_local_;
  snapshot.reads_read_only = reads_read_only_;
  snapshot.reads_textures = reads_textures_;
  snapshot.whole_grid = launch_.first_block == 0 && launch_.blocks >= launch_.grid.count();
  std::vector<std::uint32_t> site_number(summaries_.size());
  for (const SiteSummary& summary : summaries_) {
    if (summary.executions == 0)
      continue;
    site_number[summary.site] = std::uint32_t(snapshot.sites.size());
    snapshot.sites.push_back(summary);
    snapshot.sites.back().lanes = patterns_[summary.site].counts();
    snapshot.warp_accesses += summary.executions - summary.barriers;
    snapshot.has_barriers |= summary.barriers != 0;
    snapshot.reads_constants |= summary.constant != 0;
  }

  std::sort(streams_.begin(), streams_.end(), [](const Stream& a, const Stream& b) {
    return std::pair(a.warp.block, a.warp.warp) < std::pair(b.warp.block, b.warp.warp);
  });
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Warp& warp = streams_[i].warp;
    if (i == 0 || streams_[i - 1].warp.block != warp.block)
      ++snapshot.blocks_seen;
    if (warp.accesses.empty())
      continue;
    for (Access& access : warp.accesses)
      access.site = site_number[access.site];
    for (Transaction& transaction : warp.transactions)
      transaction.line = renumbered[transaction.line >> page_shift] << page_shift |
                         (transaction.line & ((1u << page_shift) - 1));
    warp.accesses.shrink_to_fit();
    warp.transactions.shrink_to_fit();
    snapshot.transactions += warp.transactions.size();
    if (snapshot.blocks.empty() || snapshot.blocks.back().id != warp.block)
      snapshot.blocks.push_back({warp.block, std::uint32_t(snapshot.warps.size()), 0});
    ++snapshot.blocks.back().warps;
    snapshot.warps.push_back(std::move(warp));
  }
  if (all_seen)
    snapshot.blocks_seen = launch_.blocks;
  if (!snapshot.whole_grid && snapshot.blocks_seen != 0)
    snapshot.further_blocks = (double(launch_.grid.count()) - double(snapshot.blocks_seen)) *
                              double(snapshot.blocks.size()) / double(snapshot.blocks_seen);
  finalize(snapshot);
  return snapshot;
}

void finalize(Snapshot& snapshot) {
  for (SiteSummary& site : snapshot.sites)
    site.l1_lines = site.l1_sectors = 0;
  snapshot.longest_bulk = 0;
  StoredSectors stored;
  for (const Warp& warp : snapshot.warps) {
    std::uint64_t of_bulk = 0;
    warp.each_access([&](const Access& access, std::span<const Transaction> transactions) {
      of_bulk = access.starts_bulk ? 1 : of_bulk + 1;
      snapshot.longest_bulk = std::max(snapshot.longest_bulk, of_bulk);
      if (!snapshot.whole_grid)
        for (const Transaction& transaction : transactions)
          stored.touch(transaction.line, access.kind == AccessKind::load ? 0 : transaction.sectors);
      if (!access.loads_in_l1())
        return;
      SiteSummary& site = snapshot.sites[access.site];
      site.l1_lines += transactions.size();
      for (const Transaction& transaction : transactions)
        site.l1_sectors += sector_count(transaction.sectors);
    });
  }
  snapshot.lines_touched = stored.lines();
  snapshot.stored_share = stored.share();
}

Expected<Snapshot> decode(const trace::AccessSource& trace, const trace::Launch& launch, std::uint64_t blocks,
                          const LaneRules& rules, Accesses accesses) {
  trace::Launch part = launch;
  part.blocks = std::min(launch.blocks, blocks);
  SnapshotBuilder builder(trace.sites(), part, rules, accesses);
  Expected<void> first_failure;
  TRY_LET(read, trace.for_each_access(
                    launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
                      const std::uint64_t number = block - launch.first_block;
                      const bool skipped = number >= part.blocks && number < launch.blocks;
                      if (first_failure && !skipped)
                        first_failure = builder.add(block, warp, access);
                    }));
  if (!first_failure)
    return tl::unexpected(first_failure.error());
  const auto end = trace.end_of(launch.id);
  return std::move(builder).finish(end && end->complete && (end->blocks == 0 || part.blocks <= end->blocks));
}

} // namespace warplens::model
