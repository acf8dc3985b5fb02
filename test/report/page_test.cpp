#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

namespace {

const std::string before = "<html><body>\n", after = "\n<p>rest</p></body></html>\n";
const std::string page = before + "<!-- warplens-data -->" + after;
const std::string opening = R"(<script type="application/json" id="warplens-data">)", closing = "</script>";

std::string print(const std::vector<report::LabelledResult>& results) {
  const auto text = report::print_page(results, {page, "1.2.3", "/nonexistent"});
  REQUIRE(text.has_value());
  return *text;
}

/// What stands in the script element, and that it stands there.
std::string data_in(const std::string& text) {
  REQUIRE(text.starts_with(before + opening));
  REQUIRE(text.ends_with(closing + after));
  const std::size_t start = before.size() + opening.size();
  return text.substr(start, text.size() - start - closing.size() - after.size());
}

} // namespace

TEST_CASE("page: the results, what is said of their lines, the sources") {
  const Result result = test::sample_page_result();
  const Json data = Json::parse(data_in(print({{"a.json", &result}, {"b.json", &result}})));
  CHECK(data["version"] == "1.2.3");
  REQUIRE(data["results"].size() == 2);
  CHECK(data["results"][1]["label"] == "b.json");
  CHECK(data["results"][0]["result"] == Json::parse(report::print_json(result)));
  const Json& verdicts = data["results"][0]["verdicts"];
  REQUIRE(verdicts.size() == 4); // lines with sites
  for (const Json& verdict : verdicts) {
    CHECK(verdict["kernel"] == result.kernels[0].name);
    CHECK(verdict["gpu"] == "Tesla C2050");
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

TEST_CASE("page: accesses of which the same is said come together") {
  Result result = test::sample_page_result();
  auto& sites = result.kernels[0].sites;
  const auto on_line = [&](const char* expression) {
    return std::ranges::find(sites, expression, [](const SiteResult& site) { return site.site.expression; });
  };
  const auto value = on_line("val[j]"), gathered = on_line("y[indices[j]]");
  REQUIRE(value != sites.end());
  REQUIRE(gathered != sites.end());
  const trace::Site own = gathered->site;
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

TEST_CASE("page: without its one place for the data it is damaged") {
  const Result result = test::sample_result();
  for (const std::string& broken : {std::string("<html></html>"), page + page}) {
    const auto text = report::print_page({{"a", &result}}, {broken, "1", {}});
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().message.find("damaged") != std::string::npos);
  }
}
