// What one trial tells of its course. Most trials have nobody listening: they are compiled with a listener
// that costs nothing.
#pragma once

#include "model/l2.h"
#include "model/snapshot.h"

#include <span>
#include <vector>

namespace warplens::model {

/// Hits out of what was looked up.
struct Lookups {
  std::uint64_t hits = 0, all = 0;
  friend bool operator==(const Lookups&, const Lookups&) = default;
  Lookups& operator+=(const Lookups& more) {
    hits += more.hits;
    all += more.all;
    return *this;
  }
};

/// A trial goes in rounds. In each, every SM issues some requests (warp accesses), side by side with the
/// others though they are told of one SM after the other; then the L2 serves what those requests ask of it.
class TrialObserver {
public:
  virtual ~TrialObserver() = default;
  /// A request of the SM; `l1`: what it looked up there. Requests of a round are numbered 0, 1, … in the
  /// order of these calls.
  virtual void issued(std::uint32_t /*sm*/, const Access& /*access*/,
                      std::span<const Transaction> /*transactions*/, const Lookups& /*l1*/) {}
  /// The round's request looked up a line's `sectors` in the L2.
  virtual void looked_up(std::uint32_t /*request*/, bool /*is_load*/, std::uint32_t /*line*/,
                         unsigned /*sectors*/, const L2Outcome& /*outcome*/) {}
  /// Because of the round's request, one line was read from memory or written to it; `displaced`: it was
  /// written back to make room, and the request does not wait for it. Batches are numbered in the order of
  /// time; all of a batch is served together.
  virtual void went_to_memory(std::uint32_t /*request*/, bool /*displaced*/, std::uint32_t /*channel*/,
                              std::uint64_t /*batch*/) {}
  /// A line was read from memory, in so long.
  virtual void read_memory(float /*latency_ns*/) {}
  virtual void round_ended() {}
};

/// Tells several.
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
  void went_to_memory(std::uint32_t request, bool displaced, std::uint32_t channel,
                      std::uint64_t batch) override {
    for (TrialObserver* observer : observers_)
      observer->went_to_memory(request, displaced, channel, batch);
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
