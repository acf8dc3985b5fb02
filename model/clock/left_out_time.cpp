#include "model/clock/left_out_time.h"

#include <algorithm>
#include <span>

namespace warplens::model {

LeftOutTime::LeftOutTime(const Snapshot& snapshot) : snapshot_(snapshot), warps_(snapshot.warps.size()) {
  for (std::uint32_t warp = 0; warp < snapshot.warps.size(); ++warp)
    for (std::uint32_t gap = 0; gap < snapshot.warps[warp].gaps.size(); ++gap) {
      const Warp& of = snapshot.warps[warp];
      const Gap& at = of.gaps[gap];
      for (const std::uint32_t access : {at.measured, at.before, at.check_end})
        if (access < of.accesses.size() && of.accesses[access].begins != SampledPart::none)
          places_.emplace(&of.accesses[access], Place{warp, gap});
    }
}

void LeftOutTime::begin(const Access& access, Cycle now, Memory& memory) {
  const auto place = places_.find(&access);
  if (place == places_.end())
    return;
  const Gap& gap = snapshot_.warps[place->second.warp].gaps[place->second.gap];
  OfWarp& warp = warps_[place->second.warp];
  switch (access.begins) {
  case SampledPart::none: return;
  case SampledPart::measured: break;
  case SampledPart::behind_gap:
    warp.measured = now - warp.since;
    warp.left_out += gap.left_out * double(warp.measured);
    memory.pass_over(gap.loads, L2Kind::load);
    memory.pass_over(gap.stores, L2Kind::store);
    break;
  case SampledPart::behind_check:
    measured_ += gap.left_out * double(warp.measured);
    checked_ += gap.left_out / gap.checked * double(now - warp.since);
    break;
  }
  warp.since = now;
}

double LeftOutTime::of_block(std::uint32_t block) const {
  const Snapshot::Block& of = snapshot_.blocks[block];
  return std::ranges::max(std::span(warps_).subspan(of.first_warp, of.warps), {}, &OfWarp::left_out).left_out;
}

} // namespace warplens::model
