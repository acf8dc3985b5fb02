// A row of a table in CSV, RFC 4180: rows end with CR LF, fields with commas, quotes or line ends are quoted.
#pragma once

#include "result/result.h"

#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::report {

class CsvRow {
public:
  CsvRow& add(std::string_view text) {
    if (!line_.empty() || started_)
      line_ += ',';
    started_ = true;
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += text;
      return *this;
    }
    line_ += '"';
    for (char character : text) {
      if (character == '"')
        line_ += '"';
      line_ += character;
    }
    line_ += '"';
    return *this;
  }

  CsvRow& add(std::uint64_t value) { return add(fmt::format("{}", value)); }

  CsvRow& add(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? add(fmt::format("{}", *value)) : add("");
  }

  /// Adds a mean and its deviation over trials.
  CsvRow& add(const Statistic* statistic) {
    const auto figure = [&](double Statistic::* member) {
      return statistic ? std::optional(statistic->*member) : std::nullopt;
    };
    return add(figure(&Statistic::mean)).add(figure(&Statistic::std_deviation));
  }

  std::string end() const { return line_ + "\r\n"; }

private:
  std::string line_;
  bool started_ = false;
};

} // namespace warplens::report
