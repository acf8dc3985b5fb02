#include "placement/changed_trace.h"

#include "placement/change/place.h"
#include "placement/change/rewrite.h"
#include "support/hash.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <set>

namespace warplens::placement {
namespace {

/// Returns the space that the array's accesses name in the machine code.
Space space_in_code(const Array& array) {
  return array.space;
}

/// Returns the context before any change.
ChangeContext context_of(const trace::AccessSource& trace, const Arrays& arrays, const model::Gpu& gpu,
                         const trace::Launch& launch) {
  ChangeContext context;
  context.trace = &trace;
  context.arrays = &arrays;
  context.gpu = &gpu;
  context.launch = launch;
  for (const trace::Allocation& allocation : trace.allocations())
    context.device_end = std::max(context.device_end, allocation.address + allocation.bytes);
  for (const Array& array : arrays.all()) {
    std::uint64_t& end = array.space == Space::constant ? context.constant_end : context.device_end;
    if (array.space == Space::constant)
      context.constant_taken += round_up(array.bytes, allocation_alignment);
    if (array.space != Space::shared)
      end = std::max(end, array.touched.end);
  }
  // The first constants begin where nothing else lies.
  if (context.constant_end == 0)
    context.constant_end = context.device_end + (std::uint64_t{1} << 32);
  if (const auto end = trace.end_of(launch.id); end && end->executed_accesses != 0)
    context.probed = double(end->probed_accesses) / double(end->executed_accesses);
  return context;
}

double instructions_at(PlacementSpace place, const Array& array, const Addressing& of) {
  const IndexedAccess access{.space = place, .element_bytes = array.element_bytes};
  return addressing_instructions(std::span(&access, 1), of) + waiting_instructions(place, of);
}

} // namespace

PlacementSpace place_of(const Array& array) {
  switch (array.space) {
  case Space::shared: return PlacementSpace::shared;
  case Space::constant: return PlacementSpace::constant;
  default:
    return array.is_fetched ? array.is_cuda_array ? PlacementSpace::texture_2d : PlacementSpace::texture
           : array.is_read_only_load ? PlacementSpace::read_only
                                     : PlacementSpace::global;
  }
}

double address_instructions(PlacementSpace to, const Array& array, const Addressing& of) {
  return instructions_at(to, array, of) - instructions_at(place_of(array), array, of);
}

ChangedTrace::ChangedTrace(const trace::AccessSource& trace, const Arrays& arrays, const model::Gpu& gpu,
                           const Addressing& addressing, const ChangeRequest& request)
    : ChangedSource(trace), arrays_(arrays), launch_(request.launch), sites_(trace.sites()),
      launches_(trace.launches()), transformations_(arrays.size()), new_site_(arrays.size()) {
  ChangeContext context = context_of(trace, arrays, gpu, launches_[launch_]);
  for (const Move& move : request.moves)
    plan(move, context);
  launches_[launch_] = context.launch;
  alteration_.persisting = context.persisting;
  if (!is_legal())
    return;
  for (const Move& move : request.moves)
    if (transformations_[move.array] != nullptr)
      add_sites(move.array, *transformations_[move.array],
                move.rewrite == Rewrite::none ? address_instructions(move.to, arrays[move.array], addressing)
                                              : transformations_[move.array]->further_instructions());
}

void ChangedTrace::plan(const Move& move, ChangeContext& context) {
  const Array& array = arrays_[move.array];
  Planned planned;
  if (move.rewrite == Rewrite::none)
    planned = traits_of(move.to).plan(array, move, context);
  else if (const auto plan_rewrite = traits_of(move.rewrite).plan)
    planned = plan_rewrite(array, move.array, context);
  else
    planned.reasons.push_back(context.because(array.first_access, "it is a change of the whole launch"));
  if (planned.transformation == nullptr) {
    refusals_.push_back({move, std::move(planned.reasons)});
    return;
  }
  transformations_[move.array] = std::move(planned.transformation);
}

void ChangedTrace::add_sites(std::uint32_t array, const Transformation& change, double address_instructions) {
  for (const std::uint32_t index : arrays_[array].sites) {
    Site moved = trace_.sites()[index];
    moved.id = stable_hash(fmt::format("{:x} moved as array {}", moved.id, array));
    change.change(moved);
    new_site_[array].emplace(trace_.sites()[index].id, moved.id);
    alteration_.moved_sites.push_back({moved.id, space_in_code(arrays_[array]), address_instructions});
    sites_.push_back(std::move(moved));
  }
  // A site that depends on the accesses depends on them wherever they go.
  for (Site& site : sites_) {
    std::set<std::uint64_t> further;
    for (const std::uint64_t id : site.depends_on)
      if (const auto moved = new_site_[array].find(id); moved != new_site_[array].end())
        further.insert(moved->second);
    site.depends_on.insert(site.depends_on.end(), further.begin(), further.end());
  }
  for (Site& added : change.added_sites()) {
    alteration_.moved_sites.push_back({added.id, std::nullopt, 0});
    sites_.push_back(std::move(added));
  }
}

Expected<void> ChangedTrace::for_each_access(std::uint32_t launch, const Visit& visit) const {
  if (launch != launches_[launch_].id ||
      std::ranges::all_of(transformations_, [](const auto& one) { return one == nullptr; }))
    return trace_.for_each_access(launch, visit);
  const std::uint64_t threads = launches_[launch_].block.count();
  const auto warps = std::uint32_t((threads + warp_lanes - 1) / warp_lanes);
  std::unordered_map<std::uint64_t, std::uint64_t> begun; // warps, one bit each, by block
  const auto begin = [&](std::uint64_t block, std::uint32_t warp) {
    for (const auto& change : transformations_)
      if (change != nullptr)
        change->begin(block, warp, [&](const trace::WarpAccess& access) { visit(block, warp, access); });
  };
  TRY(trace_.for_each_access(launch, [&](std::uint64_t block, std::uint32_t warp,
                                         const trace::WarpAccess& access) {
    if (std::uint64_t& begun_warps = begun[block]; warp < 64 && (begun_warps >> warp & 1) == 0) {
      begun_warps |= std::uint64_t{1} << warp;
      begin(block, warp);
    }
    const std::optional<std::uint32_t> array = arrays_.of(access);
    if (!array || transformations_[*array] == nullptr) {
      visit(block, warp, access);
      return;
    }
    trace::WarpAccess moved = access;
    transformations_[*array]->change_next(block, warp, moved,
                                          [&](const trace::WarpAccess& added) { visit(block, warp, added); });
    if (const auto site = new_site_[*array].find(access.site); site != new_site_[*array].end())
      moved.site = site->second;
    visit(block, warp, moved);
  }));
  // Warps without accesses of their own take part in copies.
  for (const auto& [block, begun_warps] : begun)
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      if ((begun_warps >> warp & 1) == 0)
        begin(block, warp);
      for (const auto& change : transformations_)
        if (change != nullptr)
          change->end(block, warp, [&](const trace::WarpAccess& access) { visit(block, warp, access); });
    }
  return {};
}

} // namespace warplens::placement
