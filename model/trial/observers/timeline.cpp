#include "model/trial/observers/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace warplens::model {
namespace {

constexpr std::uint64_t forever = std::numeric_limits<std::uint64_t>::max();

/// Returns the bin of the request's number; the end of the last bin belongs to it.
std::size_t bin_of(std::uint64_t number, const std::vector<std::uint64_t>& edges) {
  return std::size_t(std::upper_bound(edges.begin() + 1, edges.end() - 1, number) - edges.begin()) - 1;
}

Timeline empty_timeline(const Snapshot& snapshot, std::uint32_t trial, std::uint32_t bins) {
  Timeline timeline;
  timeline.trial = trial;
  for (const Warp& warp : snapshot.warps)
    timeline.requests += warp.accesses.size();
  const std::uint64_t count = std::clamp<std::uint64_t>(timeline.requests, 1, bins);
  for (std::uint64_t i = 0; i <= count; ++i)
    timeline.edges.push_back(timeline.requests * i / count);
  return timeline;
}

} // namespace

TimelineRecorder::TimelineRecorder(const Snapshot& snapshot, const std::vector<Site>& sites, const Gpu& gpu,
                                   std::uint32_t trial, std::uint32_t bins)
    : slices_(gpu), timeline_(empty_timeline(snapshot, trial, bins)), outstanding_(timeline_.edges),
      channel_outstanding_(gpu.dram.channels, Presence(timeline_.edges)) {
  const std::vector<std::uint64_t> zeros(timeline_.edges.size() - 1);
  timeline_.l1 = timeline_.l2 = {zeros, zeros};
  timeline_.active_lanes.assign(timeline_lane_rows, zeros);
  timeline_.slices.assign(gpu.l2.slices, {zeros, zeros});
  timeline_.channels.assign(gpu.dram.channels, {zeros, {}});

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

void TimelineRecorder::issued(std::uint32_t sm, const Access& access, std::span<const Transaction>,
                              const Lookups& l1) {
  if (sm >= issued_by_.size()) {
    issued_by_.resize(sm + 1);
    const std::vector<std::uint64_t> zeros(timeline_.edges.size() - 1);
    timeline_.sms.resize(sm + 1, {zeros, zeros, zeros});
  }
  round_.push_back({sm, issued_by_[sm]++, access.site, std::uint8_t(access.active_lanes), l1});
}

void TimelineRecorder::place() {
  if (placed_)
    return;
  placed_ = true;
  // The SMs issue in parallel: their requests are spread evenly over the round. A counting sort gives each a
  // number of its own.
  const std::size_t count = round_.size();
  const auto due = [&](const Issued& request) {
    return std::size_t((double(request.ordinal) + 0.5) / issued_by_[request.sm] * double(count));
  };
  std::vector<std::uint32_t> next(count + 1);
  for (const Issued& request : round_)
    ++next[due(request) + 1];
  for (std::size_t i = 1; i <= count; ++i)
    next[i] += next[i - 1];
  for (Issued& request : round_) {
    request.number = request.counted_until = before_ + next[due(request)]++;
    request.bin = bin_of(request.number, timeline_.edges);
    ++timeline_.lines[line_of_[request.site]].counts[request.bin];
    ++timeline_.active_lanes[(request.active_lanes - 1u) / 4][request.bin];
    timeline_.l1.hits[request.bin] += request.l1.hits;
    timeline_.l1.all[request.bin] += request.l1.all;
    Timeline::Sm& sm = timeline_.sms[request.sm];
    ++sm.requests[request.bin];
    sm.l1_hits[request.bin] += request.l1.hits;
    sm.l1_all[request.bin] += request.l1.all;
  }
}

void TimelineRecorder::looked_up(std::uint32_t request, bool, std::uint32_t line, unsigned sectors,
                                 const L2Outcome& outcome) {
  place();
  const std::size_t bin = round_[request].bin;
  for (Timeline::Lookups* lookups : {&timeline_.l2, &timeline_.slices[slices_.of(line)]}) {
    lookups->hits[bin] += sector_count(outcome.hits);
    lookups->all[bin] += sector_count(sectors);
  }
}

void TimelineRecorder::went_to_memory(std::uint32_t request, bool evicted, std::uint32_t channel,
                                      std::uint64_t batch) {
  place();
  if (batch != batch_)
    serve_batch();
  batch_ = batch;
  ++timeline_.channels[channel].requests[round_[request].bin];
  waiting_.push_back({request, channel, evicted});
}

void TimelineRecorder::serve_batch() {
  // All of a batch is served once the last of its requests has been issued.
  std::uint64_t served = 0;
  for (const Earlier& line : earlier_)
    served = std::max(served, line.number + 1);
  for (const Waiting& line : waiting_)
    served = std::max(served, round_[line.request].number + 1);

  for (const Earlier& line : earlier_) {
    channel_outstanding_[line.channel].add(line.number, served);
    outstanding_.add(line.counted_until, served);
  }
  for (const Waiting& line : waiting_) {
    Issued& request = round_[line.request];
    channel_outstanding_[line.channel].add(request.number, served);
    if (line.evicted)
      continue;
    // A request may wait for lines in several batches, and is outstanding until the last of them.
    outstanding_.add(request.counted_until, served);
    request.counted_until = std::max(request.counted_until, served);
  }
  earlier_.clear();
  waiting_.clear();
}

void TimelineRecorder::round_ended() {
  place();
  for (const Waiting& line : waiting_) {
    Issued& request = round_[line.request];
    earlier_.push_back({request.number, line.evicted ? forever : request.counted_until, line.channel});
    if (!line.evicted)
      request.counted_until = forever; // its other lines in this batch add nothing
  }
  waiting_.clear();
  before_ += round_.size();
  round_.clear();
  std::fill(issued_by_.begin(), issued_by_.end(), 0);
  placed_ = false;
}

Timeline TimelineRecorder::timeline() && {
  serve_batch();
  timeline_.outstanding = outstanding_.means();
  for (std::size_t i = 0; i < timeline_.channels.size(); ++i)
    timeline_.channels[i].outstanding = channel_outstanding_[i].means();
  return std::move(timeline_);
}

void TimelineRecorder::Presence::add(std::uint64_t from, std::uint64_t to) {
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
