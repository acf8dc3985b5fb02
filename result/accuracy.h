// How far off a GPU's model was where it was held against measurements (docs/accuracy.md).
#pragma once

#include <array>
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

/// The model gets the times of launches of one kind wrong in the same way. The launch itself is a notable
/// part of a small one; the others are bound by memory, by the L2, by the SMs, or by nothing but latency.
enum class LaunchKind : std::uint8_t { small, dram, l2, sm, latency };
inline constexpr std::size_t launch_kinds = 5;

/// How far apart predicted and measured times are in nine launches of ten, on kernels by which no figure was
/// chosen.
struct ErrorOfKind {
  double within = 0; ///< neither time is more than 1 + `within` times the other
  std::uint64_t launches = 0;
  std::string measured_on;       ///< a GPU, a generation, or several: "a100", "Hopper", "all GPUs"
  bool covers_all_kinds = false; ///< too few of the kind were measured
};

/// The errors of a GPU's model, as its file states them. A GPU on which nothing was measured has those of its
/// nearest relative.
struct Accuracy {
  std::string gpu; ///< on which it was measured: "a100"
  std::uint64_t launches = 0, kernels = 0;
  std::optional<ErrorOfFigure> time, l1_read_hit_rate, l2_read_hit_rate;
  std::vector<std::string> without; ///< what none of the kernels has: "tensor cores"
  std::string date;                 ///< on which the errors were recorded: "2026-11-24"
  std::array<std::optional<ErrorOfKind>, launch_kinds> time_by_kind{}; ///< by LaunchKind
};

} // namespace warplens
