// The timeline of a trial: counts of its events, in bins over the order of its requests.
#pragma once

#include "model/gpu/gpu.h"
#include "model/gpu/slices.h"
#include "model/trial/trial_observer.h"
#include "result/timeline.h"

namespace warplens::model {

/// Records the timeline of the observed trial. Its memory is in proportion to the bins, and to the requests
/// of a round and of a batch of DRAM, but not to the trial's length.
class TimelineRecorder final : public TrialObserver {
public:
  /// `sites` are the trace's. `bins` is at least 1; the timeline has no more bins than requests.
  TimelineRecorder(const Snapshot& snapshot, const std::vector<Site>& sites, const Gpu& gpu,
                   std::uint32_t trial, std::uint32_t bins);
  TimelineRecorder(const TimelineRecorder&) = delete; // its parts refer to each other
  TimelineRecorder& operator=(const TimelineRecorder&) = delete;

  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1) override;
  void looked_up(std::uint32_t request, bool is_load, std::uint32_t line, unsigned sectors,
                 const L2Outcome& outcome) override;
  void went_to_memory(std::uint32_t request, bool evicted, std::uint32_t channel,
                      std::uint64_t batch) override;
  void round_ended() override;

  Timeline timeline() &&;

private:
  struct Issued {
    std::uint32_t sm = 0, ordinal = 0; ///< its index among its SM's requests of this round
    std::uint32_t site = 0;
    std::uint8_t active_lanes = 0;
    Lookups l1;
    std::uint64_t number = 0; ///< in the whole trial's order
    std::size_t bin = 0;
    std::uint64_t counted_until = 0; ///< it has been counted as outstanding up to this request number
  };
  /// A line in the batch that has not been served yet, requested in this round.
  struct Waiting {
    std::uint32_t request = 0, channel = 0;
    bool evicted = false;
  };
  /// A line in the batch that has not been served yet, requested in an earlier round.
  struct Earlier {
    std::uint64_t number = 0, counted_until = 0;
    std::uint32_t channel = 0;
  };
  /// Counts concurrent intervals of request numbers, averaged over each bin.
  class Presence {
  public:
    explicit Presence(const std::vector<std::uint64_t>& edges)
        : edges_(&edges), parts_(edges.size() - 1), changes_(edges.size()) {}
    void add(std::uint64_t from, std::uint64_t to); ///< adds the interval [from, to)
    std::vector<double> means() const;

  private:
    const std::vector<std::uint64_t>* edges_;
    std::vector<std::uint64_t> parts_;  ///< by bin: sum of the intervals that cover it in part
    std::vector<std::int64_t> changes_; ///< by bin: change of the number of intervals that cover it in full
  };

  void place();
  void serve_batch();

  Slices slices_;
  Timeline timeline_;
  std::vector<std::uint32_t> line_of_; ///< in the order of Snapshot::sites; indices into timeline_.lines
  Presence outstanding_;
  std::vector<Presence> channel_outstanding_;
  std::vector<Issued> round_;
  std::vector<std::uint32_t> issued_by_; ///< by SM, in this round
  bool placed_ = false;
  std::uint64_t before_ = 0; ///< requests of earlier rounds
  std::uint64_t batch_ = 0;
  std::vector<Waiting> waiting_;
  std::vector<Earlier> earlier_;
};

} // namespace warplens::model
