#include "placement/change/transformation.h"

#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::placement {

Reason ChangeContext::because(std::uint32_t site_index, std::string text) const {
  if (site_index == no_site)
    return {{}, 0, std::move(text)};
  const Site& at = site(site_index);
  return {at.file, at.line, std::move(text)};
}

std::vector<Reason> ChangeContext::written(const Array& array, std::string_view place) const {
  std::vector<Reason> reasons;
  const auto refuse = [&](std::uint32_t at, std::string_view what) {
    const std::string& name = site(at).object;
    const std::string alias = name == array.name || name.empty() ? "" : fmt::format(", by the name {}", name);
    reasons.push_back(because(
        at, fmt::format("the kernel {} it{}, and {} must not change while it runs", what, alias, place)));
  };
  if (array.first_store != no_site)
    refuse(array.first_store, "stores to");
  if (array.first_atomic != no_site)
    refuse(array.first_atomic, "has atomics on");
  return reasons;
}

std::uint32_t lanes_of(std::uint32_t warp, std::uint32_t threads) {
  return std::min(warp_lanes, threads - std::min(threads, warp * warp_lanes));
}

void put_barrier(std::uint32_t warp, std::uint32_t threads, std::uint64_t site,
                 const Transformation::Emit& emit) {
  const std::uint32_t lanes = lanes_of(warp, threads);
  trace::WarpAccess barrier;
  barrier.site = site;
  barrier.kind = AccessKind::barrier;
  barrier.space = Space::generic;
  barrier.active = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
  if (barrier.active != 0)
    emit(barrier);
}

} // namespace warplens::placement
