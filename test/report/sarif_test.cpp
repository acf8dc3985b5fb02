#include "report/report.h"
#include "test/catch.h"
#include "test/report/source_folder.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>
#include <set>

using namespace warplens;
using Json = nlohmann::json;

namespace {

Json log(const Result& result, double threshold, const std::filesystem::path& root = {}) {
  return Json::parse(report::print_sarif(result, {threshold, "1.2.3", root}));
}

/// Checks the requirements of SARIF 2.1.0's schema on the parts that are used.
void check_structure(const Json& json) {
  CHECK(json["version"] == "2.1.0");
  REQUIRE(json["runs"].size() == 1);
  const Json& driver = json["runs"][0]["tool"]["driver"];
  CHECK(driver["name"] == "Warplens");
  std::set<std::string> fingerprints;
  for (const Json& result : json["runs"][0]["results"]) {
    const Json& rule = driver["rules"].at(result["ruleIndex"].get<std::size_t>());
    CHECK(rule["id"] == result["ruleId"]);
    CHECK_FALSE(rule["help"]["text"].get<std::string>().empty());
    CHECK(std::set<std::string>{"none", "note", "warning", "error"}.contains(result["level"]));
    CHECK_FALSE(result["message"]["text"].get<std::string>().empty());
    CHECK(fingerprints.insert(result["partialFingerprints"]["warplensFinding/v1"]).second);
    const Json& physical = result["locations"].at(0)["physicalLocation"];
    const std::string uri = physical["artifactLocation"]["uri"];
    CHECK(uri.find_first_of(" \"<>\\^`{|}\x1b") == std::string::npos);
    if (physical.contains("region"))
      for (const auto& [key, value] : physical["region"].items())
        CHECK(value.get<std::uint64_t>() >= 1);
    if (result.contains("rank"))
      CHECK((result["rank"] >= 0 && result["rank"] <= 100));
  }
}

} // namespace

TEST_CASE("sarif: findings on lines above the threshold") {
  const test::SourceFolder folder;
  const Json json = log(test::sample_result(), 0.05, folder.path());
  check_structure(json);
  const Json& results = json["runs"][0]["results"];
  REQUIRE(results.size() == 3);            // rows[i] is fine, tile[…] costs 1 %
  CHECK(results[0]["ruleId"] == "spills"); // of the kernel as a whole
  CHECK(results[1]["ruleId"] == "uncoalesced");
  CHECK(results[1]["message"]["text"] ==
        "val[j]: uncoalesced: 28.0 sectors per request where 4.00 would do (60 % of the latency of "
        "spmv(int const*, int const*, float const*, float const*, float*) on Tesla C2050)");
  const Json& physical = results[1]["locations"][0]["physicalLocation"];
  CHECK(physical["artifactLocation"]["uri"] == "spmv.cu");
  CHECK(physical["artifactLocation"]["uriBaseId"] == "%SRCROOT%");
  CHECK(physical["region"] == Json({{"startLine", 13}, {"startColumn", 8}, {"endColumn", 14}}));
  CHECK(results[1]["properties"]["latency_ns"] == 1205.4);
  const std::string accuracy = results[1]["properties"]["accuracy"];
  CHECK(accuracy.find("on its nearest relative, v100: time 14 % off in the mean") != std::string::npos);
  CHECK(results[1]["rank"] == 60);

  CHECK(log(test::sample_result(), 0.01)["runs"][0]["results"].size() == 4);
  CHECK(log(test::sample_result(), 0)["runs"][0]["results"].size() == 5); // table[k]: one lane
  CHECK(log(test::sample_result(), 1)["runs"][0]["results"].size() == 1); // the kernel's
}

