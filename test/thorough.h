// How much a long test does: all of it in `check --all`, which sets WARPLENS_ALL, and a part of it in
// `check`.
#pragma once

#include <cstdlib>

namespace warplens::test {

inline bool is_thorough() {
  return std::getenv("WARPLENS_ALL") != nullptr;
}

} // namespace warplens::test
