#include "model/queues.h"

#include <algorithm>

namespace warplens::model {

void Queues::add(std::size_t server, std::uint32_t arrival, float service_ns) {
  Server& one = servers_[server];
  if (one.requests == 0) {
    one.first = arrival;
    used_.push_back(std::uint32_t(server));
  } else {
    const double gap = arrival - one.last;
    one.squared_gaps += gap * gap;
  }
  ++one.requests;
  one.last = arrival;
  one.service += double(service_ns);
  one.squared_service += double(service_ns) * double(service_ns);
}

double Queues::busy_ns() const {
  double busiest = 0;
  for (const std::uint32_t server : used_)
    busiest = std::max(busiest, servers_[server].service);
  return busiest;
}

// W = (ca² + cs²)/2 · ρ/(1 − ρ) · τs, where ca and cs are the coefficients of variation of the times between
// arrivals and of service, τs the mean service and ρ the share of the round in which the server is busy.
double Queues::Server::wait_ns(double round_ns) const {
  const double mean = service / requests;
  const double service_variation =
      mean == 0 ? 0 : std::max(0.0, squared_service / requests / (mean * mean) - 1);
  // Few arrivals say nothing of their own variation: 1 is that of arrivals independent of each other.
  double arrival_variation = 1;
  if (const double gaps = requests - 1.0; gaps >= 4 && last != first) {
    const double mean_gap = (last - first) / gaps;
    arrival_variation = std::max(0.0, squared_gaps / gaps / (mean_gap * mean_gap) - 1);
  }
  return (arrival_variation + service_variation) / 2 * service / (round_ns - service) * mean;
}

double Queues::mean_wait_ns(double ns) const {
  double sum = 0, requests = 0;
  for (const std::uint32_t server : used_) {
    sum += servers_[server].requests * servers_[server].wait_ns(ns);
    requests += servers_[server].requests;
  }
  return requests == 0 ? 0 : sum / requests;
}

void Queues::end_round(double ns) {
  std::fill(waits_ns_.begin(), waits_ns_.end(), 0.0f);
  for (const std::uint32_t server : used_) {
    waits_ns_[server] = float(servers_[server].wait_ns(ns));
    servers_[server] = {};
  }
  used_.clear();
}

double round_ns(const Load& load, const Queues& banks, const Queues& buses) {
  const auto taken = [&](double ns) {
    const double wait = load.waiting == 0 ? 0 : banks.mean_wait_ns(ns) + buses.mean_wait_ns(ns);
    return (load.latency_ns + load.waiting * wait) / load.requests * load.bulks / load.warps;
  };
  double low = std::max({banks.busy_ns(), buses.busy_ns(), 1e-3}) * (1 + 1e-9), high = 2 * low;
  while (taken(high) > high)
    high *= 2;
  for (int halvings = 0; halvings < 40; ++halvings) {
    const double middle = (low + high) / 2;
    (taken(middle) > middle ? low : high) = middle;
  }
  return high;
}

} // namespace warplens::model
