#include "runtime/host/site_registry.h"

#include <algorithm>

namespace warplens::runtime {
namespace {

const char* text_or_empty(const char* text) {
  return text ? text : "";
}

Site to_site(const SiteRecord& record) {
  Site site;
  site.id = record.id;
  site.file = text_or_empty(record.file);
  site.line = record.line;
  site.column = record.column;
  site.expression = text_or_empty(record.expression);
  site.kind = static_cast<AccessKind>(record.kind);
  site.space = static_cast<Space>(record.space);
  site.element_bytes = record.element_bytes;
  site.cache_operator = static_cast<CacheOperator>(record.cache_operator);
  site.sequence = record.sequence;
  if (record.depends_on)
    site.depends_on.assign(record.depends_on, record.depends_on + record.depends_on_count);
  site.object = text_or_empty(record.object);
  site.macro = text_or_empty(record.macro);
  site.in_template = record.in_template;
  site.copies = std::max(record.copies, 1u);
  site.is_reduction = record.is_reduction;
  site.aggregation = static_cast<LaneAggregation>(record.aggregation);
  site.is_floating = record.is_floating;
  site.last_line = record.last_line;
  site.step = record.step;
  site.waits = record.waits;
  return site;
}

/// Returns whether both sites are one place; sizes and analyses may differ between two objects'
/// instantiations of it.
bool same_place(const Site& a, const Site& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column && a.kind == b.kind &&
         a.expression == b.expression;
}

} // namespace

Expected<void> SiteRegistry::add(std::span<const SiteRecord> records) {
  const std::scoped_lock lock(mutex_);
  for (const SiteRecord& record : records) {
    Site site = to_site(record);
    const auto [found, is_new] = sites_.try_emplace(site.id, site);
    if (is_new)
      new_.push_back(site.id);
    else if (!same_place(found->second, site))
      return fail("{}:{}:{} ({}) and {}:{}:{} ({}) have the same site id {:#x}: the files were instrumented "
                  "from different states of "
                  "the source; build them again",
                  found->second.file, found->second.line, found->second.column, found->second.expression,
                  site.file, site.line, site.column, site.expression, site.id);
  }
  return {};
}

std::vector<Site> SiteRegistry::take_new() {
  const std::scoped_lock lock(mutex_);
  std::vector<Site> sites;
  sites.reserve(new_.size());
  for (const std::uint64_t id : new_)
    sites.push_back(sites_.at(id));
  new_.clear();
  return sites;
}

} // namespace warplens::runtime
