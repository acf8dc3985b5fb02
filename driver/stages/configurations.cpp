#include "driver/stages/configurations.h"

#include "support/parse_number.h"
#include "support/pattern.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace warplens::driver {

using significance::Parameters;

namespace {

constexpr std::size_t max_configurations = 100'000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string::npos)
      return parts;
    at = end + 1;
  }
}

bool is_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

/// Returns the numbers of `from:to` or `from:to:step`.
Expected<std::vector<std::string>> range_of(const std::vector<std::string>& parts, const std::string& text,
                                            const std::string& option) {
  const auto from = parse_number(parts[0]), to = parse_number(parts[1]);
  const auto step = parts.size() > 2 ? parse_number(parts[2]) : std::optional(1.0);
  if (!from || !to || !step || parts.size() > 3 || !(*step > 0) || *to < *from)
    return fail("{} {}: a range is FROM:TO or FROM:TO:STEP, ascending", option, text);
  const double count = std::floor((*to - *from) / *step * (1 + 1e-12) + 1e-9) + 1;
  if (count > static_cast<double>(max_configurations))
    return fail("{} {}: more than {} values", option, text, max_configurations);
  std::vector<std::string> values;
  for (double i = 0; i < count; ++i)
    values.push_back(fmt::format("{}", *from + i * *step));
  return values;
}

/// Calls `literal` and `name` with the parts of a text with `{name}` in it, in order.
template <class Literal, class Name> void for_each_part(const std::string& text, Literal literal, Name name) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at),
                      close = text.find('}', open == std::string::npos ? at : open);
    if (open == std::string::npos || close == std::string::npos)
      break;
    const std::string inner = text.substr(open + 1, close - open - 1);
    if (!is_name(inner)) { // braces of the program's own
      literal(text.substr(at, open + 1 - at));
      at = open + 1;
      continue;
    }
    literal(text.substr(at, open - at));
    name(inner);
    at = close + 1;
  }
  literal(text.substr(std::min(at, text.size())));
}

} // namespace

Expected<VariedParameter> parse_varied(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !is_name(text.substr(0, equals)) || equals + 1 == text.size())
    return fail("{} {}: it is NAME=FROM:TO:STEP or NAME=VALUE,VALUE", option, text);
  VariedParameter varied{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  if (const auto parts = split(values, ':'); parts.size() > 1 && values.find(',') == std::string::npos) {
    TRY_LET(range, range_of(parts, text, option));
    varied.values = std::move(*range);
  } else {
    varied.values = split(values, ',');
  }
  return varied;
}

Expected<std::vector<Parameters>> configurations_of(const std::vector<VariedParameter>& varied) {
  std::vector<Parameters> all{{}};
  for (const VariedParameter& parameter : varied) {
    if (std::ranges::count(varied, parameter.name, &VariedParameter::name) > 1)
      return fail("the parameter {} is varied twice", parameter.name);
    if (all.size() * parameter.values.size() > max_configurations)
      return fail("there are more than {} configurations", max_configurations);
    std::vector<Parameters> extended;
    for (const Parameters& before : all)
      for (const std::string& value : parameter.values) {
        extended.push_back(before);
        extended.back().emplace_back(parameter.name, value);
      }
    all = std::move(extended);
  }
  return all;
}

Expected<std::string> fill_in(const std::string& text, const Parameters& parameters,
                              const std::string& option) {
  std::string filled, unknown;
  for_each_part(
      text, [&](const std::string& literal) { filled += literal; },
      [&](const std::string& name) {
        const auto value = significance::value_of(parameters, name);
        if (!value)
          unknown = name;
        filled += value.value_or("");
      });
  if (!unknown.empty())
    return fail("'{}': there is no {} {}", text, option, unknown);
  return filled;
}

bool mentions(const std::string& text, const std::string& name) {
  bool found = false;
  for_each_part(text, [](const std::string&) {}, [&](const std::string& one) { found |= one == name; });
  return found;
}

Expected<Parameters> parameters_in(const std::string& file, const std::string& pattern) {
  std::string regex = "^";
  std::vector<std::string> names;
  for_each_part(
      pattern,
      [&](const std::string& literal) {
        for (const char c : literal) {
          if (std::string_view("^$\\.*+?()[]{}|/").find(c) != std::string_view::npos)
            regex += '\\';
          regex += c;
        }
      },
      [&](const std::string& name) {
        names.push_back(name);
        regex += "(.+?)";
      });
  const auto compiled = Pattern::compile(regex + "$");
  const std::string name = std::filesystem::path(file).filename().string();
  constexpr std::size_t max_name = 255; // of file systems
  const auto groups = compiled && name.size() <= max_name ? compiled->first_match(name) : std::nullopt;
  if (!groups)
    return fail("{}: its name is not like --key '{}'", file, pattern);
  Parameters parameters;
  for (std::size_t i = 0; i < names.size(); ++i)
    parameters.emplace_back(names[i], (*groups)[i + 1]);
  return parameters;
}

} // namespace warplens::driver
