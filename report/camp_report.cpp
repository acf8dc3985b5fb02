#include "report/camp_report.h"

#include "judge/corun.h"
#include "report/corun_report.h"
#include "support/display_name.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t camp_name_width = 32, printed_pairs = 40;

Json to_json(const std::array<judge::SharedL2::Estimate, 2>& estimates) {
  Json json = Json::array();
  for (const judge::SharedL2::Estimate& one : estimates)
    json.push_back({{"ways", one.ways}, {"misses", one.misses}, {"slow_down", one.slow_down}});
  return json;
}

std::vector<std::string> leaves_out(const judge::SharedL2& pair) {
  std::vector<std::string> all = pair.leaves_out;
  all.push_back("L1s, shared memory and the ports of SMs");
  return all;
}

} // namespace

std::string print_pairs_text(std::span<const KernelResult> kernels, std::span<const judge::SharedL2> pairs,
                             const judge::SharedByAll* together, const TextOptions& options) {
  const Style style(options.colour);
  const std::size_t width = std::max(80u, options.width);
  std::string text =
      style.bold(cut(fmt::format("{} pairs that share the L2 and memory of {}, the least slowed down first",
                                 pairs.size(), printable(kernels.front().gpu)),
                     width)) +
      "\n";
  text += "  slow-downs     by the L2, and its ways of each   on one SM      kernels\n";
  const auto name = [&](std::size_t kernel) {
    return cut(printable(display_name(kernels[kernel].name, camp_name_width)), camp_name_width);
  };
  for (const judge::SharedL2& pair : pairs.first(std::min(pairs.size(), printed_pairs)))
    text += cut(fmt::format(
                    "  {:.2f} × {:.2f}    {:.2f} × {:.2f}, {:>4.1f} and {:>4.1f}{:<5}   {:.2f} × {:.2f}    "
                    "{} + {}",
                    pair.slow_down[0], pair.slow_down[1], pair.camp[0].slow_down, pair.camp[1].slow_down,
                    pair.camp[0].ways, pair.camp[1].ways,
                    pair.equilibria > 1 ? fmt::format(" of {}", pair.equilibria) : "", pair.same_sm[0],
                    pair.same_sm[1], name(pair.kernels[0]), name(pair.kernels[1])),
                width) +
            "\n";
  if (pairs.size() > printed_pairs)
    text += fmt::format("  and {} more\n", pairs.size() - printed_pairs);
  if (kernels.size() > 2) {
    text += "  best pairs, by the slow-downs in sum:\n";
    for (const auto& [first, second] : judge::best_pairs(pairs, kernels.size()))
      text += cut(fmt::format("    {} + {}", name(first), name(second)), width) + "\n";
  }
  if (pairs.size() == 1 && pairs[0].partition) {
    const std::string words = judge::partition_in_words(*pairs[0].partition);
    for (const std::string& line : wrapped(words, width - 2))
      text += "  " + line + "\n";
  }
  if (pairs.size() == 1 && pairs[0].watts)
    text += fmt::format("  {:.0f} W ({:.0f} to {:.0f}) beside each other\n", pairs[0].watts->mean,
                        pairs[0].watts->ci95[0], pairs[0].watts->ci95[1]);
  if (together != nullptr) {
    text += fmt::format("  all {} at once, by the L2 and memory{}:\n", kernels.size(),
                        together->watts ? fmt::format(", {:.0f} W ({:.0f} to {:.0f})", together->watts->mean,
                                                      together->watts->ci95[0], together->watts->ci95[1])
                                        : "");
    for (std::size_t k = 0; k < kernels.size(); ++k)
      text +=
          cut(fmt::format("    {:.2f} ×    {:.2f} × by the L2, {:>4.1f} ways   {}", together->slow_down[k],
                          together->camp[k].slow_down, together->camp[k].ways, name(k)),
              width) +
          "\n";
  }
  std::set<std::string> left_out{"L1s, shared memory and the ports of SMs"};
  for (const judge::SharedL2& pair : pairs)
    left_out.insert(pair.leaves_out.begin(), pair.leaves_out.end());
  const std::string note = fmt::format("Estimates from what each kernel does alone, of a pair that shares "
                                       "SMs, each with the warps that both have room for: the "
                                       "longer of the times by the L2 and memory, and by the pipes of the "
                                       "SMs. Left out: {}. Traces in place of "
                                       "results run on the machine itself.",
                                       fmt::join(left_out, "; "));
  for (const std::string& line : wrapped(note, width - 2))
    text += "  " + line + "\n";
  return text;
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
