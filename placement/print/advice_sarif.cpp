#include "placement/print/advice_report.h"
#include "support/display_name.h"
#include "support/lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warplens::placement {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the edit as SARIF's fix: the lines that the patch changes, each replaced as a whole.
Json fix_of(const Suggestion& suggestion) {
  Json replacements = Json::array();
  const std::vector<std::string> is = lines_of(suggestion.edited);
  const std::vector<std::string> was = lines_of(suggestion.source);
  for (std::size_t i = 0; i < std::min(was.size(), is.size()); ++i)
    if (was[i] != is[i])
      replacements.push_back(
          {{"deletedRegion",
            {{"startLine", i + 1}, {"startColumn", 1}, {"endLine", i + 1}, {"endColumn", was[i].size() + 1}}},
           {"insertedContent", {{"text", is[i]}}}});
  return {{"description", {{"text", suggestion.edit}}},
          {"artifactChanges", Json::array({{{"artifactLocation", {{"uri", suggestion.file}}},
                                            {"replacements", replacements}}})}};
}

} // namespace

std::string print_sarif(const AdviceReport& report, const std::string& version) {
  Json results = Json::array(), rules = Json::array();
  std::vector<std::string> known;
  for (const KernelAdvice& kernel : report.kernels)
    for (const Suggestion& one : kernel.suggestions) {
      const Experiment& experiment = *kernel.experiment;
      const std::string rule = "suggestion/" + change_word(one.candidate.moves.front());
      if (std::ranges::count(known, rule) == 0) {
        known.push_back(rule);
        rules.push_back(
            {{"id", rule}, {"shortDescription", {{"text", "A change that the model found to be faster"}}}});
      }
      Json result{{"ruleId", rule}, {"level", "note"}};
      result["message"]["text"] =
          fmt::format("{} on {}: {} ({} of the modelled time; {})",
                      display_name(experiment.sample().result->name), experiment.gpu().id, one.edit,
                      gain_text(one.candidate.change), bound_text(experiment.sample(), one.candidate));
      if (one.line != 0)
        result["locations"] = Json::array(
            {{{"physicalLocation",
               {{"artifactLocation", {{"uri", one.file}}}, {"region", {{"startLine", one.line}}}}}}});
      result["properties"] = {{"share", one.candidate.change.share},
                              {"half_width", one.candidate.change.half_width}};
      if (!one.patch.empty()) {
        result["properties"]["patch"] = one.patch;
        result["fixes"] = Json::array({fix_of(one)});
      }
      results.push_back(std::move(result));
    }
  const Json json{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       Json::array({{{"tool", {{"driver", {{"name", "Warplens"}, {"version", version}, {"rules", rules}}}}},
                     {"results", results}}})}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace warplens::placement
