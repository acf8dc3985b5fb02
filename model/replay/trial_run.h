// The course of one trial, round by round. A template over the observer, so that a trial without one costs
// nothing for it.
#pragma once

#include "model/replay/l1_stage.h"
#include "model/replay/l2_stage.h"
#include "model/replay/memory_stage.h"
#include "model/replay/trial.h"
#include "model/replay/trial_records.h"
#include "numeric/instructions.h"

#include <concepts>
#include <span>
#include <utility>

namespace warplens::model {

/// Transactions of all SMs in a round: long enough that an SM's L1 stays in the host's caches, short enough
/// for memory.
inline constexpr std::uint64_t round_transactions = 1u << 16;

/// The observer of a trial that no one observes.
struct NoObserver {
  void issued(std::uint32_t, const Access&, std::span<const Transaction>, const Lookups&, Cycle) {}
  void looked_up(bool, std::uint32_t, unsigned, const L2Outcome&, Cycle) {}
  void used_memory(const DramUse&, std::uint32_t, Cycle, Cycle) {}
  void read_memory(float) {}
};

/// `Instructions`: the processor's that the loops are compiled for. Without `by_site` all is counted as if
/// there were one site, which is there to measure what telling sites apart costs.
template <class Observer, class Instructions, bool by_site = true> class Trial {
public:
  // The order in which the stages are made is that in which they draw random numbers.
  Trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random& random,
        Observer& observer, const L2* before = nullptr)
      : state_{snapshot, observer, Tallies<by_site>(snapshot, gpu.l1.sectored), {}, {}},
        l2_(gpu, random, before, state_), memory_(gpu, random, state_), sms_(gpu, occupancy, random, state_) {
  }

  TrialCounts run() {
    for (std::uint64_t left = sms_.transactions_left(); left != 0; left = sms_.transactions_left()) {
      sms_.issue(left, round_transactions);
      l2_.queue(sms_);
      while (l2_.waiting() != 0) {
        l2_.merge(sms_.constants());
        memory_.serve(l2_.serve());
      }
      memory_.end_round(sms_.resident_warps());
      end_round();
    }
    return counts();
  }

private:
  static constexpr bool is_observed = !std::same_as<Observer, NoObserver>;

  void end_round() {
    Instructions::run([&] {
      for (const Request& request : state_.requests)
        state_.tallies.of(request.site).latency_ns[request.level] += double(request.latency_ns);
    });
    state_.requests.clear();
  }

  TrialCounts counts() {
    state_.tallies.add_to(state_.counts);
    if (sms_.constants())
      sms_.constants()->count(state_.counts);
    return std::move(state_.counts);
  }

  TrialState<Observer, by_site> state_;
  L2Stage<Observer, Instructions, by_site> l2_;
  MemoryStage<Observer, Instructions, by_site, is_observed> memory_;
  L1Stage<Observer, Instructions, by_site> sms_;
};

} // namespace warplens::model
