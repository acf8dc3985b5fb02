#include "model/clock/clocked_trial.h"

#include "model/clock/sm.h"

#include <algorithm>
#include <memory>

namespace warplens::model {
namespace {

/// The parts of blocks in the order in which they are dealt.
struct Dealing {
  std::vector<BlockPart> first;   ///< what the SMs begin with
  std::vector<BlockPart> waiting; ///< the next one is at the back
};

/// A snapshot of a longer launch begins in the middle of it: each resident block is at a random point if that
/// lies in a loop, and the accesses before the point come at the end.
Dealing deal(const Snapshot& snapshot, std::size_t resident, Random& random) {
  Dealing dealing;
  std::vector<BlockPart> last;
  for (std::uint32_t block = 0; block < snapshot.blocks.size(); ++block) {
    if (block >= resident) {
      dealing.waiting.push_back({block, 0, 1});
      continue;
    }
    const double cut = snapshot.whole_grid ? 0 : random.fraction();
    if (cut > 0 && is_in_loop(longest_warp(snapshot, snapshot.blocks[block]), cut)) {
      dealing.first.push_back({block, cut, 1});
      last.push_back({block, 0, cut});
    } else {
      dealing.first.push_back({block, 0, 1});
    }
  }
  dealing.waiting.insert(dealing.waiting.end(), last.begin(), last.end());
  std::ranges::reverse(dealing.waiting);
  return dealing;
}

class ClockedTrial {
public:
  ClockedTrial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
               const L2* before)
      : snapshot_(snapshot), figures_(gpu), memory_(snapshot, gpu, before),
        dealing_(deal(snapshot, std::size_t(occupancy.blocks_per_sm) * gpu.sms, random)) {
    const auto busy = std::uint32_t(std::min<std::size_t>(gpu.sms, dealing_.first.size()));
    for (std::uint32_t number = 0; number < busy; ++number)
      sms_.push_back(std::make_unique<Sm>(snapshot, gpu, figures_, occupancy.l1_bytes, number, random));
    // The GPU starts about a block in a cycle.
    for (std::uint32_t i = 0; i < dealing_.first.size(); ++i)
      sms_[i % busy]->admit(dealing_.first[i], i);
  }

  TrialCounts run() {
    const Cycle epoch = memory_.shortest();
    Cycle end = 0;
    for (Cycle next = next_cycle(); next != never; next = next_cycle()) {
      end = (std::max(next, end) / epoch + 1) * epoch;
      for (const auto& sm : sms_)
        if (sm->next() < end)
          sm->run_until(end, memory_);
      memory_.run_until(end);
      for (std::uint32_t number = 0; number < sms_.size(); ++number)
        sms_[number]->take(memory_.answers(number));
      deal_further(end);
    }
    return counts();
  }

private:
  /// Returns a cycle before which nothing happens.
  Cycle next_cycle() const {
    // The memory answers a request an epoch after it left its SM, at the earliest.
    Cycle next = memory_.next();
    if (next != never)
      next -= std::min(next, memory_.shortest());
    for (const auto& sm : sms_)
      next = std::min(next, sm->next());
    return next;
  }

  /// Deals further blocks to the SMs on which some have ended, at the epoch's end.
  void deal_further(Cycle at) {
    ended_.clear();
    for (const auto& sm : sms_) {
      ended_.insert(ended_.end(), sm->ended_blocks().begin(), sm->ended_blocks().end());
      sm->ended_blocks().clear();
    }
    std::ranges::sort(ended_, {},
                      [](const Sm::EndedBlock& one) { return std::tuple(one.at, one.draw, one.sm); });
    for (const Sm::EndedBlock& one : ended_) {
      if (dealing_.waiting.empty())
        return;
      sms_[one.sm]->admit(dealing_.waiting.back(), at);
      dealing_.waiting.pop_back();
    }
  }

  TrialCounts counts() const {
    TrialCounts counts;
    counts.sites.resize(snapshot_.sites.size());
    TrialCounts::Time& time = counts.time;
    for (const auto& sm : sms_) {
      time.cycles = std::max(time.cycles, sm->last());
      time.issue = std::max(time.issue, double(sm->issued()) / figures_.sm.schedulers);
      time.pipeline = std::max(time.pipeline, double(sm->pipeline_busy()));
      time.port = std::max(time.port, double(sm->port_busy()) / ticks_per_cycle);
      for (std::size_t site = 0; site < counts.sites.size(); ++site)
        add(sm->counts()[site], counts.sites[site]);
    }
    for (const TrialCounts::Site& site : counts.sites) {
      counts.l1_reads += site.l1;
      counts.constant_reads += site.constant;
    }
    memory_.count(counts);
    const MemoryUse use = memory_.use();
    time.slice = double(use.slice) / ticks_per_cycle;
    time.fabric = double(use.fabric) / ticks_per_cycle;
    time.channel = double(use.channel) / ticks_per_cycle;
    return counts;
  }
  void add(const SmSiteCounts& of_sm, TrialCounts::Site& site) const {
    site.l1 += of_sm.l1;
    site.constant += of_sm.constant;
    for (std::size_t level = 0; level < levels; ++level)
      site.latency_ns[level] += double(of_sm.latency[level]) * figures_.ns_per_cycle;
    site.awaited += double(of_sm.awaited);
    site.held_up += double(of_sm.stalls[std::size_t(Stall::structural)]);
    site.passes += double(of_sm.passes);
  }

  const Snapshot& snapshot_;
  ClockFigures figures_;
  Memory memory_;
  Dealing dealing_;
  std::vector<std::unique_ptr<Sm>> sms_; ///< those with work
  std::vector<Sm::EndedBlock> ended_;
};

} // namespace

TrialCounts run_clocked_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy,
                              Random random, const L2* before) {
  return ClockedTrial(snapshot, gpu, occupancy, random, before).run();
}

} // namespace warplens::model
