// The interface through which a trial notifies observers of its events.
#pragma once

#include "model/cache/l2.h"
#include "model/cache/lookups.h"
#include "model/sm/cycle.h"
#include "model/snapshot/snapshot.h"

#include <span>
#include <vector>

namespace warplens::model {

/// Observes one trial. Cycles are 0 where the trial has no clock; with one, notifications are in the order of
/// time for each SM, and for each partition of the L2, but not among them.
class TrialObserver {
public:
  virtual ~TrialObserver() = default;
  /// Notifies of an access that the SM issued; `l1`: its lookups there.
  virtual void issued(std::uint32_t /*sm*/, const Access& /*access*/,
                      std::span<const Transaction> /*transactions*/, const Lookups& /*l1*/, Cycle /*at*/) {}
  /// Notifies of the answer to an access, where the trial has a clock.
  virtual void answered(Cycle /*issued*/, Cycle /*at*/) {}
  /// Notifies of the lookup of a line's `sectors` in the L2, or in a partition of it.
  virtual void looked_up(bool /*is_load*/, std::uint32_t /*line*/, unsigned /*sectors*/,
                         const L2Outcome& /*outcome*/, Cycle /*at*/) {}
  /// Notifies of a line that was read from memory or written to it, and of the time from the request to its
  /// end; `evicted`: it is a victim that was written back.
  virtual void used_memory(bool /*evicted*/, std::uint32_t /*channel*/, Cycle /*from*/, Cycle /*until*/) {}
  /// Notifies of a line that was read from memory, and of the time it took.
  virtual void read_memory(float /*latency_ns*/) {}
};

/// Forwards each notification to several observers.
class Observers final : public TrialObserver {
public:
  explicit Observers(std::vector<TrialObserver*> observers) : observers_(std::move(observers)) {}
  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1, Cycle at) override {
    for (TrialObserver* observer : observers_)
      observer->issued(sm, access, transactions, l1, at);
  }
  void answered(Cycle issued, Cycle at) override {
    for (TrialObserver* observer : observers_)
      observer->answered(issued, at);
  }
  void looked_up(bool is_load, std::uint32_t line, unsigned sectors, const L2Outcome& outcome,
                 Cycle at) override {
    for (TrialObserver* observer : observers_)
      observer->looked_up(is_load, line, sectors, outcome, at);
  }
  void used_memory(bool evicted, std::uint32_t channel, Cycle from, Cycle until) override {
    for (TrialObserver* observer : observers_)
      observer->used_memory(evicted, channel, from, until);
  }
  void read_memory(float latency_ns) override {
    for (TrialObserver* observer : observers_)
      observer->read_memory(latency_ns);
  }

private:
  std::vector<TrialObserver*> observers_;
};

} // namespace warplens::model
