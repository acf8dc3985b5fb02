#include "model/clock/clocked_trial.h"

#include "model/clock/clocked_machine.h"
#include "model/clock/left_out_time.h"
#include "model/clock/sampled_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace warplens::model {
namespace {

constexpr std::uint32_t none = ~0u;

/// The share by which the time of iterations left out was wrong where those behind the gap took no longer
/// than those before (bench/sampled_loops.py): warps go on falling out of step for longer than is replayed.
constexpr double min_left_out_error = 0.1;
/// An SM's warps take turns if they need this much longer together than each of them.
constexpr double out_of_step = 1.15;

/// The parts of blocks in the order of their dispatch.
struct BlockDispatch {
  std::vector<BlockPart> first;   ///< what the SMs begin with
  std::vector<BlockPart> waiting; ///< the next one is at the back
};

/// A snapshot of a longer launch begins in the middle of it: each resident block is at a random point if that
/// lies in a loop, and the accesses before the point come at the end.
BlockDispatch dispatch_order(const Snapshot& snapshot, std::size_t resident, Random& random) {
  BlockDispatch dispatch;
  std::vector<BlockPart> last;
  for (std::uint32_t block = 0; block < snapshot.blocks.size(); ++block) {
    if (block >= resident) {
      dispatch.waiting.push_back({block, 0, 1});
      continue;
    }
    // Blocks that leave out iterations are at the same ones together, as at a launch's begin, and those of a
    // cluster begin together.
    const double cut =
        snapshot.whole_grid || snapshot.leaves_out || snapshot.joins_blocks ? 0 : random.fraction();
    if (cut > 0 && is_in_loop(longest_warp(snapshot, snapshot.blocks[block]), cut)) {
      dispatch.first.push_back({block, cut, 1});
      last.push_back({block, 0, cut});
    } else {
      dispatch.first.push_back({block, 0, 1});
    }
  }
  dispatch.waiting.insert(dispatch.waiting.end(), last.begin(), last.end());
  std::ranges::reverse(dispatch.waiting);
  return dispatch;
}

std::optional<TimedCode> timed_code(const Snapshot& snapshot, const Gpu& gpu, ClockFigures& figures) {
  if (!snapshot.code || !gpu.pipes)
    return std::nullopt;
  return TimedCode(*snapshot.code, *gpu.pipes, figures);
}

class ClockedTrial {
public:
  ClockedTrial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
               std::span<const L2> before, TrialObserver* observer)
      : snapshot_(snapshot), gpu_sms_(gpu.sms), gpu_channels_(gpu.dram.channels),
        machine_(
            snapshot, gpu, [&](ClockFigures& figures) { return timed_code(snapshot, gpu, figures); }, before,
            random, observer),
        resident_(std::size_t(occupancy.blocks_per_sm) * gpu.sms),
        dispatch_(dispatch_order(snapshot, resident_, random)) {
    const auto busy = std::uint32_t(std::min<std::size_t>(gpu.sms, dispatch_.first.size()));
    machine_.add_sms(busy, occupancy.l1_bytes, random);
    if (snapshot.leaves_out) {
      machine_.note_left_out(left_out_.emplace(snapshot));
      block_before_.assign(snapshot.blocks.size(), none);
    }
    for (std::uint32_t number = 0; number < dispatch_.first.size(); ++number)
      machine_.dispatch(number % busy, dispatch_.first[number], 0);
  }

  TrialCounts run(const std::function<bool()>& stop) {
    while (machine_.run_epoch()) {
      dispatch_further();
      if (stop && stop())
        return {};
    }
    return counts();
  }

private:
  /// Deals further blocks to the SMs on which some have ended: each takes the place of its predecessor.
  void dispatch_further() {
    const std::size_t before = ended_.size();
    machine_.take_ended(ended_);
    if (ended_.size() != before)
      issued_.resize(ended_.size(), machine_.instructions());
    for (std::size_t i = before; i < ended_.size() && !dispatch_.waiting.empty(); ++i) {
      machine_.dispatch(ended_[i].sm, dispatch_.waiting.back(), machine_.begin_behind(ended_[i].at));
      if (left_out_)
        block_before_[dispatch_.waiting.back().block] = ended_[i].block;
      dispatch_.waiting.pop_back();
    }
  }

