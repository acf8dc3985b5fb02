// The tables of metrics against results in JSON, and against the page that defines the figures.
#include "result/metrics.h"
#include "sample_result.h"
#include "test/catch.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace warplens;

namespace {

/// Returns where a metric lies in its owner's JSON: figures of time are in an object of their own.
nlohmann::json::json_pointer place_of(std::string_view name, bool of_kernel) {
  const std::map<std::string_view, const char*> others = {{"microseconds", "/time/microseconds"},
                                                          {"cycles", "/time/cycles"},
                                                          {"time_share", "/time/share"},
                                                          {"waited_cycles", "/time/waited_cycles"}};
  const auto found = others.find(name);
  return nlohmann::json::json_pointer(found != others.end()
                                          ? std::string(found->second)
                                          : (of_kernel ? "/totals/" : "/") + std::string(name));
}

/// Checks that the JSON has the metric where the table finds a value, and the same value.
template <class Owner>
bool check(const Metric<Owner>& metric, const Owner& owner, const nlohmann::json& json) {
  INFO(metric.name);
  const auto place = place_of(metric.name, std::is_same_v<Owner, KernelResult>);
  const std::optional<MetricValue> value = metric.value(owner);
  CHECK(json.contains(place) == value.has_value());
  if (!value || !json.contains(place))
    return false;
  const nlohmann::json& figure = json[place];
  CHECK((figure.is_object() ? figure["mean"] : figure) == value->mean);
  CHECK(figure.is_object() == metric.varies);
  CHECK((value->over_trials != nullptr) == metric.varies);
  return true;
}

Result complete_sample() {
  Result result = test::sample_time();
  Totals& totals = result.kernels[0].totals;
  totals.l2_write_hit_rate = totals.constant_hit_rate = totals.constant_group_hit_rate =
      totals.l2_near_hit_rate = totals.l2_crossing_share = test::statistic(0.25, 0.01);
  totals.dram_read_bytes = 65536;
  totals.dram_write_bytes = 8192;
  totals.dram_write_bytes_before = 4096;
  totals.cold_miss_share = 0.5;
  SiteResult& site = result.kernels[0].sites[0];
  site.constant_hit_rate = test::statistic(0.5, 0.01);
  site.constant_addresses = 3;
  site.bank_conflicts = 1.5;
  return result;
}

} // namespace

TEST_CASE("each metric is in the result's JSON, by its name and with its value") {
  const Result result = complete_sample();
  const nlohmann::json json = nlohmann::json::parse(to_json(result).dump());
  std::set<std::string_view> of_kernel, of_site;
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    for (const KernelMetric& metric : kernel_metrics())
      if (check(metric, result.kernels[k], json["kernels"][k]))
        of_kernel.insert(metric.name);
    for (std::size_t i = 0; i < result.kernels[k].sites.size(); ++i)
      for (const SiteMetric& metric : site_metrics())
        if (check(metric, result.kernels[k].sites[i], json["kernels"][k]["sites"][i]))
          of_site.insert(metric.name);
  }
  CHECK(of_kernel.size() == kernel_metrics().size()); // the sample has each, so that each was compared
  CHECK(of_site.size() == site_metrics().size());
}

TEST_CASE("names of metrics are distinct, and what bounds the trials varies over them") {
  std::set<std::string_view> names;
  for (const KernelMetric& metric : kernel_metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK((!metric.stops_trials || metric.varies));
  }
  names.clear();
  for (const SiteMetric& metric : site_metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK((!metric.stops_trials || metric.varies));
  }
  CHECK(&site_metric("l1_hit_rate") == &*std::ranges::find(site_metrics(), "l1_hit_rate", &SiteMetric::name));
  CHECK_THROWS(site_metric("speed"));
}

TEST_CASE("docs/what-is-a-hit.md has each metric's row, with its counter of Nsight Compute") {
  std::ifstream file(WARPLENS_DOCS "/what-is-a-hit.md");
  REQUIRE(file);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| ") || line.starts_with("- "))
      rows.push_back(line);
  const auto check = [&](std::string_view name, std::string_view ncu) {
    INFO(name);
    std::string word = "`" + std::string(name) + "`";
    if (name == "time_share" || name == "waited_cycles")
      word = name == "time_share" ? "`time.share`" : "`time.waited_cycles`";
    if (name == "microseconds" || name == "cycles")
      word = "`time." + std::string(name) + "`";
    CHECK(std::ranges::any_of(rows, [&](const std::string& row) {
      const std::size_t end = row.starts_with("| ") ? row.find(" | ", 2) : row.find(':');
      return row.substr(0, end).find(word) != std::string::npos && row.find(ncu) != std::string::npos;
    }));
  };
  for (const KernelMetric& metric : kernel_metrics())
    check(metric.name, metric.ncu);
  for (const SiteMetric& metric : site_metrics())
    check(metric.name, metric.ncu);
}
