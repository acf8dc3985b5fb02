// How long requests wait for what serves one at a time, such as a bank of memory: a queue with general
// arrivals and service, by Kingman's approximation ("The single server queue in heavy traffic", 1961).
#pragma once

#include <cstdint>
#include <vector>

namespace warplens::model {

class Queues {
public:
  explicit Queues(std::size_t servers) : servers_(servers), waits_ns_(servers) {}

  /// The server was asked for `service_ns` of its time, by the round's request number `arrival` (ascending).
  void add(std::size_t server, std::uint32_t arrival, float service_ns);

  /// How long the busiest server works for the round's requests.
  double busy_ns() const;
  /// The mean over the round's requests of the time they wait if they arrive within `ns`, which is more than
  /// busy_ns().
  double mean_wait_ns(double ns) const;

  /// Works out the waits for a round that took so long, and begins a new round.
  void end_round(double ns);
  /// Of the last round.
  float wait_ns(std::size_t server) const { return waits_ns_[server]; }

private:
  struct Server {
    std::uint32_t requests = 0, first = 0, last = 0;
    double service = 0, squared_service = 0, squared_gaps = 0;
    double wait_ns(double round_ns) const;
  };
  std::vector<Server> servers_;
  std::vector<std::uint32_t> used_; ///< servers that had a request in this round
  std::vector<float> waits_ns_;
};

/// How long a round takes. `warps` have one bulk each under way; the round has so many `bulks`, whose
/// requests take `latency_ns` together, without waiting; `waiting` of the `requests` wait for memory. The
/// longer a round takes, the less they wait, and the longer they wait, the longer the round takes: the one
/// time at which both agree.
struct Load {
  double warps = 1, bulks = 0, requests = 0, waiting = 0, latency_ns = 0;
};
double round_ns(const Load& load, const Queues& banks, const Queues& buses);

} // namespace warplens::model
