#include "report/preview.h"

#include "report/figures.h"
#include "report/findings.h"
#include "report/headroom_text.h"
#include "report/machine_code.h"
#include "report/terminal_text.h"
#include "support/display_name.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace warplens::report {
namespace {

constexpr std::size_t preview_width = 100, max_sites = 6;

/// An access that costs more than it needs to, by its figures alone, and how much of it there is.
struct CostlySite {
  const SiteResult* site;
  std::string cost;
  double excess; ///< sectors or passes beyond those needed, of all requests
};

std::vector<CostlySite> costly_sites(const KernelResult& kernel) {
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
  costly.resize(std::min(costly.size(), max_sites));
  return costly;
}

} // namespace

std::string print_preview(const KernelResult& kernel) {
  std::string text;
  const auto add = [&](const std::string& line, std::size_t indent) {
    std::string before(indent, ' ');
    for (const std::string& part : wrapped(printable(line), preview_width - indent - 2)) {
      text += before + part + "\n";
      before.assign(indent + 2, ' ');
    }
  };
  add(fmt::format("{} on {}: {}; registers {}", display_name(kernel.name), kernel.gpu, occupancy_text(kernel),
                  registers(kernel.compiled)),
      2);
  for (const CostlySite& costly : costly_sites(kernel))
    add(fmt::format("{}:{}  {}: {}", std::filesystem::path(costly.site->site.file).filename().string(),
                    costly.site->site.line, cut(costly.site->site.expression, 40), costly.cost),
        4);
  return text;
}

} // namespace warplens::report
