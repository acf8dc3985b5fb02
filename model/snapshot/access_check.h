// Refuses accesses that no program makes, before a snapshot takes them.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::model {

using SiteIndex =
    std::unordered_map<std::uint64_t, std::uint32_t>; ///< Site::id → index into the trace's sites

/// CUDA's limits are 1024 threads per block and fewer than 2^63 blocks per grid; a snapshot of 2^58 blocks
/// exists in no file.
inline constexpr std::uint32_t max_warps_per_block = 32;
inline constexpr std::uint64_t max_blocks_of_grid = std::uint64_t{1} << 58;

SiteIndex index_of(const std::vector<Site>& sites);

/// Returns the error of a damaged trace in which an access is what it cannot be.
tl::unexpected<Error> refuse_access(const trace::Launch& launch, std::uint64_t block, std::uint32_t warp,
                                    const std::string& what);

/// Returns the index of the access's site. The error says that the trace is damaged, and how: a block or warp
/// outside the launch, a site that the trace does not have, an impossible width, kind or space.
Expected<std::uint32_t> check_access(const trace::Launch& launch, const SiteIndex& sites, std::uint64_t block,
                                     std::uint32_t warp, const trace::WarpAccess& access);

/// Checks an access of an executed instruction; the error says what is damaged.
Expected<void> check_executed(const trace::Launch& launch, std::uint64_t block, std::uint32_t warp,
                              const trace::WarpAccess& access);

} // namespace warplens::model
