// A figure over trials as fields of CSV.
#pragma once

#include "document/csv_row.h"
#include "result/result.h"

namespace warplens::report {

/// Adds a mean and its deviation over trials; both fields are empty where there is no statistic.
inline document::CsvRow& add_statistic(document::CsvRow& row, const Statistic* statistic) {
  const auto figure = [&](double Statistic::* member) {
    return statistic != nullptr ? std::optional(statistic->*member) : std::nullopt;
  };
  return row.add(figure(&Statistic::mean)).add(figure(&Statistic::std_deviation));
}

} // namespace warplens::report
