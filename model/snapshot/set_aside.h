// A part of the L2 that is set aside for some lines, which the others do not replace, nor they them.
#pragma once

#include "model/gpu/slices.h"

#include <cstdint>

namespace warplens::model {

struct SetAside {
  static constexpr std::uint32_t all = 1u << 16;

  std::uint32_t first_line = 0, lines = 0; ///< of the window; 0: nothing is set aside
  std::uint32_t persisting = all;          ///< of 2^16, its lines that persist: a hash chooses them
  double share = 0;                        ///< of the L2

  bool keeps(std::uint32_t line) const { return line - first_line < lines && mixed(line) % all < persisting; }
};

} // namespace warplens::model
