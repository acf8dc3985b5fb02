#include "report/corun_report.h"

#include "judge/corun.h"
#include "result/names.h"
#include "result/resources.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view repeated_part_key =
    "repeats a part of its launch, which the L2 holds: it hits there more often than further blocks would "
    "(--snapshot-blocks takes more)";

/// Returns a cell with the mean and its interval; `text` is what people read.
document::Cell cell_of(const Statistic& of, std::string text) {
  return document::figure(of.mean, of.ci95[0], of.ci95[1], std::move(text));
}

document::Table slow_downs(const CorunResult& result) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"slow-down", words, "", people},
                         {"kernel", name},
                         {"slow-down", interval, "", programs},
                         {"alone", interval, "us", programs},
                         {"beside", interval, "us", programs},
                         {"launches", number, "", programs},
                         {"SMs", number, "", programs},
                         {"times", words, "", people},
                         {"its part", words, "", people}}};
  table.has_headings = false;
  for (const CorunKernelResult& kernel : result.kernels)
    table.rows.push_back(
        {{document::words(fmt::format("{:.2f} × ({:.2f} to {:.2f})", kernel.slow_down.mean,
                                      kernel.slow_down.ci95[0], kernel.slow_down.ci95[1])),
          document::words(kernel.name), cell_of(kernel.slow_down, ""), cell_of(kernel.alone_us, ""),
          cell_of(kernel.beside_us, ""), document::figure(kernel.laps, ""), document::figure(kernel.sms, ""),
          document::words(
              fmt::format("{:.4g} µs alone, {:.4g} beside", kernel.alone_us.mean, kernel.beside_us.mean)),
          document::words(judge::place_in_division(kernel, result.division))}});
  return table;
}

std::vector<document::Column> columns_of_arrangements(const CorunResult& result) {
  using enum document::Kind;
  using enum document::Audience;
  std::vector<document::Column> columns{{"gain", interval, "fraction"}};
  if (result.watts)
    columns.push_back({"power", interval, "W"});
  columns.push_back({"slow-downs", words, "", people});
  columns.push_back({"arrangement"});
  columns.push_back({"their parts", words, "", people});
  for (std::size_t kernel = 0; kernel < result.kernels.size(); ++kernel)
    columns.push_back({fmt::format("slow-down {}", kernel + 1), interval, "", programs});
  return columns;
}

document::Row row_of_arrangement(const std::string& name, const CorunResult& result) {
  std::vector<std::string> slow_downs, places;
  for (const CorunKernelResult& kernel : result.kernels) {
    slow_downs.push_back(fmt::format("{:.2f} ×", kernel.slow_down.mean));
    if (std::string place = judge::place_in_division(kernel, result.division); !place.empty())
      places.push_back(std::move(place));
  }
  const Statistic& gain = result.speed_up;
  document::Row row{{document::figure(gain.mean - 1, gain.ci95[0] - 1, gain.ci95[1] - 1,
                                      fmt::format("{:+.1f} %", 100 * (gain.mean - 1)))}};
  if (result.watts)
    row.cells.push_back(document::figure(result.watts->mean, result.watts->ci95[0], result.watts->ci95[1],
                                         fmt::format("{:.0f} W", result.watts->mean)));
  row.cells.push_back(document::words(fmt::format("{}", fmt::join(slow_downs, ", "))));
  row.cells.push_back(document::words(name));
  row.cells.push_back(document::words(fmt::format("{}", fmt::join(places, ", "))));
  for (const CorunKernelResult& kernel : result.kernels)
    row.cells.push_back(cell_of(kernel.slow_down, ""));
  return row;
}

Json statistic(const Statistic& of) {
  return {{"mean", of.mean}, {"std", of.std_deviation}, {"ci95", {of.ci95[0], of.ci95[1]}}};
}

Json shares(const ByResource& busy) {
  Json json = Json::object();
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    if (busy[resource] != 0)
      json[std::string(name_of(Resource(resource)))] = busy[resource];
  return json;
}

Json what_if_json(const CorunWhatIf& what_if) {
  return {{"kernels_in_turn", what_if.kernels_in_turn},
          {"own_queues", what_if.own_queues},
          {"front_end", what_if.front_end}};
}

Json begin_json(const std::string& gpu, double sm_clock_mhz, const char* method) {
  return {{"schema", "warplens-corun/1"}, {"gpu", gpu}, {"sm_clock_mhz", sm_clock_mhz}, {"method", method}};
}