  /// Returns the time of the whole launch. Extrapolates from the rate in the steady state: from the end of
  /// half of the resident blocks to the begin of the last one, or of all if that is too short.
  /// Blocks that would have run beside the snapshot's take as long as these, or as they keep some resource
  /// busy. Further blocks do not write what the snapshot's evict beyond what they store: it is there once.
  double launch_cycles(const TrialCounts::Time& time) const {
    const double further = snapshot_.further_blocks, blocks_of_snapshot = double(snapshot_.blocks.size());
    if (further == 0)
      return double(time.cycles);
    const auto dram = std::size_t(Resource::dram);
    const double writing_before = time.writing_before / gpu_channels_; // while the others wait, if they do
    const double waited = writing_before * std::min(1.0, time.mean_busy[dram] / double(time.cycles));
    const double without_before = 1 - waited / double(time.cycles);
    if (const double beside = double(resident_) - blocks_of_snapshot; beside > 0) {
      const double waves = 1 + std::max(0.0, further - beside) / double(resident_);
      const double more = further / blocks_of_snapshot;
      ByResource busy = time.mean_busy;
      for (double& resource_busy : busy)
        resource_busy *= 1 + more;
      busy[dram] -= more * writing_before;
      return std::max(double(time.cycles) * (1 + (waves - 1) * without_before),
                      *std::ranges::max_element(busy));
    }
    if (left_out_) // they began together, so that their rate of ends is not that of the launch
      return double(time.cycles) *
             (1 +
              (blocks_in_whole_rows(blocks_of_snapshot + further) / blocks_of_snapshot - 1) * without_before);
    double resident = 0, all = 0;
    for (const BlockPart& part : dispatch_.first)
      resident += part.to - part.from;
    for (const Sm::EndedBlock& one : ended_)
      all += one.blocks;
    std::size_t from = 0, to = 0; // in `ended_`
    double blocks = 0;
    for (std::size_t i = 0; i < ended_.size(); ++i) {
      blocks += ended_[i].blocks;
      if (blocks <= resident / 2)
        from = i;
      if (blocks <= all - double(dispatch_.first.size()))
        to = i;
    }
    const double per_block = double(time.cycles) / all;
    const std::vector<double> done = blocks_done(all);
    const double per_late_block = done[to] - done[from] < resident / 2 ? per_block
                                  : snapshot_.windows.size() > 1
                                      ? cycles_of_block_by_windows(done, from, to).value_or(per_block)
                                      : double(ended_[to].at - ended_[from].at) / (done[to] - done[from]);
    return double(time.cycles) + further * per_late_block * without_before;
  }

  /// Returns the number of blocks with the last wave's rounded up, so that each SM has as many as the one
  /// with most: blocks that begin together and do the same end together.
  double blocks_in_whole_rows(double blocks) const {
    const double last = std::fmod(blocks, double(resident_));
    return blocks - last + std::ceil(last / gpu_sms_) * gpu_sms_;
  }

  /// Returns for each end of a block how many of `all` blocks the machine has executed until then: by their
  /// instructions, as those of a wave begin together and also end together.
  std::vector<double> blocks_done(double all) const {
    const double per_instruction = all / double(machine_.instructions());
    std::vector<double> done;
    for (const std::uint64_t instructions : issued_)
      done.push_back(double(instructions) * per_instruction);
    return done;
  }

