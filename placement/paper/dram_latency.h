// The latency of main memory by Huang and Li: a queue in front of each bank (equations 6 to 10).
#pragma once

#include "placement/paper/reading.h"

#include <optional>
#include <span>

namespace warplens::placement {

/// The latencies of a bank by the state of its rows, in ns.
struct RowLatencies {
  double hit = 0;      ///< the row is open
  double miss = 0;     ///< no row is open
  double conflict = 0; ///< another row is open
};

/// The requests to a bank by the state of its rows, as shares that add up to 1.
struct RowShares {
  double hit = 0, miss = 0, conflict = 0;
};

/// Returns the mean service time of a bank (8).
double mean_service(const RowLatencies& latencies, const RowShares& shares);

/// The intervals between a bank's requests and its service times, as means and standard deviations in one
/// unit of time.
struct BankTraffic {
  double interval = 0, interval_deviation = 0;
  double service = 0, service_deviation = 0;

  double load() const { return interval > 0 ? service / interval : 0; }
};

/// Returns the mean wait before a bank by Kingman's approximation (9, 10). The paper prints the sum of the
/// coefficients of variation where Kingman has that of their squares, and multiplies by the interval where
/// he has the service time, so that an idle bank waits; `literal` keeps both. Empty where the load is 1 or
/// more: the queue then grows until the warps themselves wait, which is a closed loop.
std::optional<double> mean_wait(const BankTraffic& bank, Reading reading);

/// A bank's latency and the rate at which requests arrive there.
struct BankLatency {
  double arrivals = 0;
  double latency = 0;
};

/// Returns the mean latency over the banks, weighted by their arrivals (7); 0 where nothing arrives.
double mean_latency(std::span<const BankLatency> banks);

} // namespace warplens::placement
