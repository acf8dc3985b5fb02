#include "report/camp_report.h"

#include "judge/corun.h"
#include "report/corun_report.h"
#include "support/display_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t printed_pairs = 40;
constexpr const char* rest_of_sms = "L1s, shared memory and the ports of SMs"; ///< which no estimate has

std::string watts_of(const MeanWatts& watts) {
  return fmt::format("{:.0f} W ({:.0f} to {:.0f})", watts.mean, watts.ci95[0], watts.ci95[1]);
}

std::string both(std::span<const KernelResult> kernels, std::size_t first, std::size_t second) {
  return fmt::format("{} + {}", display_name(kernels[first].name), display_name(kernels[second].name));
}

document::Table table_of_pairs(std::span<const KernelResult> kernels,
                               std::span<const judge::SharedL2> pairs) {
  using enum document::Kind;
  using enum document::Audience;
  document::Table table{{{"slow-downs", words, "", people},
                         {"by the L2, and its ways of each", words, "", people},
                         {"on one SM", words, "", people},
                         {"kernels", words, "", people},
                         {"first", name, "", programs},
                         {"second", name, "", programs}}};
  for (const char* const of : {"first", "second"})
    for (const char* const figure :
         {"slow-down", "slow-down by the L2", "ways of the L2", "slow-down on one SM"})
      table.columns.push_back({fmt::format("{} of the {}", figure, of), number, "", programs});
  for (const judge::SharedL2& pair : pairs) {
    const bool is_shown = table.rows.size() < printed_pairs;
    document::Row& row = table.rows.emplace_back();
    row.audience = is_shown ? all : programs;
    row.cells = {
        document::words(fmt::format("{:.2f} × {:.2f}", pair.slow_down[0], pair.slow_down[1])),
        document::words(fmt::format("{:.2f} × {:.2f}, {:>4.1f} and {:>4.1f}{}", pair.camp[0].slow_down,
                                    pair.camp[1].slow_down, pair.camp[0].ways, pair.camp[1].ways,
                                    pair.equilibria > 1 ? fmt::format(" of {}", pair.equilibria) : "")),
        document::words(fmt::format("{:.2f} × {:.2f}", pair.same_sm[0], pair.same_sm[1])),
        document::words(both(kernels, pair.kernels[0], pair.kernels[1])),
        document::words(kernels[pair.kernels[0]].name),
        document::words(kernels[pair.kernels[1]].name)};
    for (const std::size_t one : {0, 1})
      for (const double value :
           {pair.slow_down[one], pair.camp[one].slow_down, pair.camp[one].ways, pair.same_sm[one]})
        row.cells.push_back(document::figure(value, ""));
  }
  return table;
}

document::Table table_of_best_pairs(std::span<const KernelResult> kernels,
                                    std::span<const judge::SharedL2> pairs) {
  document::Table table{{{"best pairs"}}};
  table.caption = "best pairs, by the slow-downs in sum:";
  table.has_headings = false;
  table.audience = document::Audience::people;
  for (const auto& [first, second] : judge::best_pairs(pairs, kernels.size()))
    table.rows.push_back({{document::words(both(kernels, first, second))}});
  return table;
}

document::Table table_of_all(std::span<const KernelResult> kernels, const judge::SharedByAll& together) {
  using enum document::Kind;
  const document::Audience all = document::Audience::all;
  document::Table table{{{"slow-down", number},
                         {"slow-down by the L2", number, "", all, " by the L2,"},
                         {"ways of the L2", number, "", all, " ways"},
                         {"kernel", name}}};
  table.has_headings = false;
  table.caption = fmt::format("all {} at once, by the L2 and memory{}:", kernels.size(),
                              together.watts ? ", " + watts_of(*together.watts) : "");
  for (std::size_t k = 0; k < kernels.size(); ++k)
    table.rows.push_back(
        {{document::figure(together.slow_down[k], fmt::format("{:.2f} ×", together.slow_down[k])),
          document::figure(together.camp[k].slow_down, fmt::format("{:.2f} ×", together.camp[k].slow_down)),
          document::figure(together.camp[k].ways, fmt::format("{:.1f}", together.camp[k].ways)),
          document::words(kernels[k].name)}});
  return table;
}

