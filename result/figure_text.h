// Figures as short text, for sentences and narrow columns. An unobserved figure is "-".
#pragma once

#include "result/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace warplens {

/// Prints 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// Prints 12345, 1.23M, 45.6G: at most 5 characters.
std::string short_count(double value);

/// Prints a fraction in percent, one decimal, at most 5 characters: "43.1".
std::string percent(double fraction);

/// Prints a share in percent, at most 3 characters: "100", "45", "4.5".
std::string share(const std::optional<double>& fraction);

/// Prints the mean and, if it is not negligible, 2 standard deviations over trials, at most 8 characters.
std::string rate(const std::optional<Statistic>& fraction);       ///< percent: "43.1", "43.1±0.6", "55±12"
std::string nanoseconds(const std::optional<Statistic>& latency); ///< "612", "1205±60"
std::string cycles(const std::optional<Statistic>& count);        ///< "0", "512±16"

/// Returns the part of the deviation over trials that stems from the unknown order.
double std_of_order(const Statistic& statistic);

/// Prints a time with 2 standard deviations over trials, if they show in three digits of the mean:
/// "123 ± 4 µs", "1.07 ms".
std::string duration(const Statistic& microseconds);

/// Prints two significant decimals below 10, one below 100: "3.25", "31.5", "128".
std::string ratio(const std::optional<double>& value);

/// Prints decimal units: "12.3 MB".
std::string bytes(double value);

} // namespace warplens
