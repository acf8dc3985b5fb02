#include "model/gpu/drawn_figures.h"

#include "numeric/random.h"
#include "support/hash.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace warplens::model {
namespace {

/// Shuffles them, in the same way each time for a path.
void shuffle(std::span<std::uint32_t> numbers, std::string_view path) {
  Random random(stable_hash(path), 0, 0);
  for (std::size_t left = numbers.size(); left > 1; --left)
    std::swap(numbers[left - 1], numbers[random.below(std::uint32_t(left))]);
}

} // namespace

std::size_t drawn_alternative(std::string_view path, std::span<const double> weights, std::uint32_t machine) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint32_t> taken(weights.size(), 1);
  std::array<std::uint32_t, machine_count> of_machine{};
  std::iota(of_machine.begin(), of_machine.begin() + std::ptrdiff_t(weights.size()), 0);
  for (std::size_t one = weights.size(); one < machine_count; ++one) {
    const auto lacking = [&](std::size_t alternative) {
      return weights[alternative] / all * machine_count - taken[alternative];
    };
    std::uint32_t next = 0;
    for (std::uint32_t alternative = 1; alternative < weights.size(); ++alternative)
      if (lacking(alternative) > lacking(next))
        next = alternative;
    ++taken[next];
    of_machine[one] = next;
  }
  shuffle(std::span(of_machine).subspan(1), path);
  std::iter_swap(of_machine.begin() + 1, std::find_if(of_machine.begin() + 1, of_machine.end(),
                                                      [](std::uint32_t of) { return of != 0; }));
  return of_machine[machine];
}

double drawn_fraction(std::string_view path, double stated, std::uint32_t machine) {
  std::array<std::uint32_t, machine_count - 1> strata;
  std::iota(strata.begin(), strata.end(), 0);
  shuffle(strata, path);
  const std::uint32_t farthest = stated > 0.5 ? 0 : std::uint32_t(strata.size() - 1);
  std::iter_swap(strata.begin(), std::ranges::find(strata, farthest));
  return (strata[machine - 1] + 0.5) / double(strata.size());
}

} // namespace warplens::model
