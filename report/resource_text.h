// The resources that can bound a kernel's time: their shares, and their names in words.
#pragma once

#include "result/result.h"

#include <string_view>

namespace warplens::report {

/// Returns the resource's own share.
double share_of(const ByResource& shares, Resource resource);

/// Returns the name in a list: "L2 slices".
std::string_view text_of(Resource resource);

/// Returns what bounds a kernel's time: a resource, or "latency".
std::string_view text_of_bound(std::optional<Resource> bound);

/// Returns what a site can have a share of: "the sectors of the L2's slices".
std::string_view work_of(Resource resource);

} // namespace warplens::report
