// How far off a GPU's model was where it was held against measurements (docs/accuracy.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// The absolute errors of a figure over launches that were measured: of times as shares of what was measured,
/// of hit rates as differences (0.01 is a point).
struct ErrorOfFigure {
  double mean = 0, worst = 0;
};

/// The errors of a GPU's model, as its file states them. A GPU on which nothing was measured has those of its
/// nearest relative.
struct Accuracy {
  std::string gpu; ///< on which it was measured: "a100"
  std::uint64_t launches = 0, kernels = 0;
  std::optional<ErrorOfFigure> time, l1_read_hit_rate, l2_read_hit_rate;
  std::vector<std::string> without; ///< what none of the kernels has: "tensor cores"
  std::string date;                 ///< on which the errors were recorded: "2026-11-24"
};

} // namespace warplens
