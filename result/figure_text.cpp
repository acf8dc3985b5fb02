#include "result/figure_text.h"

#include "support/terminal_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace warplens {
namespace {

const std::string absent = "-";

/// Prints a mean and its uncertainty with the same number of decimals. An uncertainty that rounds to nothing
/// is left out.
std::string with_uncertainty(double mean, double uncertainty, int decimals, double negligible) {
  if (!std::isfinite(mean))
    return absent;
  if (!(uncertainty >= negligible))
    return fmt::format("{:.{}f}", mean, decimals);
  return fmt::format("{:.{}f}±{:.{}f}", mean, decimals, uncertainty, decimals);
}

} // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t position = text.size(); position > 3; position -= 3)
    text.insert(position - 3, 1, ',');
  return text;
}

std::string short_count(double value) {
  if (!std::isfinite(value) || value < 0)
    return absent;
  if (value < 99999.5)
    return fmt::format("{:.0f}", value);
  constexpr std::array<char, 6> prefixes = {'k', 'M', 'G', 'T', 'P', 'E'};
  std::size_t index = 0;
  value /= 1000;
  while (value >= 999.5 && index + 1 < prefixes.size()) {
    value /= 1000;
    ++index;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, prefixes[index]);
}

std::string percent(double fraction) {
  return with_uncertainty(100 * fraction, 0, 1, 1);
}

std::string share(const std::optional<double>& fraction) {
  if (!fraction || !std::isfinite(*fraction))
    return absent;
  const double value = std::clamp(100 * *fraction, 0.0, 100.0);
  return fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0);
}

std::string rate(const std::optional<Statistic>& fraction) {
  if (!fraction)
    return absent;
  const double mean = std::clamp(100 * fraction->mean, 0.0, 100.0),
               uncertainty = 200 * fraction->std_deviation;
  const bool coarse = uncertainty >= 9.95;
  // The value is below 100 % by less than can be shown with an uncertainty beside it: "100±1".
  const int decimals = coarse || (mean >= 99.95 && uncertainty >= 0.5) ? 0 : 1;
  return with_uncertainty(mean, uncertainty, decimals, 0.5);
}

namespace {

/// Prints a latency or a wait in at most 8 characters.
std::string with_spread(const std::optional<Statistic>& amount) {
  if (!amount || !std::isfinite(amount->mean))
    return absent;
  const double mean = amount->mean, uncertainty = 2 * amount->std_deviation;
  const int decimals = mean < 9.95 ? 1 : 0;
  // An uncertainty of half a percent of the mean is not worth showing.
  const std::string text =
      with_uncertainty(mean, uncertainty, decimals, std::max(0.005 * mean, decimals ? 0.1 : 1.0));
  if (width_of(text) <= 8)
    return text;
  const std::string mean_text = short_count(mean), uncertainty_text = short_count(uncertainty);
  const bool room = mean_text.size() + uncertainty_text.size() <= 7;
  return uncertainty > 0 && room ? mean_text + "±" + uncertainty_text : mean_text;
}

} // namespace

std::string nanoseconds(const std::optional<Statistic>& latency) {
  // Nothing waits for stores, nor for atomics whose result nothing uses.
  return latency && latency->mean == 0 ? absent : with_spread(latency);
}

std::string cycles(const std::optional<Statistic>& count) {
  return count && count->mean == 0 ? "0" : with_spread(count);
}

double std_of_order(const Statistic& statistic) {
  const double all = statistic.std_deviation, machine_deviation = statistic.machine_deviation.value_or(0);
  return std::sqrt(std::max(0.0, all * all - machine_deviation * machine_deviation));
}

std::string duration(const Statistic& microseconds) {
  if (!std::isfinite(microseconds.mean))
    return absent;
  constexpr std::array<const char*, 3> units = {"µs", "ms", "s"};
  double mean = microseconds.mean, uncertainty = 2 * microseconds.std_deviation;
  std::size_t unit = 0;
  for (; mean >= 999.5 && unit + 1 < units.size(); ++unit) {
    mean /= 1000;
    uncertainty /= 1000;
  }
  const int decimals = mean < 9.995 ? 2 : mean < 99.95 ? 1 : 0;
  const bool shows = uncertainty >= 0.5 * std::pow(10, -decimals);
  return shows ? fmt::format("{:.{}f} ± {:.{}f} {}", mean, decimals, uncertainty, decimals, units[unit])
               : fmt::format("{:.{}f} {}", mean, decimals, units[unit]);
}

std::string ratio(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value))
    return absent;
  return fmt::format("{:.{}f}", *value, *value < 9.995 ? 2 : *value < 99.95 ? 1 : 0);
}

std::string bytes(double value) {
  if (!std::isfinite(value))
    return absent;
  constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t index = 0;
  while (value >= 999.95 && index + 1 < units.size()) {
    value /= 1000;
    ++index;
  }
  return fmt::format("{:.{}f} {}", value, index ? 1 : 0, units[index]);
}

} // namespace warplens
