#include "report/brief.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>

using namespace warplens;
using Json = nlohmann::json;

namespace {

Json brief_json(const Result& result, const std::vector<report::Suggestion>& suggestions = {}) {
  return Json::parse(report::print_brief_json(result, suggestions));
}

} // namespace

TEST_CASE("brief: the time with its interval, what limits it, the costliest lines") {
  const Json json = brief_json(test::sample_time());
  CHECK(json["schema"] == "warplens-brief/1");
  const Json& kernel = json["kernels"][0];
  CHECK(kernel["kernel"] == "spmv(int const*, int const*, float const*, float const*, float*)");
  CHECK(kernel["microseconds"] ==
        Json{{"mean", 123.4}, {"low", 119.4}, {"high", 127.4}, {"extrapolated", true}});
  CHECK(kernel["limiter"] == "dram");
  CHECK(kernel["busy"] == 0.84);
  CHECK(kernel["headroom"] == 0.16);
  REQUIRE(kernel["lines"].size() == 2); // the third line has less than 1 % of the time
  CHECK(kernel["lines"][0] == Json{{"at", "spmv.cu:13"},
                                   {"expression", "val[j]"},
                                   {"share", 0.9},
                                   {"stall", "long_scoreboard"},
                                   {"stall_share", 0.7}});
  CHECK(kernel["lines"][1]["stall"] == "barrier");
  CHECK(json["accuracy"][0]["measured_on"] == "v100");
  CHECK(json["accuracy"][0]["time_error"] == Json{{"mean", 0.14}, {"worst", 0.41}});
}

TEST_CASE("brief: a figure that is not known is null, with the reason") {
  Result result = test::sample_result();
  result.kernels[0].accuracy.reset();
  const Json json = brief_json(result);
  const Json& kernel = json["kernels"][0];
  for (const char* name : {"microseconds", "limiter", "busy", "headroom"}) {
    CHECK(kernel[name].is_null());
    CHECK(kernel["reasons"].contains(name));
  }
  CHECK(kernel["lines"][0]["stall"].is_null());
  CHECK(kernel["reasons"]["stall"] == "the trials had no clock (--schedule paper)");
  CHECK(kernel["findings"][0]["gain"].is_null());
  CHECK(json["reasons"].contains("gain"));
  CHECK(json["accuracy"][0]["measured_on"].is_null());
  CHECK(json["reasons"].contains("measured_on"));

  const Json none = brief_json(Result{});
  CHECK(none["kernels"].empty());
  CHECK(report::print_brief_text(Result{}, {}).starts_with("No kernel was traced.\n"));
}

TEST_CASE("brief: where the launch itself takes most of the time, nothing binds") {
  Result result = test::sample_time();
  result.kernels[0].time->launch_us = 100;
  const Json kernel = brief_json(result)["kernels"][0];
  CHECK(kernel["limiter"] == "launch");
  CHECK(kernel["headroom"].is_null());
  CHECK(kernel["reasons"].contains("headroom"));
}

TEST_CASE("brief: findings on the kernel and on its lines stand in the order of what they cost") {
  Result result = test::sample_time();
  KernelResult& kernel = result.kernels[0];
  kernel.time->launch_us = 0.36 * kernel.time->microseconds.mean;
  kernel.sites[3].site.space = Space::shared;
  kernel.sites[3].bank_conflicts = 31;
  const Json findings = brief_json(result)["kernels"][0]["findings"];
  const auto place_of = [&](const std::string& text) {
    for (std::size_t index = 0; index < findings.size(); ++index)
      if (findings[index]["text"].get<std::string>().find(text) != std::string::npos)
        return index;
    return findings.size();
  };
  CHECK(place_of("bank conflicts: 31.0 extra passes") == 0);
  CHECK(place_of("launch overhead") > 0);
  CHECK(place_of("launch overhead") < findings.size());
}

TEST_CASE("brief: changes that were found to pay come first, with their gain") {
  const Json advice = {{"schema", "warplens-advice/1"},
                       {"kernels",
                        {{{"kernel", test::sample_time().kernels[0].name},
                          {"gpu", "Tesla C2050"},
                          {"suggestions",
                           {{{"file", "a/spmv.cu"},
                             {"line", 2},
                             {"edit", "read y by __ldg"},
                             {"share", -0.1},
                             {"half_width", 0.01}},
                            {{"file", "spmv.cu"},
                             {"line", 5},
                             {"edit", "pad tile"},
                             {"share", -0.25},
                             {"half_width", 0.02}}}}}}}};
  const auto suggestions = report::suggestions_from_json(advice);
  REQUIRE(suggestions.has_value());
  const Json findings = brief_json(test::sample_time(), *suggestions)["kernels"][0]["findings"];
  CHECK(findings[0] ==
        Json{{"at", "spmv.cu:5"}, {"text", "pad tile"}, {"gain", {{"share", -0.25}, {"half_width", 0.02}}}});
  CHECK(findings[1]["at"] == "spmv.cu:2");
  CHECK(findings[2]["gain"].is_null());
  CHECK(report::print_brief_text(test::sample_time(), *suggestions)
            .find("findings   spmv.cu:5  -25 ± 2 % of the time: pad tile\n") != std::string::npos);

  Json wrong = advice;
  wrong["kernels"][0]["suggestions"][0]["share"] = "much";
  CHECK(report::suggestions_from_json(wrong).error().message ==
        "not a warplens-advice/1 document: kernels[0].suggestions[0].share is not a finite number");
  CHECK(report::suggestions_from_json(Json::object()).error().message.ends_with("schema is missing"));
}

TEST_CASE("brief: many kernels and long texts fit, the costliest kernel keeps its lines") {
  Result result = test::sample_time();
  KernelResult kernel = result.kernels[0];
  for (SiteResult& site : kernel.sites)
    site.site.expression = std::string(1000, '"') + "\x1b\xff\n";
  for (int index = 0; index < 100; ++index) {
    kernel.name = std::string(500, '\\') + std::to_string(index);
    kernel.code_unknown = std::string(1000, 'x') + std::to_string(index);
    kernel.time->microseconds.mean = index;
    result.kernels.push_back(kernel);
  }
  const std::string json = report::print_brief_json(result, {});
  CHECK(json.size() <= report::max_brief_bytes);
  const Json parsed = Json::parse(json);
  CHECK(parsed["kernels"][0]["kernel"] == result.kernels[0].name);
  CHECK(parsed["kernels"][0]["lines"].size() == 2);
  CHECK(parsed["left_out"]["kernels"] == 101 - parsed["kernels"].size());

  const std::string text = report::print_brief_text(result, {});
  CHECK(text.size() <= report::max_brief_bytes);
  CHECK(text.starts_with(result.kernels[0].name + " on Tesla C2050\n"));
}

TEST_CASE("brief: shortening ends with what always fits") {
  const Result result = test::sample_time();
  report::Brief brief = report::brief_of(result, {});
  std::size_t steps = 0;
  while (shorten(brief))
    ++steps;
  CHECK(steps > 0);
  REQUIRE(brief.kernels.size() == 1);
  CHECK(brief.kernels[0].lines.empty());
  CHECK(brief.kernels[0].findings.empty());
}
