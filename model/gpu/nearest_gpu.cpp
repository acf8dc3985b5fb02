#include "model/gpu/nearest_gpu.h"

#include "model/gpu/gpu.h"
#include "model/gpu/toml_figures.h"

#include <tuple>

namespace warplens::model {
namespace {

/// Returns by what the nearest of several GPUs is chosen: how new it is, then over how many of its launches
/// the model was held against measurements.
std::tuple<double, std::uint64_t> rank(const Gpu& gpu) {
  const bool is_measured = gpu.accuracy && gpu.accuracy->gpu == gpu.id;
  return {gpu.compute_capability, is_measured ? gpu.accuracy->launches : 0};
}

} // namespace

Expected<GpuFigures> nearest_gpu(double compute_capability, const std::filesystem::path& folder) {
  TRY_LET(names, list_gpus(folder));
  std::optional<Gpu> nearest;
  for (const std::string& name : *names) {
    TRY_LET(gpu, load_gpu(name, folder));
    if (gpu->compute_capability <= compute_capability && (!nearest || rank(*gpu) > rank(*nearest)))
      nearest = std::move(*gpu);
  }
  if (!nearest)
    return fail("{}: no GPU file is of a compute capability of {} or less", folder.string(),
                compute_capability);
  TRY_LET(figures, TomlFigures::open(folder / (nearest->id + ".toml")));
  return GpuFigures{nearest->name, figures->without_sources()};
}

} // namespace warplens::model
