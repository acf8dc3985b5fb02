// The model's result for a trace made in memory.
#pragma once

#include "model/evaluate.h"
#include "test/model/made_trace.h"

namespace warplens::test {

/// Evaluates the made launch by trials without a clock.
inline KernelResult evaluate(const MadeTrace& made, const model::Gpu& gpu, std::uint32_t trials = 8,
                             unsigned threads = 1, std::uint64_t seed = 1) {
  const auto snapshot = made.decode(gpu.lanes);
  REQUIRE(snapshot);
  model::Options options;
  options.trials = trials;
  options.without_clock = true;
  options.threads = threads;
  options.seed = seed;
  auto result = model::evaluate_launch(*snapshot, made.sites(), made.launch(), gpu, options);
  if (!result)
    FAIL(result.error().message);
  return *result;
}

} // namespace warplens::test
