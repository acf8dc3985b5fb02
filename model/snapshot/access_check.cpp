#include "model/snapshot/access_check.h"

#include "model/snapshot/snapshot.h"
#include "support/display_name.h"

#include <algorithm>

namespace warplens::model {

SiteIndex index_of(const std::vector<Site>& sites) {
  SiteIndex index;
  for (std::uint32_t i = 0; i < sites.size(); ++i)
    index.emplace(sites[i].id, i);
  return index;
}

tl::unexpected<Error> refuse_access(const trace::Launch& launch, std::uint64_t block, std::uint32_t warp,
                                    const std::string& what) {
  return fail("damaged trace: an access of kernel '{}', block {}, warp {} {}", display_name(launch.kernel),
              block, warp, what);
}

Expected<void> check_executed(const trace::Launch& launch, std::uint64_t block, std::uint32_t warp,
                              const trace::WarpAccess& access) {
  const auto refuse = [&](const std::string& what) { return refuse_access(launch, block, warp, what); };
  if (block < launch.first_block || block - launch.first_block >= std::min(launch.blocks, max_blocks_of_grid))
    return refuse("is outside the launch's snapshot");
  if (warp >= max_warps_per_block || std::uint64_t{warp} * warp_lanes >= launch.block.count())
    return refuse("is outside the block");
  if (is_access(access.kind) && !has_possible_width(access))
    return refuse(fmt::format("has {} bytes per lane", access.bytes));
  if (access.active == 0)
    return refuse("has no active lane");
  if (access.kind > AccessKind::mark || access.space > Space::constant)
    return refuse("is of no known kind or space");
  return {};
}

Expected<std::uint32_t> check_access(const trace::Launch& launch, const SiteIndex& sites, std::uint64_t block,
                                     std::uint32_t warp, const trace::WarpAccess& access) {
  const auto refuse = [&](const std::string& what) { return refuse_access(launch, block, warp, what); };
  TRY(check_executed(launch, block, warp, access));
  const auto known = sites.find(access.site);
  if (known == sites.end())
    return refuse(fmt::format("names site {:#x}, which the trace does not describe", access.site));
  if (known->second >= max_sites)
    return fail(
        "kernel '{}' accesses memory in the trace's site number {}; more than {} sites cannot be modelled",
        launch.kernel, known->second, max_sites);
  return known->second;
}

} // namespace warplens::model
