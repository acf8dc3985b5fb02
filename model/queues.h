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

  /// Sums over requests, side by side so that one instruction adds to all: squared gaps between arrivals, how
  /// many there are, service times, squared service times.
  using Sums [[gnu::vector_size(16)]] = float;
  enum Sum { sum_squared_gaps, sum_requests, sum_service, sum_squared_service };

  /// What a request adds that takes so much of the server's time, but for its gap.
  static Sums taking(float service_ns) { return Sums{0, 1, service_ns, service_ns * service_ns}; }

  /// The server was asked for something, by the round's request number `arrival` (ascending).
  void add(std::size_t server, float arrival, Sums request) {
    Server& one = servers_[server];
    const float gap = arrival - one.last;
    one.last = arrival;
    request[sum_squared_gaps] = gap * gap;
    one.sums += request;
  }
  void add(std::size_t server, float arrival, float service_ns) { add(server, arrival, taking(service_ns)); }

  /// The round's requests have all come: what follows is about them. No more than this share of them is under
  /// way at once.
  void close_round(double share_under_way);
  /// How long the servers work for them, on average.
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
    Sums sums{};
    float last = 0; ///< arrival
  };
  /// A server's mean wait is `weight / (round − service)`, but not above `longest`; over all requests it
  /// counts `requests` times.
  struct Used {
    std::uint32_t server;
    double requests, service, weight, longest;
    double wait_ns(double round) const {
      return round > service ? std::min(weight / (round - service), longest) : longest;
    }
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
