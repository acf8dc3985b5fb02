#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

namespace {

const std::string page_start = "<html><body>\n", page_end = "\n<p>rest</p></body></html>\n";
const std::string page = page_start + "<!-- warplens-data -->" + page_end;
const std::string opening = R"(<script type="application/json" id="warplens-data">)", closing = "</script>";

std::string print(const std::vector<report::LabelledResult>& results) {
  const auto text = report::print_page(results, {page, "1.2.3", "/nonexistent"});
  REQUIRE(text.has_value());
  return *text;
}

/// Returns the content of the script element, and checks that it stands there.
std::string data_in(const std::string& text) {
  REQUIRE(text.starts_with(page_start + opening));
  REQUIRE(text.ends_with(closing + page_end));
  const std::size_t start = page_start.size() + opening.size();
  return text.substr(start, text.size() - start - closing.size() - page_end.size());
}

} // namespace

TEST_CASE("page: the results, the verdicts on their lines, the sources") {
  const Result result = test::sample_page_result();
  const Json data = Json::parse(data_in(print({{"a.json", &result}, {"b.json", &result}})));
  CHECK(data["version"] == "1.2.3");
  REQUIRE(data["results"].size() == 2);
  CHECK(data["results"][1]["label"] == "b.json");
  CHECK(data["results"][0]["result"] == Json::parse(report::print_json(result)));
  const Json& verdicts = data["results"][0]["verdicts"];
  REQUIRE(verdicts.size() == 4); // lines with sites
  for (const Json& verdict : verdicts) {
    CHECK(verdict["kernel"] == 0);
    if (verdict["line"] == 13)
      CHECK(verdict["text"] == "val[j]: uncoalesced: 28.0 sectors per request where 4.00 would do; "
                               "y[indices[j]]: uncoalesced: 26.0 sectors per request where 4.00 would do");
    if (verdict["line"] == 12)
      CHECK(verdict["text"] == "fine: 100.0 % L1 hits");
  }
  REQUIRE(data["sources"].size() == 2);
  CHECK(data["sources"][1]["file"] == "spmv.cu");
  CHECK(data["sources"][1]["missing"] == "not found where the report was made");
}

TEST_CASE(
    "page: with a time, the verdicts say what takes it; a comparison with a result without one says so") {
  const Result timed = test::sample_time(), plain = test::sample_result();
  const Json data = Json::parse(data_in(print({{"a.json", &plain}, {"b.json", &timed}})));
  for (const Json& verdict : data["results"][1]["verdicts"])
    if (verdict["line"] == 13)
      CHECK(verdict["text"] ==
            "val[j]: accounts for 71 % of the DRAM traffic; uncoalesced: 28.0 sectors per request where 4.00 "
            "would do; y[indices[j]]: accounts for 29 % of the DRAM traffic; uncoalesced: 26.0 sectors per "
            "request where 4.00 would do");
  CHECK(data["comparison"]["kernels"][0]["times"] == "Times are not compared: only the result after has "
                                                     "times, for the trials of the other one have no clock.");
  const Json same = Json::parse(data_in(print({{"a.json", &timed}, {"b.json", &timed}})));
  CHECK_FALSE(same["comparison"]["kernels"][0].contains("times"));
  CHECK(same["comparison"]["kernels"][0]["totals"][0]["figure"] == "microseconds");
}

TEST_CASE("page: accesses with the same verdict are combined") {
  Result result = test::sample_page_result();
  auto& sites = result.kernels[0].sites;
  const auto on_line = [&](const char* expression) {
    return std::ranges::find(sites, expression, [](const SiteResult& site) { return site.site.expression; });
  };
  const auto value = on_line("val[j]"), gathered = on_line("y[indices[j]]");
  REQUIRE(value != sites.end());
  REQUIRE(gathered != sites.end());
  const Site own = gathered->site;
  *gathered = *value;
  gathered->site.expression = own.expression;
  gathered->site.id = own.id;
  const Json data = Json::parse(data_in(print({{"a.json", &result}})));
  const Json& verdicts = data["results"][0]["verdicts"];
  const auto found =
      std::find_if(verdicts.begin(), verdicts.end(), [](const Json& one) { return one["line"] == 13; });
  REQUIRE(found != verdicts.end());
  CHECK((*found)["text"] ==
        "val[j], y[indices[j]]: uncoalesced: 28.0 sectors per request where 4.00 would do");
}

TEST_CASE("page: why a kernel's machine code is not known") {
  Result result = test::sample_result();
  result.kernels[0].code_unknown = "the trace has no machine code of the kernel";
  const auto opening_of = [&] {
    return Json::parse(data_in(print({{"a.json", &result}})))["results"][0]["openings"][0];
  };
  CHECK(opening_of()["no_code"] == "the trace has no machine code of the kernel");
  result.kernels[0].code_unknown.clear();
  result.kernels[0].code.emplace();
  CHECK_FALSE(opening_of().contains("no_code"));
}

