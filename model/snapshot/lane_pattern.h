// How the addresses of a site's neighbouring lanes lie: whether a strided, a misaligned or an irregular
// access is what a site does.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>
#include <map>

namespace warplens::model {

/// Requests by the pattern of their lanes; those with a single active lane have none and are not counted.
struct LanePatternCounts {
  std::uint64_t requests = 0;
  std::uint64_t uniform = 0;      ///< all lanes access one address
  std::uint64_t regular = 0;      ///< most lanes access what lies `stride_bytes` behind the lane before
  std::int64_t stride_bytes = 0;  ///< the commonest distance, the smaller one of two that are as common
  std::uint64_t misaligned = 0;   ///< consecutive elements that do not begin where a sector does
  std::uint32_t offset_bytes = 0; ///< by how many bytes they begin behind it most often
};

/// Counts the requests of one site; their order does not change the result.
class LanePatternCounter {
public:
  void add(const trace::WarpAccess& access);
  LanePatternCounts counts() const;

private:
  std::uint64_t requests_ = 0, uniform_ = 0;
  std::map<std::int64_t, std::uint64_t> strides_; ///< distance in bytes → requests
  std::array<std::uint64_t, 32> offsets_{}; ///< of requests of consecutive elements, behind a sector's begin
};

} // namespace warplens::model
