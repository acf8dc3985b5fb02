#include "report/camp_report.h"

#include "report/terminal_text.h"
#include "sharing/cache_equilibrium.h"
#include "sharing/fit_line.h"
#include "sharing/mixing.h"
#include "support/display_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 32, printed_pairs = 40;

Expected<sharing::CacheProcess> process_of(const KernelResult& kernel) {
  if (!kernel.sharing)
    return fail("{} on {}: the result has no profile for estimates: model it with --sharing", kernel.name,
                kernel.gpu);
  const SharingProfile::L2& l2 = kernel.sharing->l2;
  if (l2.requests <= 0 || l2.instructions <= 0 || l2.misses.empty() || l2.cuts.empty() || l2.ways == 0)
    return fail("{} on {}: it makes no request to the L2", kernel.name, kernel.gpu);
  std::vector<std::pair<double, double>> points;
  for (const SharingProfile::L2::Cut& cut : l2.cuts)
    points.emplace_back(cut.misses, cut.seconds / l2.instructions);
  const sharing::SlowDownLine line = sharing::fit_line(points);
  if (line.alpha + line.beta <= 0)
    return fail("{} on {}: its times with a part of the L2 are 0", kernel.name, kernel.gpu);
  return sharing::CacheProcess{sharing::MissCurve(l2.misses), l2.requests / l2.instructions, line.alpha,
                               line.beta};
}

SharedL2::Estimate estimate(const sharing::CacheProcess& process, double ways, double all_ways) {
  return {ways, process.misses(ways),
          process.seconds_per_instruction(ways) / process.seconds_per_instruction(all_ways)};
}

/// Returns a kernel's pipes in the order of the names, with half of its warps on each scheduler.
sharing::MixedKernel mixed(const SharingProfile& profile, const std::set<std::string>& names, double share) {
  sharing::MixedKernel kernel{{}, std::max(1.0, profile.warps * share), profile.held_share};
  for (const std::string& name : names) {
    const auto found = std::ranges::find(profile.pipes, name, &SharingProfile::Pipe::name);
    kernel.pipes.push_back(found == profile.pipes.end() ? sharing::PipeUse{}
                                                        : sharing::PipeUse{found->share, found->interval,
                                                                           found->latency, found->distances});
  }
  return kernel;
}

/// Returns the slow-downs on one SM by its pipes: each kernel's rate alone with all of its warps over that
/// beside the other with half of them.
std::array<double, 2> by_pipes(const SharingProfile& first, const SharingProfile& second,
                               double issue_width) {
  if (first.pipes.empty() || second.pipes.empty())
    return {1, 1};
  std::set<std::string> names;
  for (const SharingProfile* profile : {&first, &second})
    for (const SharingProfile::Pipe& pipe : profile->pipes)
      names.insert(pipe.name);
  const double of_scheduler = 0.25; // of an SM's warps
  const std::vector<sharing::MixedKernel> both{mixed(first, names, of_scheduler / 2),
                                               mixed(second, names, of_scheduler / 2)};
  const std::vector<double> together = sharing::mixed_rates(both, issue_width);
  std::array<double, 2> slow_down{1, 1};
  for (std::size_t k = 0; k < 2; ++k) {
    const sharing::MixedKernel alone = mixed(k == 0 ? first : second, names, of_scheduler);
    const double rate = sharing::mixed_rates(std::span(&alone, 1), issue_width)[0];
    slow_down[k] = together[k] > 0 ? rate / together[k] : 1;
  }
  return slow_down;
}

Json to_json(const std::array<SharedL2::Estimate, 2>& estimates) {
  Json json = Json::array();
  for (const SharedL2::Estimate& one : estimates)
    json.push_back({{"ways", one.ways}, {"misses", one.misses}, {"slow_down", one.slow_down}});
  return json;
}

} // namespace

