// Machines that a GPU file describes: where a figure is not known, it has alternatives or a range, and each
// machine has one of these values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace warplens::model {

/// The number of machines of a GPU whose figures are not all known. The first has the values that the file
/// states. Over all of them each figure takes its values in proportion to their weights, whatever the others
/// do: a Latin hypercube (McKay, Beckman and Conover, Technometrics 1979). The second differs from the first
/// in every figure, so that these two tell whether any of them matters.
inline constexpr std::uint32_t machine_count = 8;

/// Returns which of its alternatives the figure at `path` has in a machine. The first is what the file
/// states; `weights` has one for each of them, at most machine_count, and each is taken by one machine at
/// least.
std::size_t drawn_alternative(std::string_view path, std::span<const double> weights, std::uint32_t machine);

/// Returns where in its range, from 0 to 1, the figure at `path` is in a machine other than the first, whose
/// place there is `stated`.
double drawn_fraction(std::string_view path, double stated, std::uint32_t machine);

} // namespace warplens::model
