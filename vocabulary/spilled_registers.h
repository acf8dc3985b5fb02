// The accesses to registers that a compiler spilled to local memory: a source has none, so that their sites
// get their name here.
#pragma once

#include "vocabulary/site.h"

namespace warplens {

inline constexpr const char* spilled_registers = "spilled registers";

/// Returns whether the site's accesses are to spilled registers.
inline bool is_spill(const Site& site) {
  return site.space == Space::local && site.object.empty() && site.expression == spilled_registers;
}

} // namespace warplens
