// The sizes that all modelled GPUs have in common.
#pragma once

#include <cstdint>

namespace warplens {

inline constexpr std::uint32_t warp_lanes = 32;
/// Returns the number of warps of a block with this many threads; the last may be a part of one.
constexpr std::uint64_t warps_of(std::uint64_t threads) {
  return (threads + warp_lanes - 1) / warp_lanes;
}
inline constexpr std::uint32_t sector_bytes = 32;
inline constexpr std::uint32_t line_bytes = 128;
inline constexpr std::uint32_t sectors_per_line = line_bytes / sector_bytes;
inline constexpr unsigned whole_line = (1u << sectors_per_line) - 1; ///< all sectors, one bit each
/// Returns the number of sectors in a mask of a line's four; plain x86-64 has no instruction for it.
constexpr unsigned sector_count(unsigned sectors) {
  return unsigned(0x4332'3221'3221'2110u >> 4 * sectors & 7);
}
inline constexpr std::uint32_t shared_banks = 32; ///< each 4 bytes wide
inline constexpr std::uint32_t max_ways = 256;    ///< a way's number fits a byte

} // namespace warplens
