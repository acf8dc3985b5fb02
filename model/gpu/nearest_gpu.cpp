#include "model/gpu/nearest_gpu.h"

#include "model/gpu/gpu.h"
#include "model/gpu/toml_figures.h"

namespace warplens::model {

Expected<GpuFigures> nearest_gpu(double compute_capability, const std::filesystem::path& folder) {
  TRY_LET(names, list_gpus(folder));
  std::optional<Gpu> nearest;
  for (const std::string& name : *names) {
    TRY_LET(gpu, load_gpu(name, folder));
    if (gpu->compute_capability <= compute_capability &&
        (!nearest || gpu->compute_capability > nearest->compute_capability))
      nearest = std::move(*gpu);
  }
  if (!nearest)
    return fail("{}: no GPU file is of a compute capability of {} or less", folder.string(),
                compute_capability);
  TRY_LET(figures, TomlFigures::open(folder / (nearest->id + ".toml")));
  return GpuFigures{nearest->name, figures->without_sources()};
}

} // namespace warplens::model