  /// Returns the cycles that a block takes of the machine's time, as the mean over the windows by their
  /// numbers of blocks: what is outside of `from` and `to` is left out, and windows differ. Empty if one is
  /// too short.
  std::optional<double> cycles_of_block_by_windows(const std::vector<double>& done, std::size_t from,
                                                   std::size_t to) const {
    const double in_flight = double(resident_) / 2; // blocks of the next window, when the last one is done
    std::vector<double> ends;
    std::vector<double> window_blocks;
    for (std::size_t i = 0; i < snapshot_.windows.size(); ++i) {
      const auto window_begin = snapshot_.windows[i];
      const auto next = i + 1 < snapshot_.windows.size() ? snapshot_.windows[i + 1] : ~std::uint64_t{0};
      const auto begin = std::ranges::lower_bound(snapshot_.blocks, window_begin, {}, &Snapshot::Block::id);
      const auto end = std::ranges::lower_bound(snapshot_.blocks, next, {}, &Snapshot::Block::id);
      window_blocks.push_back(double(end - begin));
      ends.push_back(double(end - snapshot_.blocks.begin()) - in_flight);
    }
    ends.back() = 0;
    for (std::size_t i = 0; i <= to; ++i)
      ends.back() += ended_[i].blocks;
    double sum = 0, blocks = 0;
    std::size_t window = 0;
    for (std::size_t i = 0, last = from; i <= to; ++i) {
      blocks += ended_[i].blocks;
      if (i < from)
        continue;
      for (; window < ends.size() && blocks >= ends[window]; ++window) {
        if (window_blocks[window] == 0)
          continue;
        if (done[i] - done[last] < in_flight / 2)
          return std::nullopt;
        sum += window_blocks[window] * double(ended_[i].at - ended_[last].at) / (done[i] - done[last]);
        last = i;
      }
    }
    return window == ends.size() ? std::optional(sum / double(snapshot_.blocks.size())) : std::nullopt;
  }

  /// Returns by how many cycles each block would have ended later, with the iterations that are left out,
  /// also those of the blocks before it on its SM.
  std::vector<double> end_later() const {
    std::vector<std::uint32_t> sm_blocks(gpu_sms_), beside(snapshot_.blocks.size());
    for (const Sm::EndedBlock& one : ended_)
      sm_blocks[one.sm] += block_before_[one.block] == none;
    for (const Sm::EndedBlock& one : ended_)
      beside[one.block] = sm_blocks[one.sm];
    std::vector<double> later = left_out_->delays_of_blocks(beside);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> together;
    for (const Sm::EndedBlock& one : ended_)
      together[{one.sm, waves_before(one.block)}].push_back(one.block);
    for (const auto& [where, blocks] : together) {
      const double by_turns = left_out_->delay_of_sm(blocks);
      for (const std::uint32_t block : blocks)
        if (by_turns > out_of_step * later[block])
          later[block] = by_turns;
    }
    for (const Sm::EndedBlock& one : ended_)
      if (const std::uint32_t before = block_before_[one.block]; before != none)
        later[one.block] += later[before]; // which ended before it
    return later;
  }

  /// Returns how many blocks have ended before this one in its place.
  std::uint32_t waves_before(std::uint32_t block) const {
    std::uint32_t waves = 0;
    while ((block = block_before_[block]) != none)
      ++waves;
    return waves;
  }

  /// Adds the iterations that are left out to what was counted, and to the blocks' ends.
  void put_left_out(TrialCounts& counts) {
    const std::vector<double> later = end_later();
    double last = 0, last_replayed = 0;
    for (const Sm::EndedBlock& one : ended_) {
      last_replayed = std::max(last_replayed, double(one.at));
      last = std::max(last, double(one.at) + later[one.block]);
    }
    const double replayed = double(counts.time.cycles), all = replayed + last - last_replayed;
    counts.time.cycles = Cycle(all);
    counts.time.left_out_error = (min_left_out_error + left_out_->error()) * (all - replayed) / all;
    add_left_out(counts, snapshot_, all / replayed);
  }

  TrialCounts counts() {
    TrialCounts counts = machine_.counts(gpu_sms_);
    if (left_out_ && !ended_.empty())
      put_left_out(counts);
    if (!ended_.empty())
      counts.time.launch_cycles = launch_cycles(counts.time);
    return counts;
  }

  const Snapshot& snapshot_;
  std::uint32_t gpu_sms_, gpu_channels_;
  ClockedMachine machine_; ///< with those SMs that have work
  std::size_t resident_;   ///< blocks, with which all SMs are full
  BlockDispatch dispatch_;
  std::optional<LeftOutTime> left_out_;
  std::vector<std::uint32_t> block_before_; ///< whose place it took; where iterations are left out
  std::vector<Sm::EndedBlock> ended_;       ///< those of an epoch in the order of their ends
  std::vector<std::uint64_t> issued_;       ///< instructions, at the end of each one's epoch
};

} // namespace

TrialCounts run_clocked_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy,
                              Random random, std::span<const L2> before, TrialObserver* observer,
                              const std::function<bool()>& stop) {
  return ClockedTrial(snapshot, gpu, occupancy, random, before, observer).run(stop);
}

} // namespace warplens::model
