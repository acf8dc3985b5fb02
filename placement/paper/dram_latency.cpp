#include "placement/paper/dram_latency.h"

namespace warplens::placement {

double mean_service(const RowLatencies& latencies, const RowShares& shares) {
  return latencies.hit * shares.hit + latencies.miss * shares.miss + latencies.conflict * shares.conflict;
}

std::optional<double> mean_wait(const BankTraffic& bank, Reading reading) {
  const double load = bank.load();
  if (load >= 1)
    return std::nullopt;
  if (load <= 0)
    return 0.0;
  const double arrival_variation = bank.interval_deviation / bank.interval;
  const double service_variation = bank.service_deviation / bank.service;
  if (reading == Reading::literal)
    return (arrival_variation + service_variation) / 2 * load / (1 - load) * bank.interval;
  return (arrival_variation * arrival_variation + service_variation * service_variation) / 2 * load /
         (1 - load) * bank.service;
}

double mean_latency(std::span<const BankLatency> banks) {
  double arrivals = 0, weighted = 0;
  for (const BankLatency& bank : banks) {
    arrivals += bank.arrivals;
    weighted += bank.arrivals * bank.latency;
  }
  return arrivals > 0 ? weighted / arrivals : 0;
}

} // namespace warplens::placement
