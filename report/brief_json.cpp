#include "report/brief.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the number in four significant digits, which is more than any figure of a model is good for; null
/// if it is not finite.
Json number(double value) {
  if (!std::isfinite(value))
    return nullptr;
  return Json::parse(fmt::format("{:.4g}", value));
}

Json to_json(const BriefKernel& kernel);

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json word(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json to_json(const BriefLine& line) {
  return {{"at", line.place},
          {"expression", line.expression},
          {"share", number(line.share)},
          {"stall", word(line.stall)},
          {"stall_share", line.stall.empty() ? Json(nullptr) : number(line.stall_share)}};
}

Json to_json(const BriefFinding& finding) {
  Json json = {{"at", finding.place}, {"text", finding.text}, {"gain", nullptr}};
  if (finding.gain)
    json["gain"] = {{"share", number(finding.gain->share)}, {"half_width", number(finding.gain->half_width)}};
  return json;
}

template <class Item> Json list_of(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items)
    list.push_back(to_json(item));
  return list;
}

Json to_json(const BriefKernel& kernel) {
  Json json = {{"kernel", kernel.name}, {"gpu", kernel.gpu}, {"microseconds", nullptr}};
  if (kernel.microseconds)
    json["microseconds"] = {{"mean", number(kernel.microseconds->mean)},
                            {"low", number(kernel.microseconds->spread95[0])},
                            {"high", number(kernel.microseconds->spread95[1])},
                            {"extrapolated", kernel.is_extrapolated}};
  if (const auto& likely = kernel.likely)
    json["likely"] = {{"low", number(likely->low_us)}, {"high", number(likely->high_us)}};
  json["limiter"] = word(kernel.limiter);
  json["busiest"] = word(kernel.busiest);
  json["busy"] = number(kernel.busy);
  json["headroom"] = number(kernel.headroom());
  json["roofline"] = nullptr;
  if (const auto& roofline = kernel.roofline)
    json["roofline"] = {{"microseconds", number(roofline->microseconds)},
                        {"times", number(roofline->times)},
                        {"by", word(roofline->by)},
                        {"dram_bytes", number(roofline->dram_bytes)},
                        {"dram_share_of_peak", number(roofline->dram_share_of_peak)}};
  json["lines"] = list_of(kernel.lines);
  json["findings"] = list_of(kernel.findings);
  if (!kernel.reasons.empty())
    json["reasons"] = kernel.reasons;
  return json;
}

Json error_of(const std::optional<ErrorOfFigure>& error) {
  return error ? Json({{"mean", number(error->mean)}, {"worst", number(error->worst)}}) : Json(nullptr);
}

/// Returns how far off the models of the kernels' GPUs are.
Json accuracies(const std::vector<BriefKernel>& kernels) {
  Json gpus = Json::array();
  std::set<std::string> seen;
  for (const BriefKernel& kernel : kernels) {
    if (!seen.insert(kernel.gpu).second)
      continue;
    Json gpu = {{"gpu", kernel.gpu}};
    if (const auto& accuracy = kernel.accuracy)
      gpu.update({{"measured_on", accuracy->gpu},
                  {"launches", accuracy->launches},
                  {"time_error", error_of(accuracy->time)},
                  {"l1_hit_rate_error", error_of(accuracy->l1_read_hit_rate)},
                  {"l2_hit_rate_error", error_of(accuracy->l2_read_hit_rate)}});
    else
      gpu["measured_on"] = nullptr;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

/// Returns why members of the lists above are null.
Json reasons(const Brief& brief) {
  Json reasons = Json::object();
  for (const BriefKernel& kernel : brief.kernels) {
    for (const BriefFinding& finding : kernel.findings)
      if (!finding.gain)
        reasons["gain"] = "no change was modelled: warplens advise tries some";
    if (!kernel.accuracy)
      reasons["measured_on"] = "nothing was measured on this GPU or a relative";
    else if (!kernel.accuracy->time || !kernel.accuracy->l1_read_hit_rate ||
             !kernel.accuracy->l2_read_hit_rate)
      reasons["error"] = "there it was not measured";
  }
  return reasons;
}

std::string json_text(const Brief& brief) {
  Json json = {{"schema", brief_schema}, {"program", brief.program}, {"kernels", list_of(brief.kernels)}};
  json["accuracy"] = accuracies(brief.kernels);
  json["not_modelled"] = brief.not_modelled;
  json["left_out"] = {{"kernels", brief.kernels_left_out}, {"notes", brief.notes_left_out}};
  json["reasons"] = reasons(brief);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string print_brief_json(const Result& result, const std::vector<Suggestion>& suggestions) {
  return fitted(brief_of(result, suggestions), json_text);
}

} // namespace warplens::report
