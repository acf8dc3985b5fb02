#include "model/dram/queues.h"

#include <algorithm>
#include <cmath>

namespace warplens::model {

// W = (ca² + cs²)/2 · ρ/(1 − ρ) · τs, where ca and cs are the coefficients of variation of the times between
// arrivals and of service, τs the mean service and ρ the share of the round in which the server is busy.
// The formula assumes requests that arrive whatever their queue; these come from warps that wait, so that no
// request finds more before it than is in flight.
void Queues::close_round(std::span<const Arrivals> arrivals_by_server, double share_under_way) {
  used_.clear();
  for (std::uint32_t server = 0; server < arrivals_by_server.size(); ++server) {
    const auto& [sums, last] = arrivals_by_server[server];
    const double requests = double(sums[Arrivals::requests]), service = double(sums[Arrivals::service]);
    if (requests == 0)
      continue;
    const auto variation = [&](double squares, double sum) {
      return sum == 0 ? 0 : std::max(0.0, squares * requests / (sum * sum) - 1);
    };
    // Few arrivals do not show their variation: 1 is that of arrivals independent of each other.
    const double arrival_variation =
        requests < 5 ? 1 : variation(double(sums[Arrivals::squared_gaps]), double(last));
    const double service_variation = variation(double(sums[Arrivals::squared_service]), service);
    used_.push_back({server, requests, service,
                     (arrival_variation + service_variation) / 2 * service * service / requests,
                     share_under_way * (service - service / requests)});
  }
}

double Queues::busy_ns() const {
  double sum = 0;
  for (const Used& one : used_)
    sum += one.service;
  return sum / double(waits_ns_.size());
}

double Queues::mean_wait_ns(double ns) const {
  double sum = 0, requests = 0;
  for (const Used& one : used_) {
    sum += one.requests * one.wait_ns(ns);
    requests += one.requests;
  }
  return requests == 0 ? 0 : sum / requests;
}

void Queues::compute_waits(double ns) {
  for (const Used& one : used_)
    waits_ns_[one.server] = float(one.wait_ns(ns));
}

RoundTime round_time(const Load& load, const Queues& banks, const Queues& buses) {
  const auto taken = [&](double ns) {
    const double wait = load.waiting == 0 ? 0 : banks.mean_wait_ns(ns) + buses.mean_wait_ns(ns);
    return (load.latency_ns + load.waiting * wait) / load.warps;
  };
  const auto lacking = [&](double ns) { return taken(ns) - ns; };
  double low = std::max({banks.busy_ns(), buses.busy_ns(), 1e-3}) * (1 + 1e-9), high = 2 * low;
  double above = lacking(low), below = lacking(high);
  if (above <= 0)
    return {low, load.waiting == 0 ? 0 : -above * load.warps / load.waiting};
  for (; below > 0; below = lacking(high))
    high *= 2;
  // The next point is that of the secant between the two ends, of which one that stays twice counts half
  // (Dowell and Jarratt, "A modified regula falsi method", 1971). The longer the round, the less time is
  // taken, so the error is less than what is lacking.
  bool was_low = false, was_high = false;
  for (int steps = 0; steps < 100; ++steps) {
    const double ns = (low * below - high * above) / (below - above), lacking_at_ns = lacking(ns);
    if (std::abs(lacking_at_ns) <= 1e-7 * ns)
      return {ns, 0};
    if (lacking_at_ns > 0) {
      low = ns;
      above = lacking_at_ns;
      below /= was_low ? 2 : 1;
    } else {
      high = ns;
      below = lacking_at_ns;
      above /= was_high ? 2 : 1;
    }
    was_low = lacking_at_ns > 0;
    was_high = !was_low;
  }
  return {high, 0};
}

} // namespace warplens::model
