#include "sass/code_table.h"

#include <fmt/format.h>

namespace warplens::sass {

std::string_view name_of(BlockEnd end) {
  switch (end) {
  case BlockEnd::falls_through: return "falls through";
  case BlockEnd::branch: return "branches";
  case BlockEnd::indirect: return "branches indirectly";
  case BlockEnd::call: return "calls";
  case BlockEnd::indirect_call: return "calls indirectly";
  case BlockEnd::returns: return "returns";
  case BlockEnd::exit: return "exits";
  case BlockEnd::reconverge: return "reconverges";
  }
  return "falls through";
}

std::string name_of(RegisterSpan registers) {
  constexpr std::string_view prefixes[] = {"R", "UR", "P", "UP"};
  const std::string_view prefix = prefixes[static_cast<std::size_t>(registers.file)];
  if (registers.count == 1)
    return fmt::format("{}{}", prefix, registers.first);
  return fmt::format("{}{}:{}", prefix, registers.first, registers.first + registers.count - 1);
}

} // namespace warplens::sass
