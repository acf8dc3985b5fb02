// The interface through which a trial notifies observers of its events. Most trials have none: they are
// compiled with NoObserver, which costs nothing.
#pragma once

#include "model/cache/l2.h"
#include "model/cache/lookups.h"
#include "model/snapshot/snapshot.h"

#include <span>
#include <vector>

namespace warplens::model {

/// Observes one trial. A trial proceeds in rounds. In each, all SMs issue some requests (warp accesses) in
/// parallel, of which observers are notified SM by SM; then the L2 serves those that go on to it.
class TrialObserver {
public:
  virtual ~TrialObserver() = default;
  /// Notifies of a request that the SM issued; `l1`: its lookups there. Requests of a round have the numbers
  /// 0, 1, … in the order of these calls.
  virtual void issued(std::uint32_t /*sm*/, const Access& /*access*/,
                      std::span<const Transaction> /*transactions*/, const Lookups& /*l1*/) {}
  /// Notifies of the lookup of a line's `sectors` in the L2 for the round's request.
  virtual void looked_up(std::uint32_t /*request*/, bool /*is_load*/, std::uint32_t /*line*/,
                         unsigned /*sectors*/, const L2Outcome& /*outcome*/) {}
  /// Notifies of a line that was read from memory or written to it due to the round's request; `evicted`: it
  /// is a victim that was written back, and the request does not wait for it. Batches have ascending numbers;
  /// all of a batch is served together.
  virtual void went_to_memory(std::uint32_t /*request*/, bool /*evicted*/, std::uint32_t /*channel*/,
                              std::uint64_t /*batch*/) {}
  /// Notifies of a line that was read from memory, and of the time it took.
  virtual void read_memory(float /*latency_ns*/) {}
  virtual void round_ended() {}
};

/// Forwards each notification to several observers.
class Observers final : public TrialObserver {
public:
  explicit Observers(std::vector<TrialObserver*> observers) : observers_(std::move(observers)) {}
  void issued(std::uint32_t sm, const Access& access, std::span<const Transaction> transactions,
              const Lookups& l1) override {
    for (TrialObserver* observer : observers_)
      observer->issued(sm, access, transactions, l1);
  }
  void looked_up(std::uint32_t request, bool is_load, std::uint32_t line, unsigned sectors,
                 const L2Outcome& outcome) override {
    for (TrialObserver* observer : observers_)
      observer->looked_up(request, is_load, line, sectors, outcome);
  }
  void went_to_memory(std::uint32_t request, bool evicted, std::uint32_t channel,
                      std::uint64_t batch) override {
    for (TrialObserver* observer : observers_)
      observer->went_to_memory(request, evicted, channel, batch);
  }
  void read_memory(float latency_ns) override {
    for (TrialObserver* observer : observers_)
      observer->read_memory(latency_ns);
  }
  void round_ended() override {
    for (TrialObserver* observer : observers_)
      observer->round_ended();
  }

private:
  std::vector<TrialObserver*> observers_;
};

} // namespace warplens::model
