// The entry point of the static analyses: computes the facts about each memory operation of a translation
// unit.
#pragma once

#include "analysis/dependences.h"

#include <span>
#include <vector>

namespace clang {
class ASTContext;
}

namespace warplens::analysis {

class AccessesLeft;

struct Facts {
  Space space = Space::generic; ///< generic: not known, the probe decides
  std::uint32_t sequence = 0;   ///< scheduling sequence, counted from 0 within the function
  Needed needed;                ///< the operations whose results it waits for
};

/// Returns one Facts for each operation, in the same order. Operations of one function come in evaluation
/// order. `accesses_left` knows the loops that are unrolled; without it none is.
std::vector<Facts> analyse(clang::ASTContext& context, std::span<const MemoryOperation> operations,
                           const AccessesLeft* accesses_left);

} // namespace warplens::analysis
