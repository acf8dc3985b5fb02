#include "analysis/analyse.h"

#include "analysis/accesses_left.h"
#include "analysis/address_spaces.h"
#include "analysis/sequences.h"

#include <algorithm>
#include <iterator>

namespace warplens::analysis {

std::vector<Facts> analyse(clang::ASTContext& context, std::span<const MemoryOperation> operations,
                           const AccessesLeft* accesses_left) {
  const std::vector<Space> spaces = address_spaces(context, operations);
  std::vector<Needed> needed(operations.size());
  for (const auto& [function, own] : by_function(operations))
    for (auto& [index, loads] : dependences(context, *function, own, operations))
      needed[index] = std::move(loads);
  // Values loaded from local variables are available without waiting.
  std::vector<std::vector<std::size_t>> waits_for(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i)
    std::ranges::copy_if(needed[i].sent, std::back_inserter(waits_for[i]),
                         [&](std::size_t load) { return spaces[load] != Space::local; });
  const std::vector<std::uint32_t> numbers = sequences(operations, waits_for, [&](const clang::Stmt& loop) {
    return accesses_left && accesses_left->is_fully_unrolled(context, loop);
  });

  std::vector<Facts> facts(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i)
    facts[i] = {spaces[i], numbers[i], std::move(needed[i])};
  return facts;
}

} // namespace warplens::analysis
