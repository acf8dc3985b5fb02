#include "judge/costly_sites.h"

#include "judge/findings.h"
#include "result/figure_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace warplens::judge {

std::vector<CostlySite> costly_sites(const KernelResult& kernel, std::size_t count) {
  constexpr double notable = 1.5; // sectors touched over sectors needed
  std::vector<CostlySite> costly;
  for (const SiteResult& site : kernel.sites) {
    const std::optional<double> needed = needed_sectors_per_request(site);
    const double requests = double(site.executions);
    if (site.site.cache_operator != CacheOperator::tex && needed && site.sectors_per_request &&
        *site.sectors_per_request >= notable * *needed)
      costly.push_back({&site,
                        fmt::format("{} sectors per request where {} would do",
                                    ratio(site.sectors_per_request), ratio(needed)),
                        (*site.sectors_per_request - *needed) * requests});
    else if (site.bank_conflicts && *site.bank_conflicts >= notable - 1)
      costly.push_back({&site,
                        fmt::format("{} extra passes over the banks per request", ratio(site.bank_conflicts)),
                        *site.bank_conflicts * requests});
  }
  std::ranges::stable_sort(costly, std::ranges::greater(), &CostlySite::excess);
  costly.resize(std::min(costly.size(), count));
  return costly;
}

} // namespace warplens::judge
