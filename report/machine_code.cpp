#include "report/machine_code.h"

#include <algorithm>
#include <fmt/format.h>

namespace warplens::report {

std::string registers(const std::optional<CompiledKernel>& compiled) {
  if (!compiled)
    return "not known";
  if (compiled->architecture == 0)
    return fmt::format("{} per thread", compiled->registers);
  const std::uint32_t spilled = std::max(compiled->spill_store_bytes, compiled->spill_load_bytes);
  return fmt::format("{} per thread (ptxas, {}sm_{}){}", compiled->registers,
                     compiled->assumed ? "assumed from " : "", compiled->architecture,
                     spilled == 0 ? "" : fmt::format(", {} bytes spilled", spilled));
}

} // namespace warplens::report
