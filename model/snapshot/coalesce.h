// Coalescing: the addresses of one warp access become transactions, wavefronts or requests.
#pragma once

#include "model/gpu/lane_rules.h"
#include "trace/records.h"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::model {

/// The maximum width of a lane's access; the widest vector access of PTX up to sm_90 is 16 bytes (PTX ISA,
/// "Vectors").
inline constexpr unsigned max_bytes_per_lane = 128;
inline constexpr unsigned max_local_bytes_per_lane = 16;

/// Returns whether coalesce() accepts the access.
inline bool has_possible_width(const trace::WarpAccess& access) {
  return access.bytes != 0 &&
         access.bytes <= (access.space == Space::local ? max_local_bytes_per_lane : max_bytes_per_lane);
}

/// The 128-byte lines that one warp access touches, in the order of the first lane that touches each; a line
/// is there once for each group of lanes that touches it.
struct Coalesced {
  struct Line {
    std::uint64_t line;       ///< address / 128
    std::uint64_t bytes[2];   ///< one bit for each requested byte
    unsigned sectors() const; ///< one bit for each 32-byte sector touched
  };
  /// A lane's 128 bytes touch two lines, 16 bytes of local memory up to five words, each in a line of its
  /// own. Only the first `count` elements have values.
  std::array<Line, 5 * warp_lanes> lines;
  unsigned count = 0;
  bool grouped = false; ///< `lines` may contain a line more than once

  unsigned sectors() const;        ///< their number, over all lines
  unsigned distinct_bytes() const; ///< bytes that several lanes request count once
};

/// Coalesces the access, for which has_possible_width() must hold.
Coalesced coalesce(const trace::WarpAccess& access, const LaneRules& rules);

/// The number of wavefronts over the 32 banks of shared memory, and its minimum without bank conflicts. Lanes
/// that access the same row of a bank share it: with banks of 4 bytes, the same word; with banks of 8, the
/// same 8 bytes, or the words i and i + 32 of 64 that are aligned, where the next word lies in the next bank
/// (CUDA C++ Programming Guide, compute capability 3.x); except of an atomic, which a bank executes for one
/// lane after the other. An access wider than its lanes' share of the banks is split into phases, by
/// half-warps, quarter-warps and so on. From Volta on two neighbouring phases of a load are one where each
/// lane wants the same as its neighbour, or as the one after that: so a load of 16 bytes of one address takes
/// two (counted on an A100).
struct BankWavefronts {
  unsigned count = 0, min = 0;
};
BankWavefronts bank_wavefronts(const trace::WarpAccess& access, const LaneRules& rules);

/// Returns the lanes whose atomics are carried out; the compiler may aggregate those of several lanes, and
/// then it is the first one's for each address.
std::uint32_t lanes_carried_out(const trace::WarpAccess& access, LaneAggregation aggregation,
                                const LaneRules& rules);

/// Returns how many atomics the L2 executes one after the other for these sectors of a line: of lanes with
/// the same word each in turn, and different words of a sector together (measured:
/// burtscher/SyncPerformance).
unsigned atomics_in_turn(const trace::WarpAccess& access, std::uint64_t line, unsigned sectors);

/// Returns whether all active lanes access the same address.
bool is_uniform(const trace::WarpAccess& access);

/// Returns the distinct addresses of an access to constant memory, ascending: it is split into one request
/// for each (CUDA C++ Programming Guide, "Constant Memory").
std::vector<std::uint64_t> distinct_addresses(const trace::WarpAccess& access);

} // namespace warplens::model