TEST_CASE("page: nothing in the data can end the script element") {
  Result result = test::sample_result();
  const std::string hostile = "</script><script>alert(1)</script><!-- <img onerror=x> \u2028\u2029 \xff";
  result.program = hostile;
  result.kernels[0].name = hostile;
  result.kernels[0].sites[2].site.expression = hostile;
  const std::string text = print({{hostile, &result}});
  const std::string data = data_in(text);
  CHECK(data.find('<') == std::string::npos);
  CHECK(data.find("\u2028") == std::string::npos);
  CHECK(data.find("\u2029") == std::string::npos);
  CHECK(Json::parse(data)["results"][0]["label"] == hostile.substr(0, hostile.size() - 1) + "\uFFFD");
}

TEST_CASE("page: launches of one kernel keep their verdicts apart") {
  Result result = test::sample_page_result();
  result.kernels.push_back(result.kernels[0]);
  for (SiteResult& site : result.kernels[1].sites)
    if (site.site.expression == "tile[threadIdx.x][0]")
      site.bank_conflicts = 0;
  const Json data = Json::parse(data_in(print({{"a.json", &result}})));
  std::map<int, std::string> of_tile;
  for (const Json& verdict : data["results"][0]["verdicts"])
    if (verdict["line"] == 6)
      CHECK(of_tile.emplace(verdict["kernel"], verdict["text"]).second);
  CHECK(of_tile[0] == "bank conflicts: 31.0 extra passes per request");
  CHECK(of_tile[1] == "fine: hardly any bank conflicts");
}

TEST_CASE("page: pairs and differences are those of diff") {
  // Two equal statements; a line inserted above both moves the first one to where the second was.
  Result before = test::sample_page_result();
  const auto add = [](Result& result, std::uint64_t id, std::uint32_t line, double hits) {
    SiteResult equal = test::site(id, line, 3, "equal[i]", "equal");
    equal.executions = 100;
    equal.l1_hit_rate = test::statistic(hits, 0.001);
    result.kernels[0].sites.push_back(equal);
  };
  Result after = before;
  add(before, 0x70, 20, 0.25);
  add(before, 0x71, 21, 0.75);
  add(after, 0x71, 21, 0.25);
  add(after, 0x72, 22, 0.75);
  after.kernels[0].snapshot.blocks = 512;
  const Json data = Json::parse(data_in(print({{"a.json", &before}, {"b.json", &after}})));
  const Json& kernel = data["comparison"]["kernels"].at(0);
  CHECK(kernel["before"] == 0);
  CHECK(kernel["after"] == 0);
  CHECK(kernel["gone"].empty());
  REQUIRE(kernel["sites"].size() == 7);
  for (const Json& site : kernel["sites"]) {
    CHECK(site["before"] == site["after"]); // both lists are in the same order
    for (const Json& change : site["figures"])
      if (change["figure"] == "l1_hit_rate")
        CHECK(change["beyond_interval"] == false);
  }
  CHECK(kernel["snapshots"].get<std::string>().find("336 of 512 blocks before, 512 of 512 after") !=
        std::string::npos);
  CHECK(kernel["launch_scale"]["before"].get<double>() == Approx(512 / 336.0));
  CHECK(kernel["launch_scale"]["after"] == 1.0);
  CHECK(kernel["objects"].size() == 2);

  // val[j] and y[indices[j]] stand on one line.
  REQUIRE(kernel["lines"].size() == 1);
  CHECK(kernel["lines"][0]["line"] == 13);
  for (const Json& change : kernel["lines"][0]["figures"]) {
    if (change["figure"] == "latency_share")
      CHECK(change["after"].get<double>() == Approx(0.855));
    if (change["figure"] == "sectors_per_request")
      CHECK(change["after"].get<double>() == Approx(27));
    if (change["figure"] == "executions")
      CHECK(change["before"].get<double>() == Approx(760000 * 512 / 336.0));
  }
  CHECK_FALSE(Json::parse(data_in(print({{"a.json", &before}}))).contains("comparison"));
}

TEST_CASE("page: a difference beyond its interval is better or worse") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].sites[3].l1_hit_rate = test::statistic(0.9, 0.004);
  after.kernels[0].sites[3].sectors_per_request = 30;
  after.kernels[0].sites[3].latency_ns = test::statistic(1206, 30);
  after.kernels[0].sites[3].active_lanes = 28.5;
  const Json data = Json::parse(data_in(print({{"a.json", &before}, {"b.json", &after}})));
  std::map<std::string, std::string> effects;
  for (const Json& site : data["comparison"]["kernels"][0]["sites"])
    if (site["after"] == 3)
      for (const Json& change : site["figures"])
        effects[change["figure"]] = change.value("effect", "none");
  CHECK(effects["l1_hit_rate"] == "better");
  CHECK(effects["sectors_per_request"] == "worse");
  CHECK(effects["latency_ns"] == "none");
  CHECK(effects["active_lanes"] == "none");
}

TEST_CASE("page: without its one place for the data it is damaged") {
  const Result result = test::sample_result();
  for (const std::string& broken : {std::string("<html></html>"), page + page}) {
    const auto text = report::print_page({{"a", &result}}, {broken, "1", {}});
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().message.find("damaged") != std::string::npos);
  }
}
