#include "placement/advice.h"

#include "placement/change/rewrite.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/display_name.h"
#include "support/lines.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warplens::placement {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t text_width = 100;

std::string gain_of(const TimeChange& change) {
  return fmt::format("{:+.0f} % ±{:.0f}", 100 * change.share, 100 * change.half_width);
}

/// Returns what binds the kernel with and without the change.
std::string bound_of(const Candidate& before, const Candidate& after) {
  const std::string_view was = text_of_bound(before.result->time->bound);
  const std::string_view is = text_of_bound(after.result->time->bound);
  return was == is ? fmt::format("still bound by {}", is) : fmt::format("bound by {}, now by {}", was, is);
}

std::string of_rule(const RuleEstimate& rule) {
  return fmt::format("  ({} alone would promise up to {:+.0f} %, as Nsight Compute's rules do)",
                     name_of(rule.counter), 100 * rule.share);
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += "      " + printable(text.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  return out;
}

/// Returns the text in lines of at most text_width columns, indented, the second and later ones by two more.
std::string paragraph(const std::string& text, std::size_t indent) {
  std::string out, before(indent, ' ');
  for (const std::string& line : wrapped(printable(text), text_width - indent - 2)) {
    out += before + line + '\n';
    before.assign(indent + 2, ' ');
  }
  return out;
}

/// Returns the word by which SARIF and JSON name the kind of change.
std::string rule_of(const Move& move) {
  return move.rewrite != Rewrite::none ? std::string(name_of(move.rewrite)) : std::string(name_of(move.to));
}

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

std::string print_text(const AdviceReport& report, bool colour) {
  const Style style(colour);
  std::string text;
  for (const KernelAdvice& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const KernelResult& sample = *experiment.sample().result;
    if (!text.empty())
      text += '\n';
    text += style.bold(cut(fmt::format("{}  {}  {}", display_name(printable(sample.name)),
                                       experiment.gpu().id, duration(sample.time->microseconds)),
                           text_width)) +
            '\n';
    text += paragraph(fmt::format("bound by {}; its busiest resource is busy for {}",
                                  text_of_bound(sample.time->bound), duration({.mean = kernel.min_us})),
                      4);
    if (const std::string note = note_on_waits(experiment); !note.empty())
      text += paragraph(note, 4);
    for (std::size_t i = 0; i < kernel.suggestions.size(); ++i) {
      const Suggestion& one = kernel.suggestions[i];
      text += fmt::format("{:>3} {}{}\n", i + 1, style.bold(gain_of(one.candidate.change)),
                          one.rule ? style.dim(of_rule(*one.rule)) : "");
      text += paragraph(fmt::format("{}:{} {}; {}", one.file, one.line, one.edit,
                                    bound_of(experiment.sample(), one.candidate)),
                        6);
      if (one.of_patch)
        text += paragraph(fmt::format(
                              "this patch compiles, the program prints the same, and modelled anew it takes "
                              "{}:",
                              gain_of(*one.of_patch)),
                          6) +
                indented(one.patch);
      else if (!one.without_patch.empty())
        text += paragraph("no patch: " + one.without_patch, 6);
    }
    if (kernel.suggestions.empty())
      text += "    nothing that was tried makes it faster\n";
    std::string tried;
    for (const Candidate& one : kernel.without_gain)
      tried += fmt::format("{}{} {:+.0f} %", tried.empty() ? "" : ", ",
                           text_of(one.moves, experiment.arrays()), 100 * one.change.share);
    if (!tried.empty())
      text += style.dim(paragraph("tried without gain: " + tried, 4));
  }
  return text;
}

nlohmann::ordered_json to_json(const AdviceReport& report) {
  Json json{{"schema", "warplens-advice/1"}, {"program", report.program}, {"seed", report.seed}};
  json["kernels"] = Json::array();
  for (const KernelAdvice& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const KernelResult& sample = *experiment.sample().result;
    const auto change_of_candidate = [&](const Candidate& one) {
      const Move& move = one.moves.front();
      return Json{{"array", is_of_launch(move.rewrite) ? "" : experiment.arrays()[move.array].name},
                  {"change", rule_of(move)},
                  {"what", text_of(one.moves, experiment.arrays())},
                  {"before_us", sample.time->microseconds.mean},
                  {"after_us", one.microseconds->mean},
                  {"share", one.change.share},
                  {"half_width", one.change.half_width}};
    };
    Json one{{"kernel", sample.name},
             {"gpu", experiment.gpu().id},
             {"microseconds", sample.time->microseconds.mean},
             {"bound", text_of_bound(sample.time->bound)},
             {"busiest_us", kernel.min_us}};
    one["suggestions"] = Json::array();
    for (const Suggestion& suggestion : kernel.suggestions) {
      Json of = change_of_candidate(suggestion.candidate);
      of["file"] = suggestion.file;
      of["line"] = suggestion.line;
      of["edit"] = suggestion.edit;
      of["bound_after"] = text_of_bound(suggestion.candidate.result->time->bound);
      if (suggestion.rule)
        of["rule"] = {{"counter", name_of(suggestion.rule->counter)}, {"share", suggestion.rule->share}};
      if (suggestion.of_patch) {
        of["patch"] = suggestion.patch;
        of["of_patch"] = {{"share", suggestion.of_patch->share},
                          {"half_width", suggestion.of_patch->half_width}};
      }
      one["suggestions"].push_back(std::move(of));
    }
    one["without_gain"] = Json::array();
    for (const Candidate& candidate : kernel.without_gain)
      one["without_gain"].push_back(change_of_candidate(candidate));
    json["kernels"].push_back(std::move(one));
  }
  return json;
}

std::string print_sarif(const AdviceReport& report, const std::string& version) {
  Json results = Json::array(), rules = Json::array();
  std::vector<std::string> known;
  for (const KernelAdvice& kernel : report.kernels)
    for (const Suggestion& one : kernel.suggestions) {
      const Experiment& experiment = *kernel.experiment;
      const std::string rule = "suggestion/" + rule_of(one.candidate.moves.front());
      if (std::ranges::count(known, rule) == 0) {
        known.push_back(rule);
        rules.push_back(
            {{"id", rule}, {"shortDescription", {{"text", "A change that the model found to be faster"}}}});
      }
      Json result{{"ruleId", rule}, {"level", "note"}};
      result["message"]["text"] =
          fmt::format("{} on {}: {} ({} of the modelled time; {})",
                      display_name(experiment.sample().result->name), experiment.gpu().id, one.edit,
                      gain_of(one.candidate.change), bound_of(experiment.sample(), one.candidate));
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
