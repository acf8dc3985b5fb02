// The ensemble's random numbers: a function of what they are for, so that they do not depend on the thread
// that draws them.
#pragma once

#include <Random123/philox.h>
#include <cstdint>

namespace warplens::significance {

/// Names an ensemble: that of a region and workload itself (trial 0), or one of its trials on a permuted
/// target or without one of the runs.
struct EnsembleName {
  std::uint64_t seed = 1;
  std::uint32_t region = 0, workload = 0;
  std::uint32_t trial = 0; ///< below 2^20
};

/// Returns a uniform number in [0, 1), by Philox4x32-10 as in numeric/random.h. The key is the seed;
/// the counter is region, workload, draw and step (the trial in its upper bits). Steps are below 2^12.
inline double drawn_fraction(const EnsembleName& name, std::uint32_t draw, std::uint32_t step) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(name.seed), static_cast<std::uint32_t>(name.seed >> 32)}};
  const r123::Philox4x32::ctr_type counter{{name.region, name.workload, draw, name.trial << 12 | step}};
  const auto drawn = r123::Philox4x32()(counter, key);
  const std::uint64_t bits = std::uint64_t{drawn[0]} << 32 | drawn[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace warplens::significance
