#include "report/page_comparison.h"

#include "report/print_difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

template <class Item> std::size_t index_in(const std::vector<Item>& list, const Item* item) {
  return static_cast<std::size_t>(item - list.data());
}

/// Pairs objects by name, which is unique in a kernel.
Json object_pairs(const KernelResult& before, const KernelResult& after) {
  Json pairs = Json::array();
  for (const ObjectResult& object : after.objects) {
    const auto old = std::ranges::find(before.objects, object.name, &ObjectResult::name);
    if (old != before.objects.end())
      pairs.push_back(
          {{"before", old - before.objects.begin()}, {"after", index_in(after.objects, &object)}});
  }
  return pairs;
}

Json to_json(const judge::KernelChange& kernel, const Result& before, const Result& after) {
  Json json;
  json["before"] = index_in(before.kernels, kernel.before);
  json["after"] = index_in(after.kernels, kernel.after);
  if (kernel.snapshots_differ())
    json["snapshots"] = "The " + judge::snapshots_of(kernel) + ". Bytes and executions are given per launch.";
  if (kernel.l2_starts_differ())
    json["l2_starts"] = "Note: " + judge::l2_starts_of(kernel) + ".";
  if (kernel.only_one_has_time())
    json["times"] = "Times are not compared: " + judge::missing_times_of(kernel) + ".";
  json["launch_scale"] = {{"before", blocks_per_snapshot_block(*kernel.before)},
                          {"after", blocks_per_snapshot_block(*kernel.after)}};
  json["totals"] = report::to_json(kernel.totals);
  Json& sites = json["sites"] = Json::array();
  for (const judge::SiteChange& site : kernel.sites)
    sites.push_back({{"before", index_in(kernel.before->sites, site.before)},
                     {"after", index_in(kernel.after->sites, site.after)},
                     {"figures", report::to_json(site.figures)}});
  Json& lines = json["lines"] = Json::array();
  for (const judge::LineChange& line : kernel.lines)
    lines.push_back({{"file", line.file}, {"line", line.line}, {"figures", report::to_json(line.figures)}});
  json["objects"] = object_pairs(*kernel.before, *kernel.after);
  Json& removed = json["gone"] = Json::array();
  for (const SiteResult* site : kernel.removed)
    removed.push_back(index_in(kernel.before->sites, site));
  return json;
}

} // namespace

Json comparison_for_page(const Result& before, const Result& after) {
  const judge::Difference difference = judge::compare(before, after, {});
  Json kernels = Json::array();
  for (const judge::KernelChange& kernel : difference.kernels)
    kernels.push_back(to_json(kernel, before, after));
  return {{"kernels", std::move(kernels)}};
}

} // namespace warplens::report
