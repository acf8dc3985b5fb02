// From the addresses of one warp access to what the memory hierarchy sees of it.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::model {

/// The cache of its SM that texture fetches and loads from surfaces go to: the L1, that for read-only loads,
/// or one of their own.
enum class TextureCache : std::uint8_t { l1, read_only, own };

/// What of a GPU decides how the lanes of a warp access are put together, and which cache they come to.
struct LaneRules {
  /// Lanes that together ask for so many bytes are coalesced; a wider access is that of several such groups,
  /// each coalesced by itself.
  std::uint32_t coalesced_bytes = 512;
  std::uint32_t bank_bytes = 4;        ///< of shared memory, served by a bank at once
  std::uint32_t bank_stride_bytes = 4; ///< after so many bytes comes the next bank
  bool global_loads_in_l1 = true;      ///< else only those that ask for it, with the cache operator `ca`
  bool own_read_only_cache = false;    ///< else loads with the cache operator `nc` go to the L1
  TextureCache texture_cache = TextureCache::l1;
  friend bool operator==(const LaneRules&, const LaneRules&) = default;
};

/// Lanes ask for at most this much; the widest vector access of PTX up to sm_90 is 16 bytes (PTX ISA,
/// "Vectors").
inline constexpr unsigned max_bytes_per_lane = 128;
inline constexpr unsigned max_local_bytes_per_lane = 16;

/// Is it one that coalesce() takes?
inline bool has_possible_width(const trace::WarpAccess& access) {
  return access.bytes != 0 && access.bytes <= (access.space == trace::Space::local ? max_local_bytes_per_lane
                                                                                   : max_bytes_per_lane);
}

/// The 128-byte lines one warp access touches, in the order of the first lane that touches each; once for
/// each group of lanes that touches it.
struct Coalesced {
  struct Line {
    std::uint64_t line;       ///< address / 128
    std::uint64_t bytes[2];   ///< one bit for each byte asked for
    unsigned sectors() const; ///< one bit for each 32-byte sector touched
  };
  /// 128 bytes meet two lines, 16 bytes of local memory up to five words, each in a line of its own. Only the
  /// first `count` have values.
  std::array<Line, 5 * trace::warp_lanes> lines;
  unsigned count = 0;
  bool grouped = false; ///< a line may be there more than once

  unsigned sectors() const;        ///< how many, over all lines
  unsigned distinct_bytes() const; ///< bytes that several lanes ask for count once
};

/// `access` has_possible_width().
Coalesced coalesce(const trace::WarpAccess& access, const LaneRules& rules);

/// Passes over the 32 banks of shared memory, and how few they could be. Lanes that want the same row of a
/// bank share it: with banks of 4 bytes, the same word; with banks of 8, the same 8 bytes, or the words i and
/// i + 32 of 64 that are aligned, where the next word lies in the next bank (CUDA C++ Programming Guide,
/// compute capability 3.x). An access wider than its lanes' share of the banks comes in phases, by
/// half-warps, quarter-warps and so on.
struct BankPasses {
  unsigned passes = 0, least = 0;
};
BankPasses bank_passes(const trace::WarpAccess& access, const LaneRules& rules);

/// The requests that an access to constant memory is split into: one for each address (CUDA C++ Programming
/// Guide, "Constant Memory"). Ascending.
std::vector<std::uint64_t> distinct_addresses(const trace::WarpAccess& access);

} // namespace warplens::model
