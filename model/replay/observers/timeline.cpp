#include "model/replay/observers/timeline.h"

#include <algorithm>
#include <tuple>

namespace warplens::model {
namespace {

/// Returns the bin of the cycle; all behind the last bin belongs to it.
std::size_t bin_of(Cycle at, const std::vector<std::uint64_t>& edges) {
  return std::size_t(std::upper_bound(edges.begin() + 1, edges.end() - 1, at) - edges.begin()) - 1;
}

Timeline empty_timeline(const Gpu& gpu, std::uint32_t trial, Cycle cycles, std::uint32_t bins) {
  Timeline timeline;
  timeline.trial = trial;
  timeline.cycles = cycles;
  timeline.ns_per_cycle = gpu.ns_per_cycle();
  const std::uint64_t count = std::clamp<std::uint64_t>(cycles, 1, bins);
  for (std::uint64_t i = 0; i <= count; ++i)
    timeline.edges.push_back(cycles / count * i + cycles % count * i / count);
  return timeline;
}

} // namespace

TimelineRecorder::TimelineRecorder(const Snapshot& snapshot, const std::vector<Site>& sites, const Gpu& gpu,
                                   std::uint32_t trial, Cycle cycles, std::uint32_t bins)
    : knows_instructions_(snapshot.code != nullptr && gpu.pipes), slices_(gpu),
      timeline_(empty_timeline(gpu, trial, cycles, bins)), outstanding_(timeline_.edges),
      channel_outstanding_(gpu.dram.channels, Presence(timeline_.edges)) {
  const std::vector<std::uint64_t> zeros(timeline_.edges.size() - 1);
  timeline_.l1 = timeline_.l2 = {zeros, zeros};
  timeline_.active_lanes.assign(timeline_lane_rows, zeros);
  timeline_.slices.assign(gpu.l2.slices, {zeros, zeros});
  timeline_.channels.assign(gpu.dram.channels, {zeros, zeros, zeros, zeros, {}});
  if (knows_instructions_)
    timeline_.instructions = zeros;

  const auto place_of = [](const auto& where) { return std::tie(where.file, where.line); };
  for (const SiteSummary& summary : snapshot.sites)
    if (summary.cached + summary.constant != 0)
      timeline_.lines.push_back({sites[summary.site].file, sites[summary.site].line, zeros});
  auto& lines = timeline_.lines;
  std::sort(lines.begin(), lines.end(),
            [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  lines.erase(std::unique(lines.begin(), lines.end(),
                          [&](const auto& a, const auto& b) { return place_of(a) == place_of(b); }),
              lines.end());
  for (const SiteSummary& summary : snapshot.sites) {
    const auto found =
        std::lower_bound(lines.begin(), lines.end(), sites[summary.site],
                         [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    line_of_.push_back(std::uint32_t(found - lines.begin()));
  }
}

Timeline::Sm& TimelineRecorder::sm(std::uint32_t number) {
  if (number >= timeline_.sms.size()) {
    const std::vector<std::uint64_t> zeros(timeline_.edges.size() - 1);
    timeline_.sms.resize(number + 1,
                         {zeros, zeros, zeros, knows_instructions_ ? zeros : std::vector<std::uint64_t>{}});
  }
  return timeline_.sms[number];
}

void TimelineRecorder::issued_instruction(std::uint32_t number, Cycle at) {
  if (!knows_instructions_)
    return;
  const std::size_t bin = bin_of(at, timeline_.edges);
  ++timeline_.instructions[bin];
  ++sm(number).instructions[bin];
}

void TimelineRecorder::issued(std::uint32_t number, const Access& access, std::span<const Transaction>,
                              const Lookups& l1, Cycle at) {
  if (access.cache == FirstCache::shared)
    return;
  const std::size_t bin = bin_of(at, timeline_.edges);
  ++timeline_.requests;
  ++timeline_.lines[line_of_[access.site]].counts[bin];
  ++timeline_.active_lanes[(access.active_lanes - 1u) / 4][bin];
  timeline_.l1.hits[bin] += l1.hits;
  timeline_.l1.all[bin] += l1.all;
  Timeline::Sm& sm_bins = sm(number);
  ++sm_bins.requests[bin];
  sm_bins.l1_hits[bin] += l1.hits;
  sm_bins.l1_all[bin] += l1.all;
}

void TimelineRecorder::answered(Cycle issued, Cycle at) {
  outstanding_.add(issued, at);
}

void TimelineRecorder::looked_up(bool, std::uint32_t line, unsigned sectors, const L2Outcome& outcome,
                                 Cycle at) {
  const std::size_t bin = bin_of(at, timeline_.edges);
  for (Timeline::Lookups* lookups : {&timeline_.l2, &timeline_.slices[slices_.of(line)]}) {
    lookups->hits[bin] += sector_count(outcome.hits);
    lookups->all[bin] += sector_count(sectors);
  }
}

void TimelineRecorder::used_memory(const DramUse& use, std::uint32_t channel, Cycle from, Cycle until) {
  const std::size_t bin = bin_of(from, timeline_.edges);
  Timeline::Channel& channel_bins = timeline_.channels[channel];
  ++channel_bins.requests[bin];
  ++(use.writes ? channel_bins.writes : channel_bins.reads)[bin];
  channel_bins.activations[bin] += use.opens_row;
  channel_outstanding_[channel].add(from, until);
}

Timeline TimelineRecorder::timeline() && {
  timeline_.outstanding = outstanding_.means();
  for (std::size_t i = 0; i < timeline_.channels.size(); ++i)
    timeline_.channels[i].outstanding = channel_outstanding_[i].means();
  return std::move(timeline_);
}

void TimelineRecorder::Presence::add(Cycle from, Cycle to) {
  from = std::min(from, edges_->back());
  to = std::min(to, edges_->back());
  if (from >= to)
    return;
  const std::size_t first = bin_of(from, *edges_), last = bin_of(to - 1, *edges_);
  if (first == last) {
    parts_[first] += to - from;
    return;
  }
  parts_[first] += (*edges_)[first + 1] - from;
  parts_[last] += to - (*edges_)[last];
  ++changes_[first + 1];
  --changes_[last];
}

std::vector<double> TimelineRecorder::Presence::means() const {
  std::vector<double> means;
  std::int64_t whole = 0;
  for (std::size_t bin = 0; bin < parts_.size(); ++bin) {
    whole += changes_[bin];
    const auto width = (*edges_)[bin + 1] - (*edges_)[bin];
    means.push_back(width == 0 ? 0 : double(parts_[bin]) / double(width) + double(whole));
  }
  return means;
}

} // namespace warplens::model
