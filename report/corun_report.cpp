#include "report/corun_report.h"

#include "report/figures.h"
#include "report/resource_text.h"
#include "report/terminal_text.h"
#include "result/names.h"
#include "support/display_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 40;
/// A resource is fought for where it is busy for this share of the time together, and longer than for the
/// kernel that needs it most.
constexpr double contended_share = 0.6, contended_more = 0.1;
constexpr double fewer_hits = 0.05; ///< of a cache's look-ups, that count
constexpr double long_wait = 0.05;  ///< of the kernel's time beside the others, for its first place on an SM

std::string name_of_kernel(const CorunKernelResult& kernel) {
  return printable(display_name(kernel.name, name_width));
}

std::string lines_of(const std::string& indent, const std::string& text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width - indent.size()))
    lines += indent + line + "\n";
  return lines;
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

} // namespace

std::vector<std::string> contention_of(const CorunResult& result) {
  std::vector<std::string> found;
  for (std::size_t resource = 0; resource < resource_count; ++resource) {
    double max_alone = 0;
    std::vector<std::string> alone;
    for (const CorunKernelResult& kernel : result.kernels) {
      max_alone = std::max(max_alone, kernel.busy_alone[resource]);
      alone.push_back(share(kernel.busy_alone[resource]));
    }
    if (result.busy[resource] >= contended_share && result.busy[resource] >= max_alone + contended_more)
      found.push_back(fmt::format("{}: busy {} % of the time together, {} % alone",
                                  text_of(Resource(resource)), share(result.busy[resource]),
                                  fmt::join(alone, " and ")));
  }
  for (const CorunKernelResult& kernel : result.kernels) {
    const auto fewer = [&](const char* cache, const std::optional<double>& alone,
                           const std::optional<double>& beside) {
      if (alone && beside && *alone - *beside >= fewer_hits)
        found.push_back(fmt::format("the {}: {} hits {} % of its loads, alone {} %", cache,
                                    name_of_kernel(kernel), share(beside), share(alone)));
    };
    fewer("L1", kernel.l1_alone, kernel.l1_beside);
    fewer("L2", kernel.l2_alone, kernel.l2_beside);
    if (kernel.waits_us >= long_wait * kernel.beside_us.mean)
      found.push_back(fmt::format("places on the SMs: {} waits {:.3g} µs for its first one",
                                  name_of_kernel(kernel), kernel.waits_us));
  }
  return found;
}

std::string print_corun_text(const CorunResult& result, const TextOptions& options) {
  const Style style(options.colour);
  const std::size_t width = std::max(80u, options.width);
  const char* const how = result.division == Division::streams ? "as streams"
                          : result.division == Division::sms   ? "each on SMs of its own"
                                                               : "each with a number of blocks on an SM";
  std::string text = style.bold(cut(fmt::format("{} kernels beside each other on {}, {}",
                                                result.kernels.size(), printable(result.gpu), how),
                                    width)) +
                     "\n";
  for (const CorunKernelResult& kernel : result.kernels) {
    std::string place;
    if (result.division == Division::sms)
      place = fmt::format("  {} SMs", kernel.sms);
    if (result.division == Division::blocks)
      place = fmt::format("  {} blocks on an SM", kernel.max_per_sm);
    text += cut(fmt::format("  {:.2f} × ({:.2f} to {:.2f})  {}  {:.4g} µs alone, {:.4g} beside{}",
                            kernel.slow_down.mean, kernel.slow_down.ci95[0], kernel.slow_down.ci95[1],
                            name_of_kernel(kernel), kernel.alone_us.mean, kernel.beside_us.mean, place),
                width) +
            "\n";
  }
  text += fmt::format("  all together take {:.0f} % of the time of one after the other\n",
                      100 * result.over_sequential.mean);
  for (const std::string& what : contention_of(result))
    text += lines_of("  ", "they fight for " + what, width);
  return text;
}

std::string print_corun_json(const CorunResult& result) {
  Json json;
  json["schema"] = "warplens-corun/1";
  json["gpu"] = result.gpu;
  json["sm_clock_mhz"] = result.sm_clock_mhz;
  json["method"] = "trial";
  json["division"] = name_of(result.division);
  json["trials"] = result.trials;
  json["over_sequential"] = statistic(result.over_sequential);
  json["busy"] = shares(result.busy);
  Json& kernels = json["kernels"] = Json::array();
  for (const CorunKernelResult& kernel : result.kernels) {
    Json one = {{"name", kernel.name}, {"blocks", kernel.blocks}, {"sms", kernel.sms}};
    if (kernel.max_per_sm != 0)
      one["max_per_sm"] = kernel.max_per_sm;
    one["slow_down"] = statistic(kernel.slow_down);
    one["alone_us"] = statistic(kernel.alone_us);
    one["beside_us"] = statistic(kernel.beside_us);
    one["waits_us"] = kernel.waits_us;
    const auto put = [&](const char* key, const std::optional<double>& value) {
      if (value)
        one[key] = *value;
    };
    put("l1_hit_rate_alone", kernel.l1_alone);
    put("l1_hit_rate", kernel.l1_beside);
    put("l2_hit_rate_alone", kernel.l2_alone);
    put("l2_hit_rate", kernel.l2_beside);
    one["busy_alone"] = shares(kernel.busy_alone);
    kernels.push_back(std::move(one));
  }
  json["contention"] = contention_of(result);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
