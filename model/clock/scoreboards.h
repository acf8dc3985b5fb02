// The scoreboards of an SM's warps: which results each is pending for, and which one clears it.
#pragma once

#include "model/clock/timed_code.h"
#include "model/counts/trial_counts.h"
#include "model/sm/sm_clock.h"

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace warplens::model {

class Scoreboards {
public:
  static constexpr std::uint32_t no_site = ~0u; ///< an instruction without an access
  /// The instructions that have set a warp's scoreboard.
  struct Entry {
    std::uint32_t pending = 0;    ///< accesses without an answer so far
    std::uint32_t site = no_site; ///< of the instruction that clears it, the last one
    Pc pc = 0;                    ///< likewise
    Cycle until = 0;
  };
  using WarpEntries = std::array<Entry, scoreboard_count>;

  void resize(std::size_t warps) { warps_.resize(warps); }
  const WarpEntries& operator[](WarpNumber warp) const { return warps_[warp]; }
  void prefetch(WarpNumber warp) const { __builtin_prefetch(&warps_[warp], 1); }

  /// Returns the cycle in which the scoreboard is clear; `never` where that is unknown.
  Cycle clear_at(WarpNumber warp, std::int16_t scoreboard) const {
    const Entry& entry = warps_[warp][std::size_t(scoreboard)];
    return entry.pending != 0 ? never : entry.until;
  }
  /// Notes an access whose answer clears the scoreboard.
  void wait_for_access(WarpNumber warp, std::int16_t scoreboard) {
    ++warps_[warp][std::size_t(scoreboard)].pending;
  }
  /// Notes when such an access is answered. Of those that are answered last, the one with the highest site
  /// and PC counts.
  void answered(WarpNumber warp, std::int16_t scoreboard, std::uint32_t site, Pc pc, Cycle at) {
    Entry& entry = warps_[warp][std::size_t(scoreboard)];
    --entry.pending;
    if (at > entry.until || (at == entry.until && (entry.site == no_site ||
                                                   std::pair(site, pc) > std::pair(entry.site, entry.pc))))
      std::tie(entry.until, entry.site, entry.pc) = std::tuple(at, site, pc);
  }
  /// Notes an instruction without an access, whose result is there in a known cycle. An access that is
  /// answered at the same time counts before it, and it before earlier ones of its kind.
  void wait_for_result(WarpNumber warp, std::int16_t scoreboard, Pc pc, Cycle at) {
    Entry& entry = warps_[warp][std::size_t(scoreboard)];
    if (at > entry.until || (at == entry.until && entry.site == no_site))
      entry = {.pending = entry.pending, .site = no_site, .pc = pc, .until = at};
  }

private:
  std::vector<WarpEntries> warps_; ///< by WarpNumber
};

} // namespace warplens::model
