// Tests results from anywhere: every text that reads as one can be printed in every format.
#include "document/print.h"
#include "report/brief.h"
#include "report/print_difference.h"
#include "report/report.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <nlohmann/json.hpp>
#include <random>

using namespace warplens;
using Json = nlohmann::json;

namespace {

/// Collects every value in a document, the document itself included.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (json.is_structured())
    for (Json& item : json)
      collect(item, values);
}

void mutate(Json& json, std::mt19937& random) {
  static const Json odd[] = {0,
                             1,
                             -1,
                             0.5,
                             1e300,
                             -1e300,
                             4294967295u,
                             18446744073709551615u,
                             "",
                             "\xff</script>\x1b",
                             std::string(300, 'x'),
                             nullptr,
                             true,
                             Json::array(),
                             Json::object()};
  std::vector<Json*> values;
  collect(json, values);
  Json& victim = *values[random() % values.size()];
  Json::size_type size = victim.size();
  switch (random() % 4) {
  case 0:
    if (victim.is_array() && size != 0)
      return victim.erase(random() % size);
    [[fallthrough]];
  case 1:
    if (victim.is_array() && size != 0)
      return victim.push_back(Json(victim[random() % size]));
    [[fallthrough]];
  default:
    if (victim.is_structured() && random() % 4 != 0)
      return; // too much at once to be read as a result again
    victim = odd[random() % std::size(odd)];
  }
}

} // namespace

TEST_CASE("a mutated result is refused, or printed in every format") {
  const Json originals[] = {Json::parse(to_json(test::sample_page_result()).dump()),
                            Json::parse(to_json(test::sample_code()).dump())};
  const Result plain = test::sample_page_result();
  std::mt19937 random(20);
  std::size_t read = 0;
  for (int round = 0; round < 3000; ++round) {
    Json json = originals[round % 2];
    for (std::size_t count = 1 + random() % 3; count > 0; --count)
      mutate(json, random);
    const auto result = result_from_json(json);
    if (!result)
      continue;
    ++read;
    report::TextOptions options;
    options.sort = round % 3 ? *report::column_named("latency") : nullptr;
    CHECK_FALSE(report::print_text(*result, options).empty());
    CHECK_FALSE(report::print_csv(*result).empty());
    CHECK_FALSE(report::print_sass(*result, options).empty());
    CHECK_FALSE(report::print_sass_csv(*result, round % 3 != 0).empty());
    CHECK(Json::accept(report::print_json(*result)));
    CHECK(Json::accept(report::print_sarif(*result, {0, "1", {}})));
    const std::string brief = report::print_brief_json(*result, {});
    CHECK(Json::accept(brief));
    CHECK(brief.size() <= report::max_brief_bytes);
    CHECK(report::print_brief_text(*result, {}).size() <= report::max_brief_bytes);
    if (const auto trace = report::print_perfetto(*result))
      CHECK(Json::accept(*trace));
    CHECK_FALSE(report::print_annotated_diff(*result, {}).has_value()); // there is no such source here
    CHECK(report::print_page({{"a", &*result}}, {"<!-- warplens-data -->", "1", {}}).has_value());
    const judge::Difference difference = judge::compare(plain, *result, {});
    const std::vector<judge::Failure> none;
    const judge::SpeedComparison speed = compare_speed(plain, *result, difference, 0.01);
    const report::DifferenceReport report = {"a", "b", &difference, &speed, &none};
    CHECK_FALSE(print_text(difference_document(report), {}).empty());
    CHECK(Json::accept(print_difference_json(report)));
  }
  CHECK(read > 500);
}
