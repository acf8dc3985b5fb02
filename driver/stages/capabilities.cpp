#include "driver/stages/capabilities.h"

#include "toolchain/resources.h"
#include "trace/machine_code.h"

#include <set>
#include <string>
#include <utility>

namespace warplens::driver {

std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus) {
  std::set<int> capabilities;
  for (const auto& gpu : gpus)
    if (gpu.registers.max_per_thread >= trace::registers_of_todays_threads)
      capabilities.insert(gpu.capability());
  return {capabilities.begin(), capabilities.end()};
}

std::vector<int> known_capabilities() {
  const auto& folder = toolchain::resources().gpus;
  std::vector<model::Gpu> gpus;
  for (const auto& name : model::list_gpus(folder).value_or(std::vector<std::string>{}))
    if (auto gpu = model::load_gpu(name, folder))
      gpus.push_back(std::move(*gpu));
  return capabilities_of(gpus);
}

} // namespace warplens::driver
