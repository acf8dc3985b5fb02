// One request of a site that stands for its others, with the address of each lane, for a picture of it.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>

namespace warplens::model {

/// The first of those requests that need as many sectors, or passes over the banks of shared memory, as most.
struct TypicalRequest {
  std::uint64_t requests = 0; ///< of the site; 0: none was added
  std::uint64_t alike = 0;    ///< those of them that need as many
  std::uint32_t parts = 0;    ///< sectors, or passes
  std::uint32_t active = 0;   ///< its lanes
  std::uint32_t bytes = 0;    ///< of each
  std::array<std::uint64_t, 32> addresses{};
};

/// Finds the typical request of one site. The order in which warps come does not change the result.
class TypicalRequestFinder {
public:
  /// Adds a request that needs `parts` parts, of the warp at `warp` in the launch's order. The requests of a
  /// warp come in its own order.
  void add(const trace::WarpAccess& access, std::uint32_t parts,
           std::pair<std::uint64_t, std::uint32_t> warp);
  TypicalRequest result() const;

private:
  struct Alike {
    std::uint64_t requests = 0;
    std::pair<std::uint64_t, std::uint32_t> warp; ///< the block and warp of the first one
    std::uint32_t active = 0, bytes = 0;
    std::array<std::uint64_t, 32> addresses{};
  };
  std::map<std::uint32_t, Alike> by_parts_;
};

} // namespace warplens::model
