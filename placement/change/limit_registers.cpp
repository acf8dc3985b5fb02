// Fewer registers per thread, so that one more block fits an SM. The model takes it for granted that the
// compiler gets by with them without spills, so that the change is suggested only where a patch proves it.
#include "model/gpu/machine_code.h"
#include "model/gpu/occupancy.h"
#include "placement/change/rewrite.h"
#include "placement/change/source_loads.h"
#include "support/lines.h"
#include "trace/changed_source.h"

#include <algorithm>

namespace warplens::placement {
namespace {

constexpr std::uint32_t min_registers = 16; ///< no compiler does with fewer

class LimitedRegisters final : public trace::ChangedSource {
public:
  LimitedRegisters(const trace::AccessSource& trace, std::uint32_t launch, std::uint32_t registers)
      : ChangedSource(trace), launches_(trace.launches()) {
    for (trace::MachineCode& code : launches_[launch].machine_code)
      code.registers = std::min(code.registers, registers);
  }
  const std::vector<trace::Launch>& launches() const override { return launches_; }
  Expected<void> for_each_access(std::uint32_t launch, const Visit& visit) const override {
    return trace_.for_each_access(launch, visit);
  }

private:
  std::vector<trace::Launch> launches_;
};

LaunchChange limit_registers(const trace::AccessSource& trace, std::uint32_t launch, const Move& move,
                             const model::Gpu&, std::uint64_t blocks) {
  return {std::make_unique<LimitedRegisters>(trace, launch, move.number), {}, blocks};
}

/// Returns the registers per thread with which one more block fits an SM; 0 where registers are not what
/// limits them, or are not known.
std::uint32_t registers_for_one_more_block(const trace::Launch& launch, const model::Gpu& gpu) {
  const auto compiled = model::compiled_for(gpu, launch);
  const auto occupied = model::occupancy(gpu, launch);
  if (!compiled || !occupied || launch.machine_code.empty() || compiled->registers <= min_registers)
    return 0;
  trace::Launch fewer = launch;
  for (std::uint32_t registers = compiled->registers; --registers >= min_registers;) {
    for (trace::MachineCode& code : fewer.machine_code)
      code.registers = registers;
    const auto with = model::occupancy(gpu, fewer);
    if (with && with->blocks_per_sm > occupied->blocks_per_sm)
      return registers;
  }
  return 0;
}

std::vector<Move> worth_limiting(const TracedKernel& kernel, std::uint32_t /*array*/) {
  const std::uint32_t registers = registers_for_one_more_block(kernel.launch, kernel.gpu);
  if (registers == 0)
    return {};
  return {{.rewrite = Rewrite::bounded, .number = registers}};
}

std::string limiting_words(const Suggested& suggested) {
  const auto blocks = suggested.result.occupancy.blocks_per_sm;
  return fmt::format("bound the kernel's registers to {} by __launch_bounds__({}, {}): an SM then has {} "
                     "blocks",
                     suggested.move.number, suggested.result.block.count(), blocks, blocks);
}

/// Returns the source with the blocks' size, and the number of them that an SM is to have, behind the
/// kernel's `__global__`.
Expected<std::string> bounded_source(const std::string& kernel, std::uint64_t threads, std::uint32_t blocks,
                                     const std::string& source) {
  if (source.find("__launch_bounds__") != std::string::npos ||
      source.find("__maxnreg__") != std::string::npos)
    return fail("the source has launch bounds already");
  const std::string name = base_name(kernel);
  std::vector<std::string> lines = lines_of(source);
  for (std::string& line : lines) {
    const std::size_t global = line.find("__global__"), at = line.find(name + "(");
    if (global == std::string::npos || at == std::string::npos || at < global ||
        (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0 || line[at - 1] == '_'))
      continue;
    line.insert(global + std::string("__global__").size(),
                fmt::format(" __launch_bounds__({}, {})", threads, blocks));
    return joined_lines(lines);
  }
  return fail("no line begins __global__ ... {}(", name);
}

Expected<std::string> bound_source(const TracedKernel& kernel, const Suggested& suggested,
                                   std::uint32_t /*line*/, const std::string& source) {
  return bounded_source(kernel.launch.kernel, kernel.launch.block.count(),
                        suggested.result.occupancy.blocks_per_sm, source);
}

} // namespace

constinit const RewriteTraits bounded_rewrite{
    .worth_trying = worth_limiting,
    .change_launch = limit_registers,
    .words = limiting_words,
    .edit = bound_source,
    .counter = RuleCounter::occupancy,
    .needs_patch = true,
};

} // namespace warplens::placement
