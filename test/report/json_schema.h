// The part of JSON Schema (draft 2020-12) in which docs/schemas/ is written, for tests that hold outputs
// against it.
#pragma once

#include "test/catch.h"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace warplens::test {

/// A schema of docs/schemas/. A keyword that it does not know is a fault, so that none is passed over.
class JsonSchema {
public:
  using Json = nlohmann::json;

  explicit JsonSchema(Json schema) : schema_(std::move(schema)) {}
  static JsonSchema of_file(const std::string& file) {
    std::ifstream text(file);
    INFO(file);
    REQUIRE(text);
    return JsonSchema(Json::parse(text));
  }

  /// Returns the first fault of a document: where, and what; nothing if it follows the schema.
  std::optional<std::string> fault_of(const Json& document) const { return fault(document, schema_, ""); }

private:
  using Fault = std::optional<std::string>;

  static bool has_type(const Json& value, const std::string& type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "boolean" ? value.is_boolean()
           : type == "integer" ? value.is_number_integer()
                               : type == "number" && value.is_number();
  }

  Fault fault(const Json& value, const Json& schema, const std::string& at) const {
    for (const auto& [keyword, argument] : schema.items())
      if (Fault found = fault_by(keyword, argument, value, schema, at))
        return found;
    return std::nullopt;
  }

  Fault fault_by(const std::string& keyword, const Json& argument, const Json& value, const Json& schema,
                 const std::string& at) const {
    static const std::set<std::string> notes{"$schema", "$defs", "title", "description"};
    const auto wrong = [&] {
      return fmt::format("{}: {} {} of {}", at, keyword, argument.dump(), value.dump());
    };
    const auto unless = [&](bool holds) { return holds ? Fault() : Fault(wrong()); };
    if (notes.contains(keyword))
      return std::nullopt;
    if (keyword == "$ref")
      return fault(value, schema_.at(Json::json_pointer(argument.get<std::string>().substr(1))), at);
    if (keyword == "type")
      return unless(has_type(value, argument));
    if (keyword == "const")
      return unless(value == argument);
    if (keyword == "enum")
      return unless(std::ranges::find(argument, value) != argument.end());
    if (keyword == "minimum" || keyword == "maximum")
      return unless(!value.is_number() || (keyword == "minimum" ? value >= argument : value <= argument));
    if (keyword == "minItems" || keyword == "maxItems")
      return unless(!value.is_array() ||
                    (keyword == "minItems" ? value.size() >= argument : value.size() <= argument));
    if (keyword == "allOf") {
      for (const Json& one : argument)
        if (Fault found = fault(value, one, at))
          return found;
      return std::nullopt;
    }
    if (keyword == "oneOf") {
      std::size_t fitting = 0;
      std::string faults;
      for (const Json& one : argument) {
        const Fault found = fault(value, one, at);
        fitting += !found;
        faults += found ? "; " + *found : "";
      }
      return fitting == 1 ? Fault() : Fault(fmt::format("{}: {} of oneOf fit{}", at, fitting, faults));
    }
    if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
        if (Fault found = fault(value[i], argument, fmt::format("{}/{}", at, i)))
          return found;
      return std::nullopt;
    }
    if (!value.is_object() &&
        (keyword == "required" || keyword == "properties" || keyword == "additionalProperties"))
      return wrong();
    if (keyword == "required") {
      for (const Json& name : argument)
        if (!value.contains(name.get<std::string>()))
          return fmt::format("{}: no {}", at, name.get<std::string>());
      return std::nullopt;
    }
    if (keyword == "properties") {
      for (const auto& [name, of_one] : argument.items())
        if (value.contains(name))
          if (Fault found = fault(value.at(name), of_one, at + "/" + name))
            return found;
      return std::nullopt;
    }
    if (keyword == "additionalProperties") {
      for (const auto& [name, one] : value.items()) {
        if (schema.value("properties", Json::object()).contains(name))
          continue;
        if (argument == false)
          return fmt::format("{}: the schema has no {}", at, name);
        if (Fault found = fault(one, argument, at + "/" + name))
          return found;
      }
      return std::nullopt;
    }
    return fmt::format("{}: the keyword {} is not known", at, keyword);
  }

  Json schema_;
};

} // namespace warplens::test