TEST_CASE("sarif: with a time, its share chooses, ranks and is named") {
  Result result = test::sample_time();
  const Json first = log(result, 0.5)["runs"][0]["results"][1];
  CHECK(first["message"]["text"].get<std::string>().find("(70 % of the time of spmv(") != std::string::npos);
  CHECK(first["rank"] == 70);
  CHECK(first["properties"]["time_share"] == 0.7);
  CHECK(first["properties"]["waited_cycles"] == 512);

  KernelResult& kernel = result.kernels[0];
  kernel.time->bound = Resource::atomics;
  kernel.sites[2].time = test::site_time(900, 0.9, {{Resource::atomics, 1}});
  kernel.sites[2].latency_share = 0;
  const Json json = log(result, 0.9);
  check_structure(json);
  const Json& contended = json["runs"][0]["results"][1];
  CHECK(contended["ruleId"] == "contention");
  CHECK(contended["level"] == "warning");
  CHECK(contended["message"]["text"].get<std::string>().starts_with(
      "rows[i]: contended: 100 % of the L2's atomics, which bound the kernel (90 % of the time of "));
}

TEST_CASE("sarif: columns count characters, and only where the source still shows the expression") {
  const test::SourceFolder folder;
  Result result = test::sample_result();
  SiteResult& value = result.kernels[0].sites[3];
  value.site.line = 1;
  value.site.column = 12; // bytes
  folder.write("spmv.cu", "/* na\u00efve */val[j];\n");
  const auto region = [&] {
    return log(result, 0.5,
               folder.path())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
  };
  value.site.column = 13;
  CHECK(region() == Json({{"startLine", 1}, {"startColumn", 12}, {"endColumn", 18}}));
  value.site.column = 2;
  CHECK(region() == Json({{"startLine", 1}, {"startColumn", 2}}));
  value.site.column = 4000000000u;
  CHECK(region() == Json({{"startLine", 1}}));
}

TEST_CASE("sarif: hostile names stay URIs, braces stay text") {
  Result result = test::sample_result();
  for (SiteResult& site : result.kernels[0].sites) {
    site.site.file = "a b/\xff<>\"{}%\x1b.cu";
    site.site.line = 0;
    site.site.expression = "f({1})";
  }
  const Json json = log(result, 0);
  check_structure(json);
  const Json& first = json["runs"][0]["results"][1];
  CHECK(first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
        "a%20b/%FF%3C%3E%22%7B%7D%25%1B.cu");
  CHECK(first["message"]["text"].get<std::string>().starts_with("f({{1}}): "));
}

TEST_CASE("sarif: a kernel name of 1000 characters is short in the message and full where tools look") {
  Result result = test::sample_result();
  result.kernels[0].name = "scan<" + std::string(1000, 'x') + ">(float*)";
  const Json json = log(result, 0.05);
  for (const Json& finding : json["runs"][0]["results"]) {
    CHECK(finding["message"]["text"].get<std::string>().size() < 300);
    CHECK(finding["message"]["text"].get<std::string>().find("scan<…>") != std::string::npos);
    CHECK(finding["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == result.kernels[0].name);
    CHECK(finding["properties"]["kernel"] == result.kernels[0].name);
  }
}

TEST_CASE("sarif: of more results than a service takes the costliest are kept, and GitHub knows them again") {
  Result result = test::sample_result();
  KernelResult& kernel = result.kernels[0];
  const SiteResult costly = kernel.sites[3];
  kernel.sites.clear();
  for (std::uint32_t line = 1; line <= 6000; ++line) {
    kernel.sites.push_back(costly);
    kernel.sites.back().site.line = line;
    kernel.sites.back().latency_share = line / 1e7; // later lines cost more
  }
  const Json results = log(result, 0)["runs"][0]["results"];
  REQUIRE(results.size() == 5000);
  const std::uint32_t first = results[0]["locations"][0]["physicalLocation"]["region"]["startLine"];
  CHECK(first > 1);
  CHECK(results.back()["locations"][0]["physicalLocation"]["region"]["startLine"] == 6000);
  const Json& fingerprints = results[0]["partialFingerprints"];
  CHECK(fingerprints["primaryLocationLineHash"] ==
        fingerprints["warplensFinding/v1"].get<std::string>() + ":1");
}
