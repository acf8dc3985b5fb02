#include "significance/options.h"

#include <algorithm>
#include <cmath>

namespace warplens::significance {

Expected<ExplainOptions> preset_named(std::string_view name) {
  ExplainOptions options;
  options.preset = name;
  if (name == "default")
    return options;
  options.selection.intercept = false;
  options.selection.fidelity = 1e-9;
  if (name == "paper") {
    options.sparsity = 0.5;
    options.selection.candidates = 5;
    options.selection.independence = 1e-6;
    options.draws = 50'000;
    options.ranking = options.belief = Measure::literal_belief;
    return options;
  }
  if (name == "dashing") {
    options.sparsity = 15;
    options.selection.independence = 0.08;
    return options;
  }
  return fail("there is no preset '{}': there are default, paper, dashing", name);
}

std::size_t support_for(double sparsity, std::size_t counters, std::size_t runs) {
  const double wanted = sparsity < 1 ? std::ceil((1 - sparsity) * static_cast<double>(counters)) : sparsity;
  const std::size_t most = std::min(counters, runs > 0 ? runs - 1 : 0);
  return wanted < static_cast<double>(most) ? static_cast<std::size_t>(std::max(wanted, 1.0)) : most;
}

} // namespace warplens::significance
