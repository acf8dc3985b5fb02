// The printed forms of an analysis.

#include "document/print.h"
#include "report/report.h"
#include "report/significance/document.h"
#include "significance/compare.h"
#include "test/catch.h"
#include "test/significance/made_regions.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using namespace warplens::significance;
using namespace warplens::significance::test;

namespace {

Region cubes(const std::string& name) {
  std::vector<double> time;
  for (int n = 1; n <= 16; ++n)
    time.push_back(n * n * n);
  Region region = made_region(time);
  region.name = region.kernel = name;
  region.gpu = "a100";
  add_counter(region, "dram", [&](std::size_t i) { return time[i]; });
  add_counter(region, "l2", [&](std::size_t i) { return 2 * time[i]; });
  add_counter(region, "alternates", [](std::size_t i) { return i % 2 == 0 ? 1.0 : 2.0; });
  add_counter(region, "constant", [](std::size_t) { return 1.0; });
  return region;
}

Significance explained(const std::vector<Region>& regions, const ExplainOptions& options = {}) {
  RunSet runs;
  runs.regions = regions;
  Significance found;
  found.options = options;
  found.regions = explain_regions(runs, one_group_each(regions[0]), options);
  return found;
}

std::string text_of(const Significance& found) {
  return document::print_text(report::significance_document(found), {});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("an explanation names its runs, its verdict and its limits") {
  const std::string text = text_of(explained({cubes("gemm")}));
  INFO(text);
  CHECK(has(text, "gemm on a100: 16 runs (i = 0…15), target time\n"));
  CHECK(has(text, "explained: R2 1.00, Q2 1.00, "));
  CHECK(has(text, "correlation, not cause"));
  CHECK(has(text, "  dram  0.50±"));
  CHECK(has(text, "collinear: dram ~ l2 (1.0000): the split among them is by lot"));
  CHECK(has(text, "left out: 1 constant counter\n"));
}

TEST_CASE("what the counters do not explain is not ranked, unless the authors' choices are asked for") {
  Region region = cubes("gemm");
  region.targets["time"] = {5, 3, 8, 1, 9, 2, 7, 2, 9, 3, 4, 8, 1, 6, 2, 5};
  const std::string text = text_of(explained({region}));
  INFO(text);
  CHECK(has(text, "not explained: these counters do not explain the target (R2 "));
  CHECK_FALSE(has(text, "  dram "));
  const std::string ranked = text_of(explained({region}, preset_named("dashing").value()));
  CHECK(has(ranked, "these counters do not explain the target"));
  CHECK(has(ranked, "not significant"));
}

TEST_CASE("a modelled target is called so, and few runs too") {
  Region region = cubes("gemm");
  region.targets[modelled_time] = region.targets["time"];
  region.targets.erase("time");
  CHECK(has(text_of(explained({region})), "target time, modelled"));
  region.runs.resize(6);
  for (Counter& counter : region.counters)
    counter.values.resize(6);
  region.targets[modelled_time].resize(6);
  CHECK(has(text_of(explained({region})), "few runs: "));
}

TEST_CASE("comparisons say what their figures are") {
  Region half = cubes("half");
  for (double& value : half.targets["time"])
    value /= 2;
  for (double& value : half.counters[0].values)
    value /= 2;
  Significance found = explained({cubes("gemm"), half});
  found.comparisons.push_back(compare_regions(cubes("gemm"), half, 0, one_group_each(half), {}));
  found.similarities.push_back(similarity_of(half, half, one_group_each(half), {}, nullptr));
  const std::string text = text_of(found);
  INFO(text);
  CHECK(has(text, "gemm → half: 16 runs, target time 1.85e+04 → 9248 in all"));
  CHECK(has(text, "its counters -50 %"));
  CHECK(has(text, "not an amount"));
  CHECK(has(text, "no resource has two counters in common"));
}

TEST_CASE("JSON has the schema's keys") {
  const auto json = nlohmann::json::parse(report::print_significance_json(explained({cubes("gemm")})));
  CHECK(json["schema"] == "warplens-significance/1");
  for (const char* key : {"target", "preset", "seed", "regions", "comparisons", "similarities"})
    CHECK(json.contains(key));
  const auto& region = json["regions"][0];
  for (const char* key : {"name", "n", "dropped", "r2", "q2", "null95", "collinear", "resources", "runs"})
    CHECK(region.contains(key));
  CHECK(region["runs"][3]["params"]["i"] == "3");
  CHECK(region["runs"][3]["target"] == 64);
  const auto& resource = region["resources"][0];
  for (const char* key : {"name", "rsm", "se", "reduction", "counters"})
    CHECK(resource.contains(key));
  for (const char* key : {"name", "coefficient", "freq", "belief", "reduction"})
    CHECK(resource["counters"][0].contains(key));
}

TEST_CASE("hostile names stay harmless") {
  Region region = cubes("gemm\x1b[31m\nsecond line</script>");
  region.gpu = "\xff\xe2\x80\xae";
  region.runs[3] = {{"i\n", "\x1b]0;title\x07"}};
  region.counters[0].name = "dram\r\n\x1b[2J";
  Significance found;
  RunSet runs;
  runs.regions = {region};
  found.regions = explain_regions(runs, groups_of("").value(), {});
  found.notes = {"\x1b[0m"};
  const std::string text = text_of(found);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
  CHECK(nlohmann::json::accept(report::print_significance_json(found)));
  const auto json = to_json(found);
  const auto page = report::print_page({}, {"<!-- warplens-data -->", "1", {}, &json});
  REQUIRE(page.has_value());
  CHECK(page->find("</script>") == page->size() - 9); // the data's own end alone
}
