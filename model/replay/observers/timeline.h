// The timeline of a trial on a clock: counts of its events, in bins over its cycles.
#pragma once

#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/gpu/slices.h"
#include "result/timeline.h"

namespace warplens::model {

/// Records the timeline of the observed trial, whose length is known: it has been run before. Its memory is
/// in proportion to the bins.
class TimelineRecorder final : public TrialObserver {
public:
  /// `sites` are the trace's. `bins` is at least 1; the timeline has no more bins than cycles.
  TimelineRecorder(const Snapshot& snapshot, const std::vector<Site>& sites, const Gpu& gpu,
                   std::uint32_t trial, Cycle cycles, std::uint32_t bins);
  TimelineRecorder(const TimelineRecorder&) = delete; // its parts refer to each other
  TimelineRecorder& operator=(const TimelineRecorder&) = delete;

  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1, Cycle at) override;
  void answered(Cycle issued, Cycle at) override;
  void looked_up(bool is_load, std::uint32_t line, unsigned sectors, const L2Outcome& outcome,
                 Cycle at) override;
  void issued_instruction(std::uint32_t sm, Cycle at) override;
  void used_memory(const DramUse& use, std::uint32_t channel, Cycle from, Cycle until) override;

  Timeline timeline() &&;

private:
  Timeline::Sm& sm(std::uint32_t number);

  /// Counts concurrent intervals of cycles, averaged over each bin.
  class Presence {
  public:
    explicit Presence(const std::vector<std::uint64_t>& edges)
        : edges_(&edges), parts_(edges.size() - 1), changes_(edges.size()) {}
    void add(Cycle from, Cycle to); ///< adds the interval [from, to)
    std::vector<double> means() const;

  private:
    const std::vector<std::uint64_t>* edges_;
    std::vector<std::uint64_t> parts_;  ///< by bin: sum of the intervals that cover it in part
    std::vector<std::int64_t> changes_; ///< by bin: change of the number of intervals that cover it in full
  };

  bool knows_instructions_; ///< not accesses alone
  Slices slices_;
  Timeline timeline_;
  std::vector<std::uint32_t> line_of_; ///< in the order of Snapshot::sites; indices into timeline_.lines
  Presence outstanding_;
  std::vector<Presence> channel_outstanding_;
};

} // namespace warplens::model
