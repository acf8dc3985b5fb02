#include "report/scan_report.h"

#include "report/versus.h"
#include "report/versus_text.h"
#include "result/figure_text.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the time with half of its interval: "12.3 ± 0.4 µs".
std::string time_of(const judge::ScannedTime& time) {
  return time.unknown.empty()
             ? duration(Statistic{.mean = time.microseconds, .std_deviation = time.half_width / 2})
             : "–";
}

/// Returns how the time compares with the best: "best", "same", "2.10 ± 0.05 ×".
std::string comparison_of(const judge::ScannedGpu& gpu, std::size_t configuration) {
  const judge::ScannedTime& time = gpu.times[configuration];
  if (!time.unknown.empty())
    return "not known";
  if (configuration == gpu.best)
    return "best";
  switch (time.beside_best.verdict) {
  case judge::SpeedVerdict::same: return "same";
  case judge::SpeedVerdict::cannot_say: return "cannot say";
  default: return ratio_text(*time.beside_best.change, false) + " ×";
  }
}

/// Returns "n=256 t=8".
std::string name_of(const ScanReport& report, std::size_t configuration) {
  std::vector<std::string> words;
  for (const auto& [name, value] : report.configurations[configuration])
    words.push_back(printable(name) + "=" + printable(value));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Returns "t=16 is the fastest on a100", and which others are as fast or why a time is not known.
std::string sentence_of(const ScanReport& report, const judge::ScannedGpu& gpu) {
  const std::string place = printable(gpu.gpu);
  if (!gpu.best)
    return fmt::format("no time is known on {}: {}", place, printable(gpu.times.front().unknown));
  std::string text = fmt::format("{} is the fastest on {}", name_of(report, *gpu.best), place);
  std::vector<std::string> same, open;
  for (std::size_t index = 0; index < gpu.times.size(); ++index) {
    if (index == *gpu.best || !gpu.times[index].unknown.empty())
      continue;
    if (gpu.times[index].beside_best.verdict == judge::SpeedVerdict::same)
      same.push_back(name_of(report, index));
    else if (gpu.times[index].beside_best.verdict != judge::SpeedVerdict::slower)
      open.push_back(name_of(report, index));
  }
  if (!same.empty())
    text += fmt::format("; as fast within ±{:g} %: {}", 100 * report.tolerance, fmt::join(same, ", "));
  if (!open.empty())
    text += fmt::format("; cannot say: {}", fmt::join(open, ", "));
  return text;
}

/// Returns the table's cells, the headings first.
std::vector<std::vector<std::string>> table_of(const ScanReport& report) {
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& [name, value] : report.configurations.front())
    rows[0].push_back(printable(name));
  for (const judge::ScannedGpu& gpu : report.gpus)
    rows[0].insert(rows[0].end(), {printable(gpu.gpu), ""});
  for (std::size_t index = 0; index < report.configurations.size(); ++index) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const auto& [name, value] : report.configurations[index])
      row.push_back(printable(value));
    for (const judge::ScannedGpu& gpu : report.gpus)
      row.insert(row.end(), {time_of(gpu.times[index]), comparison_of(gpu, index)});
  }
  return rows;
}

} // namespace

std::string print_scan_text(const ScanReport& report) {
  const std::vector<std::vector<std::string>> rows = table_of(report);
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], width_of(row[column]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column)
      line += (column == 0 ? "" : "  ") + pad_right(row[column], widths[column]);
    text += without_trailing_blanks(line) + "\n";
  }
  text += "\n";
  for (const judge::ScannedGpu& gpu : report.gpus)
    text += sentence_of(report, gpu) + "\n";
  return text;
}

std::string print_scan_markdown(const ScanReport& report) {
  std::string text;
  for (const judge::ScannedGpu& gpu : report.gpus)
    text += fmt::format("**{}**\n", cell(sentence_of(report, gpu)));
  text += "\n";
  const std::vector<std::vector<std::string>> rows = table_of(report);
  const std::size_t parameters = report.configurations.front().size();
  for (std::size_t index = 0; index < rows.size(); ++index) {
    text += "|";
    for (std::size_t column = 0; column < rows[index].size(); ++column) {
      const std::string word = cell(rows[index][column]);
      text += fmt::format(" {} |", word == "best" && column >= parameters ? "**best**" : word);
    }
    text += "\n";
    if (index != 0)
      continue;
    text += "|";
    for (std::size_t column = 0; column < rows[index].size(); ++column)
      text += column < parameters ? "---|" : "--:|";
    text += "\n";
  }
  return text;
}

std::string print_scan_json(const ScanReport& report) {
  Json json{{"schema", scan_schema}, {"program", report.program}, {"tolerance", report.tolerance}};
  json["configurations"] = Json::array();
  for (const auto& parameters : report.configurations) {
    Json one = Json::object();
    for (const auto& [name, value] : parameters)
      one[name] = value;
    json["configurations"].push_back(std::move(one));
  }
  json["gpus"] = Json::array();
  for (const judge::ScannedGpu& gpu : report.gpus) {
    Json times = Json::array();
    for (const judge::ScannedTime& time : gpu.times) {
      if (!time.unknown.empty()) {
        times.push_back({{"unknown", time.unknown}});
        continue;
      }
      Json one{{"microseconds", time.microseconds}, {"half_width", time.half_width}};
      one["verdict"] = text_of(time.beside_best.verdict);
      if (time.beside_best.change)
        one["beside_best"] = {{"share", time.beside_best.change->share},
                              {"low", time.beside_best.change->low},
                              {"high", time.beside_best.change->high}};
      times.push_back(std::move(one));
    }
    json["gpus"].push_back({{"gpu", gpu.gpu},
                            {"best", gpu.best ? Json(*gpu.best) : Json(nullptr)},
                            {"times", std::move(times)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace warplens::report
