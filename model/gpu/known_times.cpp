#include "model/gpu/known_times.h"

namespace warplens::model {

std::string why_times_are_unknown(const Gpu& gpu) {
  constexpr int kepler = 30; // compute capability 3.0
  const bool is_measured = gpu.accuracy && gpu.accuracy->gpu == gpu.id && gpu.accuracy->time;
  if (gpu.pipes || is_measured || gpu.capability() >= kepler)
    return {};
  return "no compiler makes machine code for this GPU, and no time was measured on one of its generation: "
         "what "
         "its warps issue between accesses would be a guess";
}

} // namespace warplens::model
