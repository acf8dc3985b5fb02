// Numbers as text for people.
#pragma once

#include <cstdint>
#include <string>

namespace warplens {

/// Returns 1234567 as "1,234,567".
inline std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t position = text.size(); position > 3; position -= 3)
    text.insert(position - 3, 1, ',');
  return text;
}

} // namespace warplens
