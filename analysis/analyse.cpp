#include "analysis/analyse.h"

#include "analysis/address_spaces.h"
#include "analysis/dependences.h"
#include "analysis/sequences.h"

namespace warplens::analysis {

std::vector<Facts> analyse(clang::ASTContext& context, std::span<const MemoryOperation> operations) {
  const std::vector<Space> spaces = address_spaces(context, operations);
  std::vector<std::vector<std::size_t>> depends_on(operations.size());
  for (const auto& [function, own] : by_function(operations))
    for (auto& [index, loads] : address_dependences(context, *function, own, operations))
      depends_on[index] = std::move(loads);
  // Values loaded from local variables are available without waiting.
  std::vector<std::vector<std::size_t>> waits_for = depends_on;
  for (std::vector<std::size_t>& loads : waits_for)
    std::erase_if(loads, [&](std::size_t load) { return spaces[load] == Space::local; });
  const std::vector<std::uint32_t> numbers = sequences(operations, waits_for);

  std::vector<Facts> facts(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i)
    facts[i] = {spaces[i], numbers[i], std::move(depends_on[i])};
  return facts;
}

} // namespace warplens::analysis
