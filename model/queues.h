// How long requests wait for what serves one at a time, such as a bank of memory: a queue with general
// arrivals and service, by Kingman's approximation ("The single server queue in heavy traffic", 1961).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::model {

/// What a server was asked for in a round: sums over the requests, side by side so that one instruction adds
/// to all.
struct Arrivals {
  /// Squared gaps between arrivals, how many there are, service times, squared service times.
  using Sums [[gnu::vector_size(16)]] = float;
  enum Sum { squared_gaps, requests, service, squared_service };

  Sums sums{};
  float last = 0;

  /// What a request adds that takes so much of the server's time, but for its gap.
  static Sums taking(float service_ns) { return Sums{0, 1, service_ns, service_ns * service_ns}; }
  /// The same with the gap, from the server's last request to this one: number `arrival` (ascending) of all.
  static Sums arriving(float arrival, float& last, Sums request) {
    const float gap = arrival - last;
    last = arrival;
    request[squared_gaps] = gap * gap;
    return request;
  }
  void add(float arrival, Sums request) { sums += arriving(arrival, last, request); }
};

class Queues {
public:
  explicit Queues(std::size_t servers) : waits_ns_(servers) {}

  /// The round's requests have all come, to each server these: what follows is about them. No more than this
  /// share of them is under way at once.
  void close_round(std::span<const Arrivals> of_servers, double share_under_way);
  /// How long the servers work for them, on average.
  double busy_ns() const;
  /// The mean over the round's requests of the time they wait if they arrive within `ns`, which is more than
  /// busy_ns().
  double mean_wait_ns(double ns) const;

  /// Works out their waits, if the round took so long.
  void take(double ns);
  /// As take() found.
  float wait_ns(std::size_t server) const { return waits_ns_[server]; }

private:
  /// A server's mean wait is `weight / (round − service)`, but not above `longest`; over all requests it
  /// counts `requests` times.
  struct Used {
    std::uint32_t server;
    double requests, service, weight, longest;
    double wait_ns(double round) const {
      return round > service ? std::min(weight / (round - service), longest) : longest;
    }
  };
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
