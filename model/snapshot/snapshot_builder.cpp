#include "model/snapshot/snapshot_builder.h"

#include "model/snapshot/scaled.h"
#include "trace/executed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace warplens::model {

SnapshotBuilder::SnapshotBuilder(const std::vector<Site>& sites, const trace::Launch& launch,
                                 BlockWindows windows, const LaneRules& rules, Accesses accesses)
    : sites_(sites), launch_(launch), windows_(std::move(windows)), rules_(rules), accesses_(accesses),
      site_index_(index_of(sites)), coalescer_(sites, launch_, rules, accesses),
      order_(sites, site_index_, accesses), summaries_(sites.size()), patterns_(sites.size()),
      typical_(sites.size()), measured_(sites.size()), left_out_(sites.size()),
      left_out_executions_(sites.size()) {
  if (windows_.empty())
    windows_ = {{launch.first_block, launch.blocks, launch.grid.count()}};
  for (std::uint32_t i = 0; i < sites.size(); ++i)
    summaries_[i].site = i;
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

/// Returns whether the launch has the block, and the snapshot has not.
bool SnapshotBuilder::is_outside(std::uint64_t block) const {
  const auto after = std::ranges::upper_bound(windows_, block, {}, &trace::BlockWindow::first);
  const bool is_inside =
      after != windows_.begin() && block - std::prev(after)->first < std::prev(after)->blocks;
  return !is_inside && block - launch_.first_block < launch_.blocks;
}

Expected<void> SnapshotBuilder::add(std::uint64_t block, std::uint32_t warp,
                                    const trace::WarpAccess& traced) {
  if (is_outside(block))
    return {};
  TRY_LET(site, check_access(launch_, site_index_, block, warp, traced));
  if (traced.kind == AccessKind::mark) {
    if (accesses_ == Accesses::all_in_program_order)
      put_mark(stream_of(block, warp).warp, *site, traced);
    return {};
  }
  if (traced.kind == AccessKind::barrier) {
    if (accesses_ != Accesses::cached)
      put_barrier(stream_of(block, warp), *site, traced.active);
    return {};
  }
  return put_access(stream_of(block, warp), *site, traced);
}

Expected<void> SnapshotBuilder::add_executed(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                                             const trace::WarpAccess& executed) {
  TRY(check_executed(launch_, block, warp, executed));
  Stream& stream = stream_of(block, warp);
  const bool stores_update = executed.kind == AccessKind::store && sites_[site].kind == AccessKind::update;
  SiteSummary& summary = stores_update ? stores_of_updates_[site] : summaries_[site];
  summary.active_lanes += unsigned(std::popcount(executed.active));
  ++summary.executions;
  if (executed.kind == AccessKind::barrier) {
    summary.seen[unsigned(Space::generic)] = true;
    ++summary.barriers;
    Access entry;
    entry.site = site;
    entry.active_lanes = std::uint8_t(std::popcount(executed.active)) & 63;
    entry.kind = AccessKind::barrier;
    entry.is_awaited = false;
    entry.starts_bulk = true;
    put_phase(stream, executed, entry);
    stream.warp.accesses.push_back(entry);
    return {};
  }
  summary.bytes = std::max<std::uint32_t>(summary.bytes, executed.bytes);
  summary.seen[unsigned(executed.space)] = true;
  const bool has_lanes = executed.space != Space::local && !stores_update;
  if (has_lanes)
    patterns_[site].add(executed);
  const std::uint64_t parts_before = summary.sectors + summary.bank_wavefronts;
  TRY_LET(entry, coalescer_.coalesce(carried_out(executed, site), site, stream.warp, summary));
  if (const std::uint64_t parts = summary.sectors + summary.bank_wavefronts - parts_before;
      has_lanes && executed.space != Space::constant && parts != 0)
    typical_[site].add(executed, std::uint32_t(parts), {block, warp});
  if ((executed.site & trace::stores_copy) != 0) {
    // One instruction makes both, and passes the memory pipeline as often as the one with more passes.
    if (!stream.warp.accesses.empty())
      stream.warp.accesses.back().passes = std::max(stream.warp.accesses.back().passes, entry->passes);
    return {};
  }
  entry->active_lanes = std::uint8_t(std::popcount(executed.active)) & 63;
  entry->is_store_of_update = stores_update;
  entry->starts_bulk = true;
  put_phase(stream, executed, *entry);
  stream.warp.accesses.push_back(*entry);
  return {};
}

Expected<void> SnapshotBuilder::enter_phase(std::uint64_t block, std::uint32_t warp, PhaseRole role,
                                            const trace::WarpAccess& record) {
  if (is_outside(block))
    return {};
  TRY(check_executed(launch_, block, warp, record));
  constexpr std::uint32_t has_owner = 0b1100;
  const bool is_of_owner = (record.active & has_owner) == has_owner;
  const bool waits = role == PhaseRole::waits || role == PhaseRole::meets; // for a phase of its own block
  const std::uint64_t owner = is_of_owner && !waits ? record.addresses[2] : block;
  PhasesOfBlock& phases = phases_[owner];
  Stream& stream = stream_of(block, warp);
  const auto site = std::uint32_t(record.site);
  if (std::exchange(stream.next_role, role) == PhaseRole::none || stream.phase_at != site)
    stream.next_phases.clear();
  stream.phase_at = site;
  PhaseOfOwner& next = stream.next_phases.emplace_back();
  next.owner = owner;
  next.use.number =
      phases.try_emplace({record.addresses[0], record.addresses[1]}, std::uint32_t(phases.size()))
          .first->second;
  next.use.bytes = is_of_owner ? std::uint32_t(record.addresses[3]) : 0;
  return {};
}

/// Gives an access its part in a phase. All parts of a copy have the same; the caches of the SM do not see
/// it, and no instruction waits for it but those that wait for the phase.
void SnapshotBuilder::put_phase(Stream& stream, const trace::WarpAccess& executed, Access& entry) {
  const bool is_further = (executed.site & trace::continues_access) != 0;
  if (!is_further) {
    stream.role = std::exchange(stream.next_role, PhaseRole::none);
    stream.phases.swap(stream.next_phases);
    if (stream.phase_at != std::uint32_t(executed.site))
      stream.role = PhaseRole::none; // the trace lacks the access that the phase was of
  }
  if (stream.role == PhaseRole::none || (is_further && stream.role != PhaseRole::copies))
    return;
  entry.phase = stream.role;
  for (const PhaseOfOwner& phase : stream.phases) {
    stream.warp.phases.push_back(phase.use);
    stream.warp.phases.back().goes_on = &phase != &stream.phases.back();
    stream.owners.push_back(phase.owner);
  }
  if (stream.role == PhaseRole::copies) {
    entry.skips_l1 = true;
    entry.is_awaited = false;
  }
}

Expected<void> SnapshotBuilder::leave_out(std::uint64_t block, std::uint32_t warp,
                                          const trace::WarpAccess& record) {
  if (is_outside(block))
    return {};
  TRY(check_executed(launch_, block, warp, record));
  const std::uint64_t iterations = record.addresses[0], measured = record.addresses[1],
                      from = record.addresses[2];
  Stream& stream = stream_of(block, warp);
  std::vector<Access>& accesses = stream.warp.accesses;
  if (measured == 0 || iterations == 0 || iterations > trace::max_left_out || from >= accesses.size())
    return refuse_access(launch_, block, warp, "leaves out iterations for which no others stand");
  stream.left_out = iterations;
  stream.measured = measured;
  const double per_measured = double(iterations) / double(measured);
  stream.warp.gaps.push_back(
      {.measured = std::uint32_t(from), .before = std::uint32_t(accesses.size()), .left_out = per_measured});
  for (std::size_t i = from; i < accesses.size(); ++i) {
    const std::uint32_t site = accesses[i].site;
    if (site >= summaries_.size())
      continue; // it stands for others already: the trace is damaged
    ++measured_[site];
    left_out_[site] += per_measured;
    if (accesses[i].is_store_of_update == 0) // an update counts once
      left_out_executions_[site] += per_measured;
    accesses[i].site = site + std::uint32_t(summaries_.size());
  }
  return {};
}

Expected<void> SnapshotBuilder::describe(std::uint64_t block, std::uint32_t warp,
                                         const trace::WarpAccess& first, const trace::WarpAccess& last) {
  if (is_outside(block))
    return {};
  Stream& stream = stream_of(block, warp);
  const bool is_cached = first.space != Space::shared && first.space != Space::constant;
  if (stream.warp.gaps.empty() || !is_cached || !is_access(first.kind) || first.active == 0)
    return {};
  TRY(check_executed(launch_, block, warp, first));
  Gap& gap = stream.warp.gaps.back();
  std::vector<Transaction>& lines = first.kind == AccessKind::load ? gap.loads : gap.stores;
  const auto lane = unsigned(std::countr_zero(first.active));
  const std::uint64_t steps = std::max<std::uint64_t>(1, stream.left_out - 1);
  const auto step = std::int64_t(last.addresses[lane] - first.addresses[lane]) / std::int64_t(steps);
  trace::WarpAccess access = first;
  std::size_t open =
      lines.size(); // the lines of the iteration before, which may have more sectors in this one
  for (std::uint64_t i = 0; i < stream.left_out; ++i) {
    const Coalesced touched = model::coalesce(access, rules_);
    bool is_open = lines.size() - open == touched.count;
    std::array<std::uint32_t, std::size(touched.lines)> numbers;
    for (unsigned j = 0; j < touched.count; ++j) {
      TRY_LET(number, coalescer_.line_number(touched.lines[j].line));
      numbers[j] = *number;
      is_open = is_open && lines[open + j].line == *number;
    }
    if (!is_open)
      open = lines.size();
    for (unsigned j = 0; j < touched.count; ++j)
      if (is_open)
        lines[open + j].sectors |= touched.lines[j].sectors();
      else
        lines.push_back({numbers[j], touched.lines[j].sectors(), 0});
    for (std::uint64_t& address : access.addresses)
      address += std::uint64_t(step);
    if (step == 0)
      break;
  }
  return {};
}

Expected<void> SnapshotBuilder::end_check(std::uint64_t block, std::uint32_t warp,
                                          const trace::WarpAccess& record) {
  if (is_outside(block))
    return {};
  TRY(check_executed(launch_, block, warp, record));
  const std::uint64_t iterations = record.addresses[0], to = record.addresses[1];
  Stream& stream = stream_of(block, warp);
  if (stream.warp.gaps.empty() || to <= stream.warp.gaps.back().before || to > stream.warp.accesses.size())
    return refuse_access(launch_, block, warp, "ends iterations that did not begin");
  stream.warp.gaps.back().check_end = std::uint32_t(to);
  stream.warp.gaps.back().checked = double(iterations) / double(stream.measured);
  return {};
}

/// Adds the accesses that are left out to the sites' counts: a site's are like those that are there.
void SnapshotBuilder::scale_summaries() {
  for (SiteSummary& site : summaries_) {
    if (left_out_executions_[site.site] == 0 || site.executions == 0)
      continue;
    const double factor = 1 + left_out_executions_[site.site] / double(site.executions);
    for (std::uint64_t* const count : {&site.executions, &site.active_lanes, &site.cached, &site.shared,
                                       &site.constant, &site.barriers, &site.constant_requests, &site.sectors,
                                       &site.bytes_used, &site.bank_wavefronts, &site.min_bank_wavefronts})
      *count = scaled(*count, factor);
  }
}

/// Gives the measured accesses of a site one of their own, so that what trials count of them can stand for
/// those that are left out.
void SnapshotBuilder::put_measured_sites(Snapshot& snapshot, const std::vector<std::uint32_t>& site_number) {
  measured_site_.resize(summaries_.size());
  for (std::uint32_t site = 0; site < measured_.size(); ++site) {
    if (measured_[site] == 0)
      continue;
    SiteSummary measured = snapshot.sites[site_number[site]];
    SiteSummary of{.site = measured.site, .bytes = measured.bytes};
    std::ranges::copy(measured.seen, of.seen);
    of.cached = measured.cached != 0; // which of the SM's pipes serves it
    of.adds_floats = measured.adds_floats;
    of.is_evicted_first = measured.is_evicted_first;
    of.measures = site_number[site];
    of.left_out = left_out_[site] / measured_[site];
    measured_site_[site] = std::uint32_t(snapshot.sites.size());
    snapshot.sites.push_back(of);
    snapshot.leaves_out = true;
  }
}

/// Finds the blocks whose phases they are, by the blocks' ids, and what the blocks contribute to each
/// other's. Parts in phases of blocks that the snapshot lacks are in none.
void SnapshotBuilder::find_owners(Snapshot& snapshot, const std::vector<std::vector<std::uint64_t>>& owners) {
  for (std::uint32_t block = 0; block < snapshot.blocks.size(); ++block)
    for (std::uint32_t i = 0; i < snapshot.blocks[block].warps; ++i) {
      const std::uint32_t number = snapshot.blocks[block].first_warp + i;
      std::vector<PhaseUse>& phases = snapshot.warps[number].phases;
      for (std::size_t use = 0; use < phases.size(); ++use) {
        const std::uint64_t id = owners[number][use];
        if (id == snapshot.blocks[block].id)
          continue;
        const auto owner = std::ranges::lower_bound(snapshot.blocks, id, {}, &Snapshot::Block::id);
        if (owner == snapshot.blocks.end() || owner->id != id) {
          phases[use].number = PhaseUse::no_block;
          continue;
        }
        phases[use].owner = std::int32_t(owner - snapshot.blocks.begin()) - std::int32_t(block);
        owner->phases_of_others.push_back(phases[use].number);
        snapshot.joins_blocks = true;
      }
    }
}

/// Returns the access with the lanes that reach memory: of atomics, those that are left of a warp's.
trace::WarpAccess SnapshotBuilder::carried_out(trace::WarpAccess access, std::uint32_t site) const {
  if (access.kind == AccessKind::atomic)
    access.active = lanes_carried_out(access, sites_[site].aggregation, rules_);
  return access;
}

Expected<void> SnapshotBuilder::put_access(Stream& stream, std::uint32_t site,
                                           const trace::WarpAccess& traced) {
  SiteSummary& summary = summaries_[site];
  ++summary.executions;
  summary.active_lanes += unsigned(std::popcount(traced.active));
  summary.bytes = std::max<std::uint32_t>(summary.bytes, traced.bytes);
  summary.seen[unsigned(traced.space)] = true;
  const bool has_lanes = traced.space != Space::local && sites_[site].cache_operator != CacheOperator::tex;
  if (has_lanes)
    patterns_[site].add(traced);
  const trace::WarpAccess access = carried_out(traced, site);
  order_.place(stream.order, stream.warp, site, access);
  const bool continues = accesses_ == Accesses::all_in_program_order && continues_last(stream, site, access);
  const std::uint64_t parts_before = summary.sectors + summary.bank_wavefronts;
  TRY_LET(entry, coalescer_.coalesce(access, site, stream.warp, summary));
  if (const std::uint64_t parts = summary.sectors + summary.bank_wavefronts - parts_before;
      has_lanes && traced.space != Space::constant && parts != 0)
    typical_[site].add(traced, std::uint32_t(parts), {stream.warp.block, stream.warp.warp});
  if (entry->cache == FirstCache::shared && accesses_ == Accesses::cached)
    return {};
  entry->active_lanes = std::uint8_t(std::popcount(traced.active)) & 63;
  entry->continues = continues;
  order_.append(stream.order, stream.warp, *entry);
  return {};
}

/// Appends a warp's arrival at a barrier: the warp arrives when the results of its earlier accesses are
/// there. Lanes that arrive one after the other at one barrier, as divergent lanes of a GPU do, are one
/// arrival.
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
  order_.append_barrier(stream.order, stream.warp, entry);
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

Snapshot SnapshotBuilder::finish(bool all_seen) && {
  for (Stream& stream : streams_)
    order_.finish(stream.order, stream.warp);
  Snapshot snapshot;
  const PageNumbers::InOrder pages = std::move(coalescer_).finish(snapshot);
  for (const trace::BlockWindow& window : windows_)
    snapshot.windows.push_back(window.first);
  for (auto& [site, stores] : stores_of_updates_)
    if (summaries_[site].executions == 0) {
      stores.site = site;
      summaries_[site] = stores; // the compiler keeps the value in a register, and stores it at times
    }
  scale_summaries();
  std::vector<std::uint32_t> site_number(summaries_.size());
  for (const SiteSummary& summary : summaries_) {
    if (summary.executions == 0)
      continue;
    site_number[summary.site] = std::uint32_t(snapshot.sites.size());
    snapshot.sites.push_back(summary);
    snapshot.sites.back().lanes = patterns_[summary.site].counts();
    snapshot.sites.back().typical = typical_[summary.site].result();
    snapshot.sites.back().is_evicted_first = is_evicted_first(sites_[summary.site].cache_operator);
    snapshot.warp_accesses += summary.executions - summary.barriers;
    snapshot.has_barriers |= summary.barriers != 0;
    snapshot.reads_constants |= summary.constant != 0;
  }

  put_measured_sites(snapshot, site_number);
  std::sort(streams_.begin(), streams_.end(), [](const Stream& a, const Stream& b) {
    return std::pair(a.warp.block, a.warp.warp) < std::pair(b.warp.block, b.warp.warp);
  });
  std::vector<std::vector<std::uint64_t>> owners; // of the phases of Snapshot::warps
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Warp& warp = streams_[i].warp;
    if (i == 0 || streams_[i - 1].warp.block != warp.block)
      ++snapshot.blocks_seen;
    if (warp.accesses.empty() && accesses_ != Accesses::executed)
      continue;
    if (accesses_ == Accesses::executed)
      warp.bulks = std::uint32_t(warp.accesses.size());
    for (Access& access : warp.accesses)
      access.site = access.site < summaries_.size() ? site_number[access.site]
                                                    : measured_site_[access.site - summaries_.size()];
    if (!warp.gaps.empty())
      warp.accesses.front().begins = SampledPart::whole;
    for (Gap& gap : warp.gaps) {
      for (std::vector<Transaction>* const lines : {&gap.loads, &gap.stores})
        for (Transaction& transaction : *lines)
          transaction.line = pages.line(transaction.line);
      warp.accesses[gap.measured].begins = SampledPart::measured;
      if (gap.before < warp.accesses.size())
        warp.accesses[gap.before].begins = SampledPart::behind_gap;
      if (gap.check_end > gap.before && gap.check_end < warp.accesses.size())
        warp.accesses[gap.check_end].begins = SampledPart::whole;
    }
    for (Transaction& transaction : warp.transactions)
      transaction.line = pages.line(transaction.line);
    warp.accesses.shrink_to_fit();
    warp.transactions.shrink_to_fit();
    snapshot.transactions += warp.transactions.size();
    if (snapshot.blocks.empty() || snapshot.blocks.back().id != warp.block)
      snapshot.blocks.push_back({warp.block, std::uint32_t(snapshot.warps.size()), 0});
    ++snapshot.blocks.back().warps;
    snapshot.warps.push_back(std::move(warp));
    owners.push_back(std::move(streams_[i].owners));
  }
  find_owners(snapshot, owners);
  if (all_seen)
    snapshot.blocks_seen = blocks_of(windows_);
  snapshot.whole_grid = launch_.first_block == 0 && snapshot.blocks_seen >= launch_.grid.count();
  if (!snapshot.whole_grid && snapshot.blocks_seen != 0)
    snapshot.further_blocks = (double(launch_.grid.count()) - double(snapshot.blocks_seen)) *
                              double(snapshot.blocks.size()) / double(snapshot.blocks_seen);
  finalize(snapshot);
  return snapshot;
}

Expected<Snapshot> decode(const trace::AccessSource& trace, const trace::Launch& launch,
                          const BlockWindows& windows, const LaneRules& rules, Accesses accesses) {
  SnapshotBuilder builder(trace.sites(), launch, windows, rules, accesses);
  Expected<void> first_failure;
  TRY_LET(read, trace.for_each_access(
                    launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
                      if (first_failure)
                        first_failure = builder.add(block, warp, access);
                    }));
  if (!first_failure)
    return tl::unexpected(first_failure.error());
  const auto end = trace.end_of(launch.id);
  return std::move(builder).finish(end && end->complete);
}

} // namespace warplens::model