Json to_json(const std::array<judge::SharedL2::Estimate, 2>& estimates) {
  Json json = Json::array();
  for (const judge::SharedL2::Estimate& one : estimates)
    json.push_back({{"ways", one.ways}, {"misses", one.misses}, {"slow_down", one.slow_down}});
  return json;
}

std::vector<std::string> leaves_out(const judge::SharedL2& pair) {
  std::vector<std::string> all = pair.leaves_out;
  all.emplace_back(rest_of_sms);
  return all;
}

} // namespace

document::Document pairs_document(std::span<const KernelResult> kernels,
                                  std::span<const judge::SharedL2> pairs,
                                  const judge::SharedByAll* together) {
  document::Section section{
      fmt::format("{} pairs that share the L2 and memory of {}, the least slowed down first", pairs.size(),
                  kernels.front().gpu),
      {table_of_pairs(kernels, pairs)}};
  const auto say = [&](std::string words) {
    section.blocks.push_back(document::Paragraph{std::move(words)});
  };
  if (pairs.size() > printed_pairs)
    say(fmt::format("and {} more", pairs.size() - printed_pairs));
  if (kernels.size() > 2)
    section.blocks.push_back(table_of_best_pairs(kernels, pairs));
  if (pairs.size() == 1 && pairs[0].partition)
    say(judge::partition_in_words(*pairs[0].partition));
  if (pairs.size() == 1 && pairs[0].watts)
    say(watts_of(*pairs[0].watts) + " beside each other");
  if (together != nullptr)
    section.blocks.push_back(table_of_all(kernels, *together));
  std::set<std::string> left_out{rest_of_sms};
  for (const judge::SharedL2& pair : pairs)
    left_out.insert(pair.leaves_out.begin(), pair.leaves_out.end());
  say(fmt::format(
      "Estimates from what each kernel does alone, of a pair that shares SMs, each with the warps "
      "that both have room for: the longer of the times by the L2 and memory, and by the pipes of "
      "the SMs. Left out: {}. Traces in place of results run on the machine itself.",
      fmt::join(left_out, "; ")));
  return {"Pairs of kernels", {std::move(section)}};
}

std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const judge::SharedL2> pairs,
                             const judge::SharedByAll* together) {
  Json json;
  json["schema"] = "warplens-corun/1";
  json["gpu"] = kernels.front().gpu;
  json["method"] = "camp";
  json["validated"] = false;
  Json& names = json["kernels"] = Json::array();
  for (const KernelResult& kernel : kernels)
    names.push_back({{"name", kernel.name}});
  Json& list = json["pairs"] = Json::array();
  for (const judge::SharedL2& pair : pairs) {
    list.push_back({{"kernels", pair.kernels},
                    {"slow_down", pair.slow_down},
                    {"camp", to_json(pair.camp)},
                    {"by_accesses", to_json(pair.by_accesses)},
                    {"by_misses", to_json(pair.by_misses)},
                    {"equilibria", pair.equilibria},
                    {"same_sm", pair.same_sm},
                    {"leaves_out", leaves_out(pair)}});
    if (pair.partition)
      list.back()["partition"] = partition_json(*pair.partition);
    if (pair.watts)
      list.back()["watts"] = {{"mean", pair.watts->mean}, {"ci95", pair.watts->ci95}};
  }
  if (together != nullptr) {
    Json& all = json["together"];
    for (std::size_t k = 0; k < kernels.size(); ++k)
      all["kernels"].push_back({{"slow_down", together->slow_down[k]},
                                {"slow_down_by_l2", together->camp[k].slow_down},
                                {"ways", together->camp[k].ways},
                                {"misses", together->camp[k].misses}});
    if (together->watts)
      all["watts"] = {{"mean", together->watts->mean}, {"ci95", together->watts->ci95}};
  }
  json["best_pairs"] = judge::best_pairs(pairs, kernels.size());
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
