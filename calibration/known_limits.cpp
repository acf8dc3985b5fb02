#include "calibration/known_limits.h"

#include <map>

namespace warplens::calibration {

Expected<KnownLimits> known_limits(unsigned compute_capability) {
  const KnownLimits volta{128, {0, 8, 16, 32, 64, 96}}, turing{96, {32, 64}},
      large_ampere{192, {0, 8, 16, 32, 64, 100, 132, 164}}, small{128, {0, 8, 16, 32, 64, 100}},
      hopper{256, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}};
  const std::map<unsigned, KnownLimits> known{
      {70, volta},  {75, turing},  {80, large_ampere}, {86, small},   {87, large_ampere}, {89, small},
      {90, hopper}, {100, hopper}, {103, hopper},      {110, hopper}, {120, small},       {121, small}};
  if (const auto found = known.find(compute_capability); found != known.end())
    return found->second;
  std::string list;
  for (const auto& [capability, limits] : known)
    list += fmt::format("{}{}.{}", list.empty() ? "" : ", ", capability / 10, capability % 10);
  return fail("compute capability {}.{}: how large its L1 is was not known when this was written (known: {})",
              compute_capability / 10, compute_capability % 10, list);
}

} // namespace warplens::calibration
