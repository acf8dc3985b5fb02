#include "model/queues.h"

#include <algorithm>

namespace warplens::model {

// W = (ca² + cs²)/2 · ρ/(1 − ρ) · τs, where ca and cs are the coefficients of variation of the times between
// arrivals and of service, τs the mean service and ρ the share of the round in which the server is busy.
// The formula is for requests that keep coming whatever their queue; ours come from warps that wait, so no
// request finds more before it than is under way.
void Queues::close_round(double share_under_way) {
  used_.clear();
  for (std::uint32_t server = 0; server < servers_.size(); ++server) {
    const Sums& sums = servers_[server].sums;
    const double requests = double(sums[sum_requests]), service = double(sums[sum_service]);
    if (requests == 0)
      continue;
    const auto variation = [&](double squares, double sum) {
      return sum == 0 ? 0 : std::max(0.0, squares * requests / (sum * sum) - 1);
    };
    // Few arrivals say nothing of their own variation: 1 is that of arrivals independent of each other.
    const double of_arrivals =
        requests < 5 ? 1 : variation(double(sums[sum_squared_gaps]), double(servers_[server].last));
    const double of_service = variation(double(sums[sum_squared_service]), service);
    used_.push_back({server, requests, service, (of_arrivals + of_service) / 2 * service * service / requests,
                     share_under_way * (service - service / requests)});
  }
}

double Queues::busy_ns() const {
  double sum = 0;
  for (const Used& one : used_)
    sum += one.service;
  return sum / double(servers_.size());
}

double Queues::mean_wait_ns(double ns) const {
  double sum = 0, requests = 0;
  for (const Used& one : used_) {
    sum += one.requests * one.wait_ns(ns);
    requests += one.requests;
  }
  return requests == 0 ? 0 : sum / requests;
}

void Queues::begin_round(double ns) {
  for (const Used& one : used_)
    waits_ns_[one.server] = float(one.wait_ns(ns));
  std::fill(servers_.begin(), servers_.end(), Server());
}

RoundTime round_time(const Load& load, const Queues& banks, const Queues& buses) {
  const auto taken = [&](double ns) {
    const double wait = load.waiting == 0 ? 0 : banks.mean_wait_ns(ns) + buses.mean_wait_ns(ns);
    return (load.latency_ns + load.waiting * wait) / load.warps;
  };
  double low = std::max({banks.busy_ns(), buses.busy_ns(), 1e-3}) * (1 + 1e-9), high = 2 * low;
  if (const double lacking = low - taken(low); lacking >= 0)
    return {low, load.waiting == 0 ? 0 : lacking * load.warps / load.waiting};
  while (taken(high) > high)
    high *= 2;
  for (int halvings = 0; halvings < 24; ++halvings) {
    const double middle = (low + high) / 2;
    (taken(middle) > middle ? low : high) = middle;
  }
  return {high, 0};
}

} // namespace warplens::model
