#include "report/scan_report.h"

#include "report/versus.h"
#include "result/figure_text.h"

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
    words.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(words, " "));
}

/// Returns "t=16 is the fastest on a100", and which others are as fast or why a time is not known.
std::string sentence_of(const ScanReport& report, const judge::ScannedGpu& gpu) {
  if (!gpu.best)
    return fmt::format("no time is known on {}: {}", gpu.gpu, gpu.times.front().unknown);
  std::string text = fmt::format("{} is the fastest on {}", name_of(report, *gpu.best), gpu.gpu);
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

document::Table table_of(const ScanReport& report) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table;
  for (const auto& [name, value] : report.configurations.front())
    table.columns.push_back({name});
  for (const judge::ScannedGpu& gpu : report.gpus) {
    table.columns.push_back({gpu.gpu, interval, "us"});
    table.columns.push_back({"", number, "", people}); // "best", "2.10 ×", at the right as figures are
    table.columns.push_back({gpu.gpu + " beside the best", interval, "", programs});
  }
  for (std::size_t index = 0; index < report.configurations.size(); ++index) {
    document::Row& row = table.rows.emplace_back();
    for (const auto& [name, value] : report.configurations[index])
      row.cells.push_back(document::words(value));
    for (const judge::ScannedGpu& gpu : report.gpus) {
      const judge::ScannedTime& time = gpu.times[index];
      document::Cell mean = document::words(time_of(time)), ratio;
      if (time.unknown.empty()) {
        mean.value = time.microseconds;
        mean.interval = std::pair(time.microseconds - time.half_width, time.microseconds + time.half_width);
        if (const auto& change = time.beside_best.change)
          ratio = document::figure(1 + change->share, 1 + change->low, 1 + change->high, "");
      }
      const bool is_best = index == gpu.best;
      row.cells.push_back(std::move(mean));
      row.cells.push_back(document::words(comparison_of(gpu, index),
                                          is_best ? document::Tone::strong : document::Tone::plain));
      row.cells.push_back(std::move(ratio));
    }
  }
  return table;
}

} // namespace

document::Document scan_document(const ScanReport& report) {
  document::Section head, tail;
  for (const judge::ScannedGpu& gpu : report.gpus) {
    const std::string sentence = sentence_of(report, gpu);
    head.blocks.push_back(document::Paragraph{sentence, document::Tone::strong, document::Audience::pages});
    tail.blocks.push_back(
        document::Paragraph{sentence, document::Tone::plain, document::Audience::terminals});
  }
  head.blocks.push_back(table_of(report));
  return {report.program, {std::move(head), std::move(tail)}};
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
