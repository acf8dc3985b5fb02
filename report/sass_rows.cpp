#include "report/sass_rows.h"

#include "result/no_time.h"

#include <algorithm>
#include <numeric>

namespace warplens::report {

std::optional<double> time_share(const InstructionResult& instruction) {
  if (!instruction.time)
    return std::nullopt;
  const ByState& states = instruction.time->states;
  return std::accumulate(states.begin(), states.end(), 0.0);
}

std::optional<WarpState> longest_state(const InstructionResult& instruction) {
  if (!instruction.time)
    return std::nullopt;
  const auto longest = std::ranges::max_element(instruction.time->states);
  return *longest > 0 ? std::optional(WarpState(longest - instruction.time->states.begin())) : std::nullopt;
}

std::vector<const InstructionResult*> instructions_of(const CodeResult& code, bool by_time) {
  std::vector<const InstructionResult*> instructions;
  for (const InstructionResult& instruction : code.instructions)
    instructions.push_back(&instruction);
  if (by_time)
    std::ranges::stable_sort(instructions, std::ranges::greater(), [](const InstructionResult* instruction) {
      return time_share(*instruction).value_or(0);
    });
  return instructions;
}

const SiteResult* site_of(const InstructionResult& instruction, const KernelResult& kernel) {
  const auto found = std::ranges::find_if(
      kernel.sites, [&](const SiteResult& site) { return instruction.site == site.site.id; });
  return found == kernel.sites.end() ? nullptr : &*found;
}

std::string why_no_code(const KernelResult& kernel) {
  if (!kernel.code_unknown.empty())
    return kernel.code_unknown;
  return kernel.time ? "the result was made by a version that did not keep it: model its trace again"
                     : why_no_time(kernel);
}

} // namespace warplens::report
