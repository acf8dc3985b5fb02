// What is written from the tables of facts: lines of the schema, the types of the page and of Python, and a
// page of the documentation. With WARPLENS_UPDATE_GOLDEN set they are written; otherwise they are compared.
#include "result/facts.h"
#include "test/catch.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace warplens;

namespace {

enum class Kind { object, number, count, statistic, trials };

template <class Value> struct KindOf {
  static constexpr Kind kind = std::is_same_v<Value, Statistic>             ? Kind::statistic
                               : std::is_same_v<Value, TrialValues::Values> ? Kind::trials
                               : std::is_floating_point_v<Value>            ? Kind::number
                               : std::is_integral_v<Value>                  ? Kind::count
                                                                            : Kind::object;
  static constexpr bool is_optional = kind == Kind::trials;
};
template <class Value> struct KindOf<std::optional<Value>> {
  static constexpr Kind kind = KindOf<Value>::kind;
  static constexpr bool is_optional = true;
};

/// A row of a table, without its C++ type.
struct Field {
  std::string_view name, meaning, since;
  Unit unit;
  Kind kind;
  bool is_optional;
};

template <class Facts> std::vector<Field> fields_of(const Facts& facts) {
  std::vector<Field> fields;
  for_each_fact(facts, [&]<class Fact>(const Fact& fact) {
    using Of = KindOf<typename Fact::Value>;
    fields.push_back({fact.name, fact.meaning, fact.since, fact.unit, Of::kind, Of::is_optional});
  });
  return fields;
}

template <class Facts> std::vector<Field> figures_of(const Facts& facts) {
  std::vector<Field> fields = fields_of(facts);
  std::erase_if(fields, [](const Field& field) { return field.kind == Kind::object; });
  return fields;
}

std::string_view word_of(Unit unit) {
  switch (unit) {
  case Unit::fraction: return "fraction";
  case Unit::microseconds: return "µs";
  case Unit::nanoseconds: return "ns";
  case Unit::cycles: return "cycles";
  case Unit::bytes: return "bytes";
  case Unit::count: return "count";
  case Unit::per_request: return "per request";
  }
  return "";
}

std::string schema_type(const Field& field) {
  switch (field.kind) {
  case Kind::statistic: return R"("$ref": "#/$defs/statistic")";
  case Kind::count: return R"("$ref": "#/$defs/count")";
  default: return field.unit == Unit::fraction ? R"("$ref": "#/$defs/share")" : R"("type": "number")";
  }
}

/// Returns the properties of the figures, a line each.
template <class Facts> std::string schema_lines(const Facts& facts, std::size_t indent) {
  std::string text;
  for (const Field& field : figures_of(facts))
    text += fmt::format("{}\"{}\": {{ {}, \"description\": \"{}\" }},\n", std::string(indent, ' '),
                        field.name, schema_type(field), field.meaning);
  return text;
}

constexpr const char* head = "Written from result/facts.h by test/result/facts_test.cpp, which compares it.";

std::string_view page_type(const Field& field) {
  return field.kind == Kind::statistic ? "Statistic"
         : field.kind == Kind::trials  ? "(number | null)[]"
                                       : "number";
}

template <class Facts> std::string page_interface(const char* name, const char* what, const Facts& facts) {
  std::string text = fmt::format("\n/** {} */\nexport interface {} {{\n", what, name);
  for (const Field& field : figures_of(facts))
    text += fmt::format("  /** {}; {}. */\n  {}{}: {};\n", field.meaning, word_of(field.unit), field.name,
                        field.is_optional ? "?" : "", page_type(field));
  return text + "}\n";
}

std::string page_types() {
  return fmt::format("// {}\nimport type {{ Statistic }} from \"./statistic\";\n", head) +
         page_interface("SiteFacts", "The figures of a site.", site_facts) +
         page_interface("TotalFacts", "The figures of a kernel.", total_facts) +
         page_interface("TrialFacts", "A total's value in each trial.", trial_facts);
}

std::string python_read(const Field& field) {
  const std::string got = field.is_optional ? fmt::format("data.get(\"{}\")", field.name)
                                            : fmt::format("data[\"{}\"]", field.name);
  return field.kind == Kind::statistic ? fmt::format("Statistic.read({})", got) : got;
}

template <class Facts> std::string python_class(const char* name, const char* what, const Facts& facts) {
  std::string text = fmt::format("\n\nclass {}:\n    \"\"\"{}\"\"\"\n\n"
                                 "    def __init__(self, data: Dict[str, Any]) -> None:\n",
                                 name, what);
  for (const Field& field : figures_of(facts)) {
    const char* const type = field.kind == Kind::statistic ? "Statistic"
                             : field.kind == Kind::count   ? "int"
                                                           : "float";
    text += fmt::format("        #: {}; {}\n        self.{}: {} = {}\n", field.meaning, word_of(field.unit),
                        field.name, field.is_optional ? fmt::format("Optional[{}]", type) : type,
                        python_read(field));
  }
  return text;
}

std::string python_types() {
  return fmt::format("\"\"\"{}\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, "
                     "Optional\n\n"
                     "from .statistic import Statistic\n",
                     head) +
         python_class("SiteFacts", "The figures of an access.", site_facts) +
         python_class("TotalFacts", "The figures of a kernel.", total_facts);
}

template <class Facts> std::string table(const char* title, const Facts& facts) {
  std::string text =
      fmt::format("\n## {}\n\n| field | type | unit | since | meaning |\n|---|---|---|---|---|\n", title);
  for (const Field& field : fields_of(facts)) {
    constexpr const char* words[] = {"object", "number", "whole number", "statistic", "list of numbers"};
    text += fmt::format("| `{}` | {}{} | {} | {} | {} |\n", field.name, words[std::size_t(field.kind)],
                        field.is_optional ? "" : ", always there",
                        field.kind == Kind::object ? "–" : word_of(field.unit), field.since, field.meaning);
  }
  return text;
}

std::string documentation() {
  return "# The figures of a result\n\nWritten from `result/facts.h`; `ctest -R test_result` compares it.\n"
         "[What is a hit](what-is-a-hit.md) defines each figure; a field that was not observed is absent.\n" +
         table("An access: `kernels[].sites[]`", site_facts) +
         table("A kernel: `kernels[].totals`", total_facts) +
         table("A kernel's trials: `kernels[].trial_values`", trial_facts);
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool updates() {
  return std::getenv("WARPLENS_UPDATE_GOLDEN") != nullptr;
}

void check_file(const std::string& path, const std::string& text) {
  INFO(path);
  if (updates())
    std::ofstream(path) << text;
  CHECK(read(path) == text);
}

/// Checks the lines of the schema from the first field of the table to the last one, behind that of an
/// object.
template <class Facts>
void check_schema(std::string& schema, std::string_view object, const Facts& facts, std::size_t indent) {
  const std::string lines = schema_lines(facts, indent);
  const std::vector<Field> fields = figures_of(facts);
  const auto line_of = [&](std::string_view name, std::size_t from) {
    return schema.find(fmt::format("\n{}\"{}\": ", std::string(indent, ' '), name), from) + 1;
  };
  const std::size_t begin = line_of(fields.front().name, schema.find(object));
  const std::size_t end = schema.find('\n', line_of(fields.back().name, begin)) + 1;
  REQUIRE((begin != 0 && end > begin));
  if (updates())
    schema.replace(begin, end - begin, lines);
  else
    CHECK(schema.substr(begin, end - begin) == lines);
}

} // namespace

TEST_CASE("what is written from the tables of facts is as they are") {
  check_file(WARPLENS_DOCS "/result-figures.md", documentation());
  check_file(WARPLENS_DOCS "/../report/web/source/facts.ts", page_types());
  check_file(WARPLENS_DOCS "/../python/warplens/facts.py", python_types());
  const std::string path = WARPLENS_DOCS "/schemas/result.json";
  std::string schema = read(path);
  check_schema(schema, "\"totals\": {", total_facts, 12);
  check_schema(schema, "    \"site\": {", site_facts, 8);
  if (updates())
    std::ofstream(path) << schema;
}
