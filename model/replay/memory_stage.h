// Third stage of a trial's round: main memory serves what the L2 requests of it.
#pragma once

#include "model/dram/dram.h"
#include "model/replay/trial_records.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <numeric>

namespace warplens::model {

template <class Observer, class Instructions, bool by_site, bool is_observed> class MemoryStage {
public:
  MemoryStage(const Gpu& gpu, Random& random, TrialState<Observer, by_site>& state)
      : state_(state), dram_(gpu, busy_sms(state.snapshot, gpu), random) {}

  /// Serves the L2's requests, in its order.
  void serve(const DramRequests& requests) {
    if (dram_.by_load())
      Instructions::run([&] { serve<true>(requests); });
    else
      Instructions::run([&] { serve<false>(requests); });
  }

  /// Adds to the round's latencies how long its requests waited for each other in memory.
  void end_round(std::uint32_t resident_warps) {
    if (dram_.by_load())
      Instructions::run([&] { add_waits(resident_warps); });
  }

private:
  using Reason = DramRequest::Reason;

  /// Blocks have consecutive ids and go to the SMs in turn.
  static std::uint32_t busy_sms(const Snapshot& snapshot, const Gpu& gpu) {
    return std::uint32_t(std::clamp<std::size_t>(snapshot.blocks.size(), 1, gpu.sms));
  }

  /// `by_load`: how long the requests wait for each other is known once all of the round are there.
  template <bool by_load> void serve(const DramRequests& all) {
    const std::size_t limit = by_load ? all.size() : 0;
    PendingFill* pending[] = {read_.room_for(limit), written_.room_for(limit)}; // by Reason
    const DramRequest* const requests = all.requests.begin();
    TrialCounts& counts = state_.counts;
    std::array<std::uint64_t, DramRequest::reasons << sectors_per_line> times{}; // by DramRequest::fields
    dram_.template request_all<Instructions, by_load, !by_load || is_observed>(
        all.lines.begin(), all.size(), [&](std::size_t i) { return requests[i].sectors(); },
        [&](std::size_t i, const Dram::Service& service) {
          const auto [requester, fields] = requests[i];
          ++times[fields];
          const Reason reason = requests[i].reason();
          const bool evicted = reason == Reason::filled || reason == Reason::evicted;
          state_.observer.used_memory(
              {.evicted = evicted, .writes = reason == Reason::written || reason == Reason::evicted},
              service.channel, 0, 0);
          if (reason > Reason::written)
            return; // no request waits for it
          state_.requests[requester].wait_for(Level::dram, service.ns);
          if constexpr (by_load) {
            *pending[unsigned(reason)]++ = {requester, service.bank, service.ns};
          } else if (reason == Reason::read) {
            state_.observer.read_memory(service.ns);
            counts.dram_latency_ns += double(service.ns);
            ++counts.dram_reads;
          }
        });
    read_.written_to(pending[unsigned(Reason::read)]);
    written_.written_to(pending[unsigned(Reason::written)]);
    for (std::uint32_t fields = 0; fields < times.size(); ++fields) {
      const DramRequest request{0, fields};
      const bool reads = request.reason() == Reason::read || request.reason() == Reason::filled;
      (reads ? counts.dram_read_sectors : counts.dram_written_sectors) +=
          times[fields] * sector_count(request.sectors());
    }
  }

  void add_waits(std::uint32_t resident_warps) {
    AppendBuffer<Request>& requests = state_.requests;
    TrialCounts& counts = state_.counts;
    Load load;
    load.warps = resident_warps;
    std::array<std::uint64_t, levels> bulks{}; // by the level that served their slowest request
    Request slowest = requests[0];
    const auto end_bulk = [&] {
      ++bulks[slowest.level];
      load.latency_ns += double(slowest.latency_ns);
    };
    for (const Request* request = requests.begin() + 1; request != requests.end(); ++request)
      if (request->starts_bulk) {
        end_bulk();
        slowest = *request;
      } else if (request->latency_ns > slowest.latency_ns) {
        slowest = *request;
      }
    end_bulk();
    load.bulks = double(std::accumulate(bulks.begin(), bulks.end(), std::uint64_t{0}));
    load.waiting = double(bulks[unsigned(Level::dram)]);
    dram_.end_round(load);
    const auto wait = [&](const PendingFill& one) {
      const float latency_ns = one.ns + dram_.wait_ns(one.bank);
      requests[one.requester].wait_for(Level::dram, latency_ns);
      return latency_ns;
    };
    double latency_ns = counts.dram_latency_ns;
    for (const PendingFill& one : read_) {
      const float wait_ns = wait(one);
      state_.observer.read_memory(wait_ns);
      latency_ns += double(wait_ns);
    }
    counts.dram_latency_ns = latency_ns;
    counts.dram_reads += read_.size();
    for (const PendingFill& one : written_)
      wait(one);
    read_.clear();
    written_.clear();
  }

  TrialState<Observer, by_site>& state_;
  Dram dram_;
  AppendBuffer<PendingFill> read_, written_; ///< in this round
};

} // namespace warplens::model
