// A place in the source that accesses memory, at which a block's warps meet, or that is marked.
#pragma once

#include "vocabulary/access.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens {

/// A place in the source that accesses memory, a barrier, or a marked body. `id` is a hash of that place,
/// stable between builds.
struct Site {
  std::uint64_t id = 0;
  std::string file;            ///< the user's name of it
  std::uint32_t line = 0;      ///< 1-based
  std::uint32_t column = 0;    ///< 1-based
  std::uint32_t last_line = 0; ///< of a marked body, which begins in `line`; else 0
  std::uint32_t step = 0; ///< of a marked loop: by how much an iteration changes its counter; 0: not known
  std::string expression; ///< the source text
  AccessKind kind = AccessKind::load;
  Space space = Space::generic; ///< the result of static analysis; each WarpAccess carries the observed space
  std::uint32_t element_bytes = 0;
  CacheOperator cache_operator = CacheOperator::none;
  std::uint32_t sequence = 0; ///< scheduling sequence within its kernel (the paper's bulk scheduling)
  /// The sites whose results must be there before this site's access can be sent: for its address, for the
  /// conditions under which it is executed, and for the value that it stores or the operands of an atomic. An
  /// update does not wait for the value that it stores, as its load can be sent before.
  std::vector<std::uint64_t> depends_on;
  /// The number of iterations whose accesses lie next to each other in the compiled code, which unrolls the
  /// loops around them, and need not wait for each other. At least 1.
  std::uint32_t copies = 1;
  bool is_reduction = false;                           ///< an atomic whose result nothing uses
  LaneAggregation aggregation = LaneAggregation::none; ///< of an atomic
  bool is_floating = false;                            ///< an atomic of floating-point numbers
  /// Threads wait by it, in a loop, until another one changes what it reads.
  bool waits = false;
  std::string object;       ///< name of the array, empty if there is none
  std::string macro;        ///< the macro whose expansion the expression comes out of, empty if there is none
  bool in_template = false; ///< the enclosing function is a template's instantiation
};

} // namespace warplens
