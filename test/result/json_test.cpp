#include "test/catch.h"
#include "test/result/sample_result.h"

#include <limits>

using namespace warplens;
using Json = nlohmann::json;

namespace {

Json sample() {
  return Json::parse(to_json(test::sample_result()).dump());
}

std::string error_of(const Json& json) {
  const auto result = result_from_json(json);
  REQUIRE_FALSE(result.has_value());
  return result.error().message;
}

} // namespace

TEST_CASE("a result survives the way through JSON") {
  const Json before = sample();
  const auto result = result_from_json(before);
  REQUIRE(result.has_value());
  CHECK(Json::parse(to_json(*result).dump()) == before);

  const SiteResult& value = result->kernels.at(0).sites.at(3);
  CHECK(value.site.id == 0x20);
  CHECK(value.site.depends_on == std::vector<std::uint64_t>{0x40});
  CHECK(value.site.cache_operator == trace::CacheOperator::nc);
  CHECK(value.l1_hit_rate->spread95[1] == Approx(0.828));
  CHECK(value.l1_hit_rate->histogram.counts == std::vector<std::uint64_t>{30, 34});
  CHECK(result->seed == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("the schema's names") {
  const Json json = sample();
  CHECK(json["schema"] == "warplens-result/1");
  CHECK(json["coverage"]["executed_accesses_probed"] == 0.9985);
  const Json& kernel = json["kernels"][0];
  CHECK(kernel["grid"] == Json({512, 1, 1}));
  CHECK(kernel["occupancy"]["limited_by"] == "registers");
  CHECK(kernel["snapshot"]["warp_accesses"] == 1234567);
  CHECK(kernel["trials"] == Json({{"run", 64}, {"converged", true}}));
  const Json& site = kernel["sites"][3];
  CHECK(site["id"] == "0000000000000020");
  CHECK(site["kind"] == "load");
  CHECK(site["space"] == "global");
  CHECK(site["latency_ns"]["mean"] == 1205.4);
  CHECK(site["latency_ns"]["std"] == 30);
  CHECK(site["l1_hit_rate"]["ci95"].size() == 2);
  CHECK(site["l1_hit_rate"]["histogram"]["edges"].size() == 3);
}

TEST_CASE("what was not observed is absent") {
  const Json header = sample()["kernels"][0]["sites"][0];
  for (const char* key : {"object", "cache_operator", "sectors_per_request", "bytes_used", "bytes_moved",
                          "bank_conflicts", "l1_hit_rate", "l2_hit_rate", "latency_ns", "latency_share"})
    CHECK_FALSE(header.contains(key));
  CHECK_FALSE(sample()["kernels"][0]["totals"].contains("l2_write_hit_rate"));
  CHECK_FALSE(Json::parse(to_json(Result{}).dump())["coverage"].contains("executed_accesses_probed"));
}

TEST_CASE("figures that are not finite are left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Result result = test::sample_result();
  result.executed_accesses_probed = nan;
  SiteResult& value = result.kernels[0].sites[3];
  value.latency_share = infinity;
  value.latency_ns->std_deviation = nan;
  value.l1_hit_rate->histogram.edges[0] = -infinity;
  const Json json = to_json(result);
  CHECK(json.dump().find("null") == std::string::npos);
  for (const char* key : {"latency_share", "latency_ns", "l1_hit_rate"})
    CHECK_FALSE(json["kernels"][0]["sites"][3].contains(key));
}

TEST_CASE("malformed results: one line that names the place") {
  struct Case {
    const char* pointer; // what is changed
    const char* value;   // to what; empty: it is removed
    const char* message; // behind "not a warplens-result/1 document: "
  };
  const Case cases[] = {
      {"/schema", R"("warplens-result/2")", "schema is \"warplens-result/2\""},
      {"/schema", R"("a\u001b[31m\nb")", "schema is \"a\\u001b[31m\\nb\""},
      {"/schema", "1", "schema is not a string"},
      {"/schema", "", "schema is missing"},
      {"/seed", "-1", "seed is not a whole number from 0 to 18446744073709551615"},
      {"/seed", "1.5", "seed is not a whole number from 0 to 18446744073709551615"},
      {"/coverage", "[]", "coverage is not an object"},
      {"/coverage/executed_accesses_probed", "\"all\"",
       "coverage.executed_accesses_probed is not a finite number"},
      {"/kernels", "{}", "kernels is not an array"},
      {"/kernels/0", "null", "kernels[0] is not an object"},
      {"/kernels/0/grid", "[1,2]", "kernels[0].grid is not an array of three sizes"},
      {"/kernels/0/block/2", "4294967296", "kernels[0].block[2] is not a whole number from 0 to 4294967295"},
      {"/kernels/0/trials/converged", "1", "kernels[0].trials.converged is not true or false"},
      {"/kernels/0/totals", "", "kernels[0].totals is missing"},
      {"/kernels/0/sites/1/id", R"("10")", "kernels[0].sites[1].id is not 16 hexadecimal digits"},
      {"/kernels/0/sites/1/id", R"("0x00000000000010")",
       "kernels[0].sites[1].id is not 16 hexadecimal digits"},
      {"/kernels/0/sites/1/id", "16", "kernels[0].sites[1].id is not a string"},
      {"/kernels/0/sites/1/kind", R"("read")",
       "kernels[0].sites[1].kind is not load, store, update or atomic"},
      {"/kernels/0/sites/1/space", R"("texture")",
       "kernels[0].sites[1].space is not global, shared, local, constant or generic"},
      {"/kernels/0/sites/3/cache_operator", R"("xx")",
       "kernels[0].sites[3].cache_operator is not a PTX cache operator"},
      {"/kernels/0/sites/3/latency_ns/mean", "", "kernels[0].sites[3].latency_ns.mean is missing"},
      {"/kernels/0/sites/3/latency_ns/ci95", "[1,2,3]",
       "kernels[0].sites[3].latency_ns.ci95 is not an array of two numbers"},
      {"/kernels/0/sites/3/latency_ns/histogram/counts", "[1]",
       "kernels[0].sites[3].latency_ns.histogram is not a histogram with one edge more than counts"},
      {"/kernels/0/sites/3/latency_ns/histogram/edges", "[3,2,1]",
       "kernels[0].sites[3].latency_ns.histogram is not a histogram with ascending edges"},
      {"/kernels/0/sites/3/depends_on/0", "{}", "kernels[0].sites[3].depends_on[0] is not a string"},
  };
  for (const Case& test : cases) {
    INFO(test.pointer << " = " << test.value);
    Json json = sample();
    const Json::json_pointer pointer(test.pointer);
    if (*test.value)
      json[pointer] = Json::parse(test.value);
    else
      json[pointer.parent_pointer()].erase(pointer.back());
    CHECK(error_of(json) == std::string("not a warplens-result/1 document: ") + test.message);
  }
  for (const char* text : {"null", "[]", "3", "\"warplens-result/1\""})
    CHECK(error_of(Json::parse(text)) == "not a warplens-result/1 document: the top level is not an object");
}

TEST_CASE("keys that this version does not know are ignored") {
  Json json = sample();
  json["kernels"][0]["timeline"] = Json::array({1, 2});
  CHECK(result_from_json(json).has_value());
}
