// The waiting times of requests at servers that serve one at a time, such as banks of memory: queues with
// general arrivals and service, by Kingman's approximation ("The single server queue in heavy traffic",
// 1961).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::model {

/// The requests that arrived at a server in a round: sums over them, side by side so that one instruction
/// adds to all.
struct Arrivals {
  /// The sums of squared gaps between arrivals, requests, service times, and squared service times.
  using Sums [[gnu::vector_size(16)]] = float;
  enum Sum { squared_gaps, requests, service, squared_service };

  Sums sums{};
  float last = 0; ///< number of the last arrival

  /// Returns what a request of this service time adds to the sums, without its gap.
  static Sums taking(float service_ns) { return Sums{0, 1, service_ns, service_ns * service_ns}; }
  /// Returns `request` with the gap from the server's last arrival to this one. Arrivals at all servers have
  /// ascending numbers, of which `arrival` is this one's.
  static Sums arriving(float arrival, float& last, Sums request) {
    const float gap = arrival - last;
    last = arrival;
    request[squared_gaps] = gap * gap;
    return request;
  }
  void add(float arrival, Sums request) { sums += arriving(arrival, last, request); }
};

/// The queues of several servers, round by round.
class Queues {
public:
  explicit Queues(std::size_t servers) : waits_ns_(servers) {}

  /// Takes the round's requests to each server, to which the functions below refer. No more than this share
  /// of them is in flight at once.
  void close_round(std::span<const Arrivals> arrivals_by_server, double share_under_way);
  /// Returns the mean over the servers of the time that they are busy.
  double busy_ns() const;
  /// Returns the mean time that the round's requests wait if they arrive within `ns`, which is more than
  /// busy_ns().
  double mean_wait_ns(double ns) const;

  /// Computes each server's mean wait, given that the round took `ns`.
  void compute_waits(double ns);
  /// Returns the server's mean wait.
  float wait_ns(std::size_t server) const { return waits_ns_[server]; }

private:
  /// A server with requests in this round. Its mean wait is `weight / (round − service)`, but not above
  /// `longest`; in the mean over all requests it counts `requests` times.
  struct Used {
    std::uint32_t server;
    double requests, service, weight, longest;
    double wait_ns(double round) const {
      return round > service ? std::min(weight / (round - service), longest) : longest;
    }
  };
  std::vector<Used> used_;
  std::vector<float> waits_ns_;
};

/// The load of a round: `warps` have one bulk each in flight. The sum of the latencies of the round's `bulks`
/// is `latency_ns`, where each takes as long as its slowest request, without waits; `waiting` of the bulks
/// wait for memory.
struct Load {
  double warps = 1, bulks = 0, waiting = 0, latency_ns = 0;
};

/// The duration of a round. The longer a round takes, the less its requests wait, and the longer they wait,
/// the longer the round takes: `ns` is the one time at which both agree, but no less than the servers are
/// busy. In that case each request waits for `more_wait_ns` more, as those in flight queue before a server.
struct RoundTime {
  double ns = 0, more_wait_ns = 0;
};
RoundTime round_time(const Load& load, const Queues& banks, const Queues& buses);

} // namespace warplens::model