Expected<std::vector<SharedL2>> estimate_pairs(std::span<const KernelResult> kernels, double issue_width) {
  std::vector<sharing::CacheProcess> processes;
  for (const KernelResult& kernel : kernels) {
    if (kernel.gpu != kernels.front().gpu)
      return fail("{} is on {}, {} on {}: kernels share the L2 of one GPU", kernel.name, kernel.gpu,
                  kernels.front().name, kernels.front().gpu);
    TRY_LET(process, process_of(kernel));
    processes.push_back(std::move(*process));
  }
  std::vector<SharedL2> pairs;
  for (std::size_t first = 0; first < kernels.size(); ++first)
    for (std::size_t second = first + 1; second < kernels.size(); ++second) {
      SharedL2& pair = pairs.emplace_back();
      pair.kernels = {first, second};
      const double ways = kernels[first].sharing->l2.ways;
      const std::vector<sharing::CacheProcess> both{processes[first], processes[second]};
      const sharing::Equilibria found = sharing::equilibria(both, ways);
      pair.equilibria = found.all.size();
      const auto put = [&](const std::vector<double>& of, std::array<SharedL2::Estimate, 2>& estimates) {
        for (std::size_t k = 0; k < 2; ++k)
          estimates[k] = estimate(both[k], of[k], ways);
      };
      put(found.all[found.reached].ways, pair.camp);
      put(sharing::ways_by_accesses(both, ways), pair.by_accesses);
      put(sharing::ways_by_misses(both, ways), pair.by_misses);
      pair.same_sm = by_pipes(*kernels[first].sharing, *kernels[second].sharing, issue_width);
    }
  std::ranges::stable_sort(pairs, {}, &SharedL2::mean_slow_down);
  return pairs;
}

std::string print_pairs_text(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs,
                             const TextOptions& options) {
  const Style style(options.colour);
  const std::size_t width = std::max(80u, options.width);
  std::string text =
      style.bold(cut(fmt::format("{} pairs that share the L2 of {}, the least slowed down first",
                                 pairs.size(), printable(kernels.front().gpu)),
                     width)) +
      "\n";
  for (const SharedL2& pair : pairs.first(std::min(pairs.size(), printed_pairs))) {
    const auto name = [&](std::size_t k) {
      return cut(printable(display_name(kernels[pair.kernels[k]].name, name_width)), name_width);
    };
    text +=
        cut(fmt::format("  {:.2f} × {:.2f}  {} + {}  {:.1f} and {:.1f} ways (by accesses {:.1f}, by misses "
                        "{:.1f}){}; on one SM "
                        "{:.2f} × {:.2f}",
                        pair.camp[0].slow_down, pair.camp[1].slow_down, name(0), name(1), pair.camp[0].ways,
                        pair.camp[1].ways, pair.by_accesses[0].ways, pair.by_misses[0].ways,
                        pair.equilibria > 1 ? fmt::format(", one of {} equilibria", pair.equilibria) : "",
                        pair.same_sm[0], pair.same_sm[1]),
            width) +
        "\n";
  }
  if (pairs.size() > printed_pairs)
    text += fmt::format("  and {} more\n", pairs.size() - printed_pairs);
  text += "  Estimates from what each kernel does alone, which do not know of memory's bandwidth.\n"
          "  Traces in place of results run on the machine itself.\n";
  return text;
}

std::string print_pairs_json(std::span<const KernelResult> kernels, std::span<const SharedL2> pairs) {
  Json json;
  json["schema"] = "warplens-corun/1";
  json["gpu"] = kernels.front().gpu;
  json["method"] = "camp";
  json["validated"] = false;
  Json& names = json["kernels"] = Json::array();
  for (const KernelResult& kernel : kernels)
    names.push_back({{"name", kernel.name}});
  Json& list = json["pairs"] = Json::array();
  for (const SharedL2& pair : pairs)
    list.push_back({{"kernels", pair.kernels},
                    {"camp", to_json(pair.camp)},
                    {"by_accesses", to_json(pair.by_accesses)},
                    {"by_misses", to_json(pair.by_misses)},
                    {"equilibria", pair.equilibria},
                    {"same_sm", pair.same_sm}});
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
