// What the figures of a site say, in words.
#pragma once

#include "result/result.h"

#include <string>

namespace warplens::report {

/// One clause, derived from the site's figures alone: bank conflicts, uncoalesced, poor locality, or fine.
std::string verdict_on(const SiteResult& site);

/// Does it cost passes or sectors that another layout would save? Poor locality alone may be the data's
/// nature.
bool is_wasteful(const SiteResult& site);

/// The fewest sectors that could carry what a request of this site uses; empty where its bytes are not known.
std::optional<double> needed_sectors_per_request(const SiteResult& site);

} // namespace warplens::report
