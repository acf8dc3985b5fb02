// Observes what each of several kernels beside each other does over the cycles of a trial.
#pragma once

#include "model/counts/trial_observer.h"
#include "result/corun.h"

#include <vector>

namespace warplens::model {

/// Records the timeline of the observed trial, whose length is known: it has been run before. What happens
/// after that is left out.
class KernelsOverTime final : public TrialObserver {
public:
  /// `first_sites`: of each kernel the first of its sites in the joined snapshot, ascending from 0. `bins` is
  /// at least 1; the timeline has no more bins than cycles.
  KernelsOverTime(std::vector<std::uint32_t> first_sites, Cycle cycles, std::uint32_t bins,
                  double ns_per_cycle);

  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1, Cycle at) override;
  void looked_up(bool is_load, std::uint32_t line, unsigned sectors, const L2Outcome& outcome,
                 Cycle at) override;
  void used_memory(const DramUse& use, std::uint32_t channel, Cycle from, Cycle until) override;

  CorunTimeline timeline() && { return std::move(timeline_); }

private:
  /// Returns the bin of a cycle; as many as there are where it is after the end.
  std::size_t bin_of(Cycle at) const {
    return at >= timeline_.cycles ? bins_ : std::size_t(at * bins_ / timeline_.cycles);
  }

  std::vector<std::uint32_t> first_sites_;
  std::size_t bins_;
  CorunTimeline timeline_;
};

} // namespace warplens::model
