// Prints the report as one HTML file: the page, built from report/web/, with the data in it.
#include "judge/headroom_text.h"
#include "judge/verdict.h"
#include "report/page_comparison.h"
#include "report/report.h"
#include "report/sass_rows.h"
#include "report/source_file.h"
#include "result/headroom.h"
#include "result/names.h"
#include "result/no_time.h"
#include "support/display_name.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view marker = "<!-- warplens-data -->";

/// Returns the verdicts on a line with the accesses that each applies to.
std::vector<std::pair<std::string, std::string>> accesses_by_verdict(const judge::CostlyLine& line,
                                                                     const KernelResult& kernel) {
  std::vector<std::pair<std::string, std::string>> by_text;
  for (const SiteResult* site : judge::sites_to_explain(line, kernel)) {
    const std::string& expression = site->site.expression;
    const std::string time = judge::time_verdict_on(*site, kernel);
    const std::string text = time + (time.empty() ? "" : "; ") + judge::verdict_on(*site, kernel);
    const auto same = std::ranges::find(by_text, text, &std::pair<std::string, std::string>::first);
    if (same == by_text.end())
      by_text.emplace_back(text, expression);
    else
      same->second += ", " + expression;
  }
  return by_text;
}

Json short_names(const Result& result) {
  Json list = Json::array();
  for (const KernelResult& kernel : result.kernels)
    list.push_back(display_name(kernel.name));
  return list;
}

/// Returns the verdicts on all lines. A kernel is named by its index in the result: launches of one kernel
/// share their name and GPU.
Json verdicts(const Result& result) {
  Json list = Json::array();
  for (std::size_t index = 0; index < result.kernels.size(); ++index) {
    const KernelResult& kernel = result.kernels[index];
    for (const judge::CostlyLine& line : judge::lines_of(kernel)) {
      std::string text;
      for (const auto& [words, accesses] : accesses_by_verdict(line, kernel)) {
        text += text.empty() ? "" : "; ";
        if (line.sites.size() > 1)
          text += accesses + ": ";
        text += words;
      }
      list.push_back({{"file", line.file}, {"line", line.line}, {"kernel", index}, {"text", text}});
    }
  }
  return list;
}

/// Returns the least time for the work of each resource, over the launch's time; empty if it is not known.
Json limits_of(const KernelResult& kernel) {
  Json limits = Json::object();
  if (const auto headroom = headroom_of(kernel); headroom && kernel.time->microseconds.mean > 0)
    for (const LimitOfTime& limit : headroom->limits)
      if (limit.microseconds > 0)
        limits[name_of_bound(limit.resource)] = limit.microseconds / kernel.time->microseconds.mean;
  return limits;
}

/// Returns for each kernel what its report opens with, the findings on it as a whole, and why its machine
/// code is not known, where it is not.
Json openings(const Result& result) {
  Json list = Json::array();
  for (const KernelResult& kernel : result.kernels) {
    Json lines = Json::array(), findings = Json::array();
    if (!kernel.time_unknown.empty())
      lines.push_back({{"label", "time"}, {"text", "not known, because " + why_no_time(kernel)}});
    for (const judge::LabelledText& text : judge::headroom_text(kernel))
      lines.push_back({{"label", text.label}, {"text", text.text}});
    lines.push_back({{"label", "occupancy"}, {"text", judge::occupancy_text(kernel)}});
    for (const judge::Finding& finding : judge::findings_on(kernel))
      findings.push_back(finding.text);
    Json& opening = list.emplace_back(Json{{"lines", lines}, {"findings", findings}});
    if (Json limits = limits_of(kernel); !limits.empty())
      opening["limits"] = std::move(limits);
    if (!kernel.code)
      opening["no_code"] = why_no_code(kernel);
  }
  return list;
}

std::set<std::string> files_of(const std::vector<LabelledResult>& results) {
  std::set<std::string> files;
  for (const LabelledResult& labelled : results)
    for (const KernelResult& kernel : labelled.result->kernels)
      for (const SiteResult& site : kernel.sites)
        files.insert(site.site.file);
  return files;
}

/// Returns the files whose lines a report of power names.
std::set<std::string> files_of(const Json& sharing) {
  std::set<std::string> files;
  for (const Json& kernel : sharing.value("kernels", Json::array()))
    for (const Json& line : kernel.value("lines", Json::array()))
      files.insert(line.value("file", ""));
  return files;
}

Json sources(const std::set<std::string>& files, const std::filesystem::path& root) {
  Json list = Json::array();
  for (const std::string& file : files) {
    if (auto text = read_source(file, root))
      list.push_back({{"file", file}, {"text", std::move(*text)}});
    else
      list.push_back({{"file", file}, {"missing", "not found where the report was made"}});
  }
  return list;
}

/// Returns JSON that a script element can hold: nothing in it can end the element or open a comment, for a
/// `<` can only stand in a string, which allows escaping it. U+2028 and U+2029 end lines in older JavaScript.
std::string inert(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size() + text.size() / 32);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view separator = std::string_view(text).substr(at, 3);
    if (text[at] == '<') {
      result += "\\u003c";
    } else if (separator == "\u2028" || separator == "\u2029") {
      result += separator == "\u2028" ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      result += text[at];
    }
  }
  return result;
}

} // namespace

Expected<std::string> print_page(const std::vector<LabelledResult>& results, const PageOptions& options) {
  const std::size_t place = options.page.find(marker);
  if (place == std::string::npos || options.page.find(marker, place + 1) != std::string::npos)
    return fail("the report page is damaged: {} is to be in it once", marker);
  Json data;
  data["version"] = options.version;
  Json& list = data["results"] = Json::array();
  for (const LabelledResult& labelled : results)
    list.push_back({{"label", labelled.label},
                    {"result", to_json(*labelled.result)},
                    {"names", short_names(*labelled.result)},
                    {"openings", openings(*labelled.result)},
                    {"verdicts", verdicts(*labelled.result)}});
  if (results.size() == 2)
    data["comparison"] = comparison_for_page(*results[0].result, *results[1].result);
  std::set<std::string> files = files_of(results);
  if (options.sharing != nullptr)
    files.merge(files_of(*options.sharing));
  data["sources"] = sources(files, options.source_root);
  if (options.significance != nullptr)
    data["significance"] = *options.significance;
  if (options.sharing != nullptr)
    data["sharing"] = *options.sharing;
  if (options.measured != nullptr)
    data["measured"] = *options.measured;

  std::string page = options.page.substr(0, place);
  page.append("<script type=\"application/json\" id=\"warplens-data\">")
      .append(inert(data))
      .append("</script>");
  return page.append(options.page, place + marker.size());
}

} // namespace warplens::report
