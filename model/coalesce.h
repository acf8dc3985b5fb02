// From the addresses of one warp access to what the memory hierarchy sees of it.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>

namespace warplens::model {

/// Lanes ask for at most this much; the widest vector access of PTX up to sm_90 is 16 bytes (PTX ISA,
/// "Vectors").
inline constexpr unsigned max_bytes_per_lane = 128;

/// The 128-byte lines one warp access touches, in the order of the first lane that touches each.
struct Coalesced {
  struct Line {
    std::uint64_t line = 0;      ///< address / 128
    std::uint64_t bytes[2] = {}; ///< one bit for each byte asked for
    unsigned sectors() const;    ///< one bit for each 32-byte sector touched
  };
  std::array<Line, 2 * trace::warp_lanes> lines;
  unsigned count = 0;

  unsigned sectors() const;        ///< how many, over all lines
  unsigned distinct_bytes() const; ///< bytes that several lanes ask for count once
};

/// `access.bytes` in [1, max_bytes_per_lane].
Coalesced coalesce(const trace::WarpAccess& access);

/// Passes over the banks of shared memory, and how few they could be. 32 banks of 4 bytes; lanes that want
/// the same word share it. Accesses of 8 bytes are served by half-warps, those of 16 by quarter-warps (CUDA
/// C++ Programming Guide, "Shared Memory").
struct BankPasses {
  unsigned passes = 0, least = 0;
};
BankPasses bank_passes(const trace::WarpAccess& access);

} // namespace warplens::model
