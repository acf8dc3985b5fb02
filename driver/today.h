// The date, for what is written and for what expires.
#pragma once

#include <ctime>
#include <string>

namespace warplens::driver {

/// Returns the day in UTC: "2026-11-29".
inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

} // namespace warplens::driver
