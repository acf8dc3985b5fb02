// A figure that has one value per trial.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warplens {

struct Histogram {
  std::vector<double> edges;         ///< counts.size() + 1, ascending
  std::vector<std::uint64_t> counts; ///< for a Statistic: one trial each
};

/// A figure over trials. `std_deviation` is over trials; `spread95` is mean ± 2 std (how much the unknown
/// order matters); `ci95` is the Student-t interval of the mean (how much the number of trials matters), over
/// the machines that were drawn.
struct Statistic {
  double mean = 0;
  double std_deviation = 0;
  double ci95[2] = {0, 0};
  double spread95[2] = {0, 0};
  Histogram histogram;
  /// The part of std_deviation that stems from what is not known of the machine; the rest stems from the
  /// unknown order (its square is the difference of the squares). Absent if nothing of the machine is drawn.
  std::optional<double> machine_deviation = std::nullopt;
};

} // namespace warplens
