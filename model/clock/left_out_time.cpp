#include "model/clock/left_out_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace warplens::model {
namespace {

/// The cycles that a block's warps took around gaps that are alike, in the mean.
struct BlockGap {
  std::uint32_t block = 0;
  double warps = 0, measured = 0;
  double with_check = 0, measured_with_check = 0, checked = 0;

  void add(double cycles, double check_cycles) {
    ++warps;
    measured += cycles;
    if (check_cycles == 0)
      return;
    ++with_check;
    measured_with_check += cycles;
    checked += check_cycles;
  }
  double before() const {
    return (with_check == 0 ? measured : measured_with_check) /
           std::max(1.0, with_check == 0 ? warps : with_check);
  }
  double behind() const { return with_check == 0 ? before() : checked / with_check; }
  double both() const { return (before() + behind()) / 2; }
};

/// Returns the share of what blocks differ by that lasts: that they differ by before gaps and behind them.
double lasting_share(std::span<const BlockGap> blocks, double mean) {
  double before = 0, behind = 0;
  for (const BlockGap& of : blocks) {
    before += of.before() / double(blocks.size());
    behind += of.behind() / double(blocks.size());
  }
  double together = 0, all = 0;
  for (const BlockGap& of : blocks) {
    together += (of.before() - before) * (of.behind() - behind);
    all += (of.both() - mean) * (of.both() - mean);
  }
  return all == 0 ? 0 : std::clamp(together / all, 0.0, 1.0);
}

} // namespace

LeftOutTime::LeftOutTime(const Snapshot& snapshot) : snapshot_(snapshot), warps_(snapshot.warps.size()) {
  for (std::uint32_t warp = 0; warp < snapshot.warps.size(); ++warp)
    for (std::uint32_t gap = 0; gap < snapshot.warps[warp].gaps.size(); ++gap) {
      const Warp& of = snapshot.warps[warp];
      const Gap& at = of.gaps[gap];
      for (const std::uint32_t access : {0u, at.measured, at.before, at.check_end})
        if (access < of.accesses.size() && of.accesses[access].begins != SampledPart::none)
          positions_.emplace(&of.accesses[access], GapPosition{warp, gap});
    }
}

void LeftOutTime::begin(const Access& access, Cycle now, Memory& memory) {
  const auto position = positions_.find(&access);
  if (position == positions_.end())
    return;
  const Gap& gap = snapshot_.warps[position->second.warp].gaps[position->second.gap];
  WarpGaps& warp = warps_[position->second.warp];
  warp.progress.push_back({now, double(&access - snapshot_.warps[position->second.warp].accesses.data())});
  switch (access.begins) {
  case SampledPart::none: return;
  case SampledPart::measured: break;
  case SampledPart::behind_gap:
    warp.gaps.push_back({gap.left_out, double(now - warp.since)});
    memory.pass_over(gap.loads, L2Kind::load);
    memory.pass_over(gap.stores, L2Kind::store);
    break;
  case SampledPart::whole:
    if (!warp.gaps.empty() && gap.checked > 0)
      warp.gaps.back().checked = double(now - warp.since) / gap.checked;
    break;
  }
  warp.since = now;
}

std::vector<double> LeftOutTime::delays_of_blocks(std::span<const std::uint32_t> beside) const {
  // A gap's number within its warp, what is left out there, and the blocks on the SM: such gaps are alike.
  using Kind = std::tuple<std::size_t, double, std::uint32_t>;
  std::map<Kind, std::vector<BlockGap>> blocks_by_kind;
  const auto each_gap = [&](std::uint32_t block, const WarpGaps& warp, auto&& visit) {
    for (std::size_t gap = 0; gap < warp.gaps.size(); ++gap)
      visit(Kind{gap, warp.gaps[gap].left_out, beside[block]}, warp.gaps[gap]);
  };
  for (std::uint32_t block = 0; block < snapshot_.blocks.size(); ++block)
    for (const WarpGaps& warp : warps_of(block))
      each_gap(block, warp, [&](const Kind& kind, const PassedGap& gap) {
        std::vector<BlockGap>& blocks = blocks_by_kind[kind];
        if (blocks.empty() || blocks.back().block != block)
          blocks.push_back({block});
        blocks.back().add(gap.measured, gap.checked);
      });
  // Iterations left out are like those behind them, as warps fall out of step with time. Where within an
  // iteration a warp begins to be measured is chance, and which block waits for which: the longest of several
  // would be too long for what is left out, in which that evens out. So blocks differ by no more than what
  // lasts.
  std::map<std::pair<Kind, std::uint32_t>, double> cycles;
  for (const auto& [kind, blocks] : blocks_by_kind) {
    double mean = 0, behind = 0;
    for (const BlockGap& of : blocks) {
      mean += of.both() / double(blocks.size());
      behind += of.behind() / double(blocks.size());
    }
    const double lasting = lasting_share(blocks, mean);
    for (const BlockGap& of : blocks)
      cycles[{kind, of.block}] = behind + lasting * (of.both() - mean);
  }
  std::vector<double> later(snapshot_.blocks.size());
  for (std::uint32_t block = 0; block < later.size(); ++block)
    for (const WarpGaps& warp : warps_of(block)) {
      double warp_delay = 0;
      each_gap(block, warp, [&](const Kind& kind, const PassedGap& gap) {
        warp_delay += gap.left_out * cycles.at({kind, block});
      });
      later[block] = std::max(later[block], warp_delay);
    }
  return later;
}

/// Returns how many accesses the warp has issued at a time, as if it issued those of a part evenly.
double LeftOutTime::WarpGaps::done_at(double now) const {
  const auto next =
      std::ranges::upper_bound(progress, now, {}, [](const Progress& one) { return double(one.at); });
  if (next == progress.begin())
    return 0;
  const Progress& last = *std::prev(next);
  if (next == progress.end())
    return last.accesses;
  return last.accesses +
         (next->accesses - last.accesses) * (now - double(last.at)) / double(next->at - last.at);
}

double LeftOutTime::delay_of_sm(std::span<const std::uint32_t> of) const {
  // From the first warp that is measured until half of them are behind their last gap: before and behind
  // that the SM is not as busy as in between.
  double left_out = 0, from = std::numeric_limits<double>::max();
  std::vector<double> ends;
  for (const std::uint32_t block : of)
    for (std::uint32_t i = 0; const WarpGaps& warp : warps_of(block)) {
      const std::vector<Gap>& gaps = snapshot_.warps[snapshot_.blocks[block].first_warp + i++].gaps;
      for (const Gap& gap : gaps)
        left_out += gap.left_out * double(gap.before - gap.measured);
      if (warp.progress.size() < 2)
        continue;
      from = std::min(from, double(warp.progress[1].at));
      ends.push_back(double(warp.progress.back().at));
    }
  if (ends.empty())
    return 0;
  std::ranges::nth_element(ends, ends.begin() + std::ptrdiff_t(ends.size() / 2));
  const double to = ends[ends.size() / 2];
  double done = 0;
  for (const std::uint32_t block : of)
    for (const WarpGaps& warp : warps_of(block))
      done += warp.done_at(to) - warp.done_at(from);
  return done <= 0 ? 0 : left_out * (to - from) / done;
}

double LeftOutTime::error() const {
  double before = 0, behind = 0;
  for (const WarpGaps& warp : warps_)
    for (const PassedGap& gap : warp.gaps)
      if (gap.checked != 0) {
        before += gap.left_out * gap.measured;
        behind += gap.left_out * gap.checked;
      }
  return before == 0 ? 1 : std::abs(behind / before - 1);
}

} // namespace warplens::model
