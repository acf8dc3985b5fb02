// How long requests wait for what serves one at a time, such as a bank of memory: a queue with general
// arrivals and service, by Kingman's approximation ("The single server queue in heavy traffic", 1961).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace warplens::model {

class Queues {
public:
  explicit Queues(std::size_t servers) : servers_(servers), waits_ns_(servers) {}

  /// The server was asked for `service_ns` of its time, by the round's request number `arrival` (ascending).
  void add(std::size_t server, std::uint32_t arrival, float service_ns) {
    Server& one = servers_[server];
    const float gap = float(std::int32_t(arrival - one.last));
    one.last = arrival;
    one.sums.requests += 1;
    one.sums.service += service_ns;
    one.sums.squared_service += service_ns * service_ns;
    one.sums.squared_gaps += gap * gap;
  }

  /// The round's requests have all come: what follows is about them. No more than this share of them is under
  /// way at once.
  void close_round(double share_under_way);
  /// How long the busiest server works for them.
  double busy_ns() const;
  /// The mean over the round's requests of the time they wait if they arrive within `ns`, which is more than
  /// busy_ns().
  double mean_wait_ns(double ns) const;

  /// Works out their waits, if the round took so long, and begins a new round.
  void begin_round(double ns);
  /// In the round that was closed last.
  float wait_ns(std::size_t server) const { return waits_ns_[server]; }

private:
  struct Server {
    /// Side by side in the order in which they are added to, so that one instruction adds to all.
    struct alignas(16) {
      float requests = 0, service = 0, squared_service = 0, squared_gaps = 0;
    } sums;
    std::uint32_t last = 0; ///< arrival
  };
  /// A server's mean wait is `weight / (round − service)`, but not above `longest`; over all requests it
  /// counts `requests` times.
  struct Used {
    std::uint32_t server;
    double requests, service, weight, longest;
    double wait_ns(double round) const { return std::min(weight / (round - service), longest); }
  };
  std::vector<Server> servers_;
  std::vector<Used> used_; ///< servers that had a request in this round
  std::vector<float> waits_ns_;
};

/// `warps` have one bulk each under way; the round has so many `bulks`, which take `latency_ns` together,
/// each as long as its slowest request and without waiting; `waiting` of them wait for memory.
struct Load {
  double warps = 1, bulks = 0, waiting = 0, latency_ns = 0;
};

/// The longer a round takes, the less its requests wait, and the longer they wait, the longer the round
/// takes: the one time at which both agree. But no less than the busiest server works; what the waits then
/// lack is `more_wait_ns` for each, as what is under way gathers before that server.
struct RoundTime {
  double ns = 0, more_wait_ns = 0;
};
RoundTime round_time(const Load& load, const Queues& banks, const Queues& buses);

} // namespace warplens::model