/// Adds how a result's kernels divide the GPU.
void put_arrangement(const CorunResult& result, Json& json) {
  json["division"] = name_of(result.division);
  if (result.policy)
    json["policy"] = name_of(*result.policy);
  if (result.what_if.is_any())
    json["what_if"] = what_if_json(result.what_if);
}

Json to_json(const MeanWatts& watts) {
  return {{"mean", watts.mean}, {"ci95", watts.ci95}};
}

Json timeline_json(const CorunTimeline& timeline) {
  Json json = {
      {"cycles", timeline.cycles}, {"ns_per_cycle", timeline.ns_per_cycle}, {"edges", timeline.edges}};
  Json& kernels = json["kernels"] = Json::array();
  for (const CorunTimeline::Kernel& kernel : timeline.kernels)
    kernels.push_back(
        {{"requests", kernel.requests}, {"l1_hits", kernel.l1_hits}, {"l1_all", kernel.l1_all}});
  json["l2_hits"] = timeline.l2_hits;
  json["l2_all"] = timeline.l2_all;
  json["dram_lines"] = timeline.dram_lines;
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace

Json partition_json(const PartitionChoice& choice) {
  return {{"partitions", choice.partitions},
          {"blocks", choice.blocks},
          {"gain", choice.gain},
          {"gain_of_even", choice.gain_of_even},
          {"busy_lanes", choice.busy_lanes},
          {"first_turns", choice.first_turns}};
}

document::Document corun_document(const CorunResult& result) {
  document::Section section{fmt::format("{} kernels beside each other on {}, {}{}", result.kernels.size(),
                                        result.gpu, judge::division_in_words(result),
                                        result.policy ? fmt::format(" ({})", name_of(*result.policy)) : "")};
  const auto say = [&](std::string words) {
    section.blocks.push_back(document::Paragraph{std::move(words)});
  };
  if (result.what_if.is_any())
    say("on a machine that does not exist: " + judge::what_if_in_words(result.what_if));
  section.blocks.push_back(slow_downs(result));
  if (!result.estimated_by.empty()) {
    std::vector<std::string> estimates;
    for (const CorunKernelResult& kernel : result.kernels)
      estimates.push_back(kernel.estimate ? fmt::format("{:.2f} × ({:+.0f} %)", *kernel.estimate,
                                                        100 * (*kernel.estimate / kernel.slow_down.mean - 1))
                                          : "-");
    say(fmt::format("from what each does alone ({}): {}", result.estimated_by, fmt::join(estimates, ", ")));
  }
  std::vector<std::string> laps;
  for (const CorunKernelResult& kernel : result.kernels)
    laps.push_back(fmt::format("{:.2f}", kernel.laps));
  say(fmt::format("{:+.1f} % over one after the other, for the work until each had ended: {} launches",
                  100 * (result.speed_up.mean - 1), fmt::join(laps, " and ")));
  if (result.search)
    say(judge::partition_in_words(*result.search));
  if (std::string watts = judge::watts_in_words(result); !watts.empty())
    say(std::move(watts));
  for (const CorunKernelResult& kernel : result.kernels)
    if (kernel.repeats_part)
      say(judge::name_of_kernel(kernel) + " " + std::string(repeated_part_key));
  for (const std::string& what : judge::contention_of(result))
    say("they fight for " + what);
  return {"Kernels beside each other", {std::move(section)}};
}

std::string print_corun_json(const CorunResult& result) {
  Json json = begin_json(result.gpu, result.sm_clock_mhz, "trial");
  if (result.what_if.is_any())
    json["validated"] = false;
  put_arrangement(result, json);
  json["trials"] = result.trials;
  json["over_sequential"] = statistic(result.over_sequential);
  json["speed_up"] = statistic(result.speed_up);
  if (!result.estimated_by.empty())
    json["estimated_by"] = result.estimated_by;
  if (result.search)
    json["search"] = partition_json(*result.search);
  if (result.watts)
    json["watts"] = to_json(*result.watts);
  if (result.watts_sequential)
    json["watts_one_after_other"] = to_json(*result.watts_sequential);
  json["busy"] = shares(result.busy);
  Json& kernels = json["kernels"] = Json::array();
  for (const CorunKernelResult& kernel : result.kernels) {
    Json one = {{"name", kernel.name}, {"blocks", kernel.blocks}, {"sms", kernel.sms}};
    if (kernel.max_per_sm != 0)
      one["max_per_sm"] = kernel.max_per_sm;
    if (kernel.slices != 0)
      one["slices"] = kernel.slices;
    one["slow_down"] = statistic(kernel.slow_down);
    const auto put = [&](const char* key, const std::optional<double>& value) {
      if (value)
        one[key] = *value;
    };
    put("estimate", kernel.estimate);
    one["alone_us"] = statistic(kernel.alone_us);
    one["beside_us"] = statistic(kernel.beside_us);
    one["waits_us"] = kernel.waits_us;
    one["laps"] = kernel.laps;
    if (kernel.repeats_part)
      one["repeats_part"] = true;
    put("l1_hit_rate_alone", kernel.l1_alone);
    put("l1_hit_rate", kernel.l1_beside);
    put("l2_hit_rate_alone", kernel.l2_alone);
    put("l2_hit_rate", kernel.l2_beside);
    if (kernel.watts_alone)
      one["watts_alone"] = to_json(*kernel.watts_alone);
    one["busy_alone"] = shares(kernel.busy_alone);
    kernels.push_back(std::move(one));
  }
  json["contention"] = judge::contention_of(result);
  if (result.timeline)
    json["timeline"] = timeline_json(*result.timeline);
  return dumped(json);
}

document::Document arrangements_document(std::span<const NamedArrangement> arrangements) {
  document::Section section;
  std::vector<document::Block> last;
  std::set<std::string> repeating;
  document::Table table;
  for (const NamedArrangement& one : arrangements) {
    if (!one.result) {
      last.push_back(document::Paragraph{fmt::format("{}: {}", one.name, one.result.error().message)});
      continue;
    }
    const CorunResult& result = *one.result;
    if (section.heading.empty()) {
      section.heading = fmt::format("{} kernels beside each other on {}: the gain over one after the other",
                                    result.kernels.size(), result.gpu);
      for (const CorunKernelResult& kernel : result.kernels)
        section.blocks.push_back(document::Paragraph{judge::name_of_kernel(kernel)});
      table.columns = columns_of_arrangements(result);
    }
    table.rows.push_back(row_of_arrangement(one.name, result));
    for (const CorunKernelResult& kernel : result.kernels)
      if (kernel.repeats_part)
        repeating.insert(judge::name_of_kernel(kernel));
  }
  section.blocks.push_back(std::move(table));
  std::ranges::move(last, std::back_inserter(section.blocks));
  for (const std::string& kernel : repeating)
    section.blocks.push_back(document::Paragraph{kernel + " " + std::string(repeated_part_key)});
  return {"Arrangements of kernels", {std::move(section)}};
}

std::string print_arrangements_json(std::span<const NamedArrangement> arrangements) {
  Json json;
  Json list = Json::array();
  for (const NamedArrangement& one : arrangements) {
    if (!one.result) {
      list.push_back({{"name", one.name}, {"impossible", one.result.error().message}});
      continue;
    }
    const CorunResult& result = *one.result;
    if (json.empty()) {
      json = begin_json(result.gpu, result.sm_clock_mhz, "arrangements");
      json["validated"] = false; // most of them are on no GPU
      json["trials"] = result.trials;
      Json& names = json["kernels"] = Json::array();
      for (const CorunKernelResult& kernel : result.kernels)
        names.push_back({{"name", kernel.name}});
    }
    Json arrangement = {{"name", one.name}};
    put_arrangement(result, arrangement);
    arrangement["speed_up"] = statistic(result.speed_up);
    arrangement["over_sequential"] = statistic(result.over_sequential);
    if (result.watts)
      arrangement["watts"] = to_json(*result.watts);
    Json& kernels = arrangement["kernels"] = Json::array();
    for (const CorunKernelResult& kernel : result.kernels) {
      Json kernel_json = {
          {"sms", kernel.sms}, {"slow_down", statistic(kernel.slow_down)}, {"laps", kernel.laps}};
      if (kernel.repeats_part)
        kernel_json["repeats_part"] = true;
      if (kernel.max_per_sm != 0)
        kernel_json["max_per_sm"] = kernel.max_per_sm;
      if (kernel.estimate)
        kernel_json["estimate"] = *kernel.estimate;
      kernels.push_back(std::move(kernel_json));
    }
    list.push_back(std::move(arrangement));
  }
  json["arrangements"] = std::move(list);
  return dumped(json);
}

} // namespace warplens::report
