// The interface through which a trial notifies observers of its events.
#pragma once

#include "model/cache/l2.h"
#include "model/cache/lookups.h"
#include "model/sm/cycle.h"
#include "model/snapshot/snapshot.h"

#include <span>
#include <vector>

namespace warplens::model {

/// How a line of memory is used.
struct DramUse {
  bool evicted = false;   ///< it is a victim that is written back
  bool writes = false;    ///< it is not read
  bool opens_row = false; ///< its bank activates another row for it; never where the trial has no clock
};

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
  /// Notifies of an instruction that a warp of the SM issued, be it an access or not, where the trial has a
  /// clock.
  virtual void issued_instruction(std::uint32_t /*sm*/, Cycle /*at*/) {}
  /// Notifies of a line that was read from memory or written to it, and of the time from the request to its
  /// end.
  virtual void used_memory(const DramUse& /*use*/, std::uint32_t /*channel*/, Cycle /*from*/,
                           Cycle /*until*/) {}
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
  void issued_instruction(std::uint32_t sm, Cycle at) override {
    for (TrialObserver* observer : observers_)
      observer->issued_instruction(sm, at);
  }
  void used_memory(const DramUse& use, std::uint32_t channel, Cycle from, Cycle until) override {
    for (TrialObserver* observer : observers_)
      observer->used_memory(use, channel, from, until);
  }
  void read_memory(float latency_ns) override {
    for (TrialObserver* observer : observers_)
      observer->read_memory(latency_ns);
  }

private:
  std::vector<TrialObserver*> observers_;
};

} // namespace warplens::model
