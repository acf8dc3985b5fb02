// The rules by which a GPU combines the lanes of a warp access.
#pragma once

#include <cstdint>

namespace warplens::model {

/// The cache of the SM that serves texture fetches and loads from surfaces: the L1, the read-only cache, or
/// one of their own.
enum class TextureCache : std::uint8_t { l1, read_only, own };

/// The properties of a GPU that decide how the lanes of a warp access are coalesced, and which cache serves
/// them.
struct LaneRules {
  /// The bytes of a group of lanes that are coalesced together; a wider access consists of several such
  /// groups.
  std::uint32_t coalesced_bytes = 512;
  std::uint32_t bank_bytes = 4;        ///< of shared memory, which a bank serves at once
  std::uint32_t bank_stride_bytes = 4; ///< the next bank has the data this many bytes on
  bool joins_phases = false;        ///< two phases of a wide load whose lanes want the same by pairs are one
  std::uint32_t tags_per_pass = 1;  ///< lines of an access that the L1 looks up at once
  std::uint32_t texture_lanes = 1;  ///< lanes of a fetch that the texture units serve at once
  bool global_loads_in_l1 = true;   ///< else only those with the cache operator `ca`
  bool own_read_only_cache = false; ///< else loads with the cache operator `nc` go to the L1
  TextureCache texture_cache = TextureCache::l1;
  bool adds_for_warp = false;    ///< the compiler makes one atomic of a warp's, if LaneAggregation::added
  bool reduces_for_warp = false; ///< likewise for `reduced` and `counted`
  friend bool operator==(const LaneRules&, const LaneRules&) = default;
};

} // namespace warplens::model
