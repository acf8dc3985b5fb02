#include "placement/print/estimate_text.h"
#include "placement/print/placement_report.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/html_text.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace warplens::placement {
namespace {

constexpr const char* head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Warplens: placement</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root{color-scheme:light dark}
body{font:14px/1.45 system-ui,sans-serif;margin:1.5rem;max-width:75rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem}
th,td{border:1px solid #8886;padding:.35rem .6rem;text-align:right;vertical-align:top}
th{text-align:left;font-weight:600}
td.refused{background:repeating-linear-gradient(45deg,#8883 0 4px,#0000 4px 8px);text-align:left;max-width:14rem;font-size:12px;overflow-wrap:anywhere}
td.doubted{border:2px dashed #888}
td.here{font-weight:600}
td.none{color:#888}
small{color:#888}
summary{cursor:pointer;white-space:nowrap}
</style></head><body>
<h1>Placement of arrays</h1>
)";

/// Returns a colour from green (faster) over nothing to red (slower), the stronger the larger the change.
std::string colour_of(const TimeChange& change) {
  if (change.is_tie())
    return "#0000";
  const double strength = std::min(1.0, std::abs(std::log1p(change.share)) / std::log(2.0));
  return fmt::format("hsla({},70%,45%,{:.2f})", change.share < 0 ? 130 : 10, 0.15 + 0.55 * strength);
}

std::string row(std::string_view what, const std::string& before, const std::string& after) {
  return fmt::format("<tr><th>{}<td>{}<td>{}", what, before, after);
}

/// Returns the figures of the placement beside those of the trace's, as a table that a click opens.
std::string comparison(const Candidate& before, const Candidate& after) {
  std::string rows;
  rows += before.latency_cycles ? row("latencies", figure_text(before), figure_text(after))
                                : row("time", duration(*before.microseconds), duration(*after.microseconds));
  if (before.paper) {
    const TimeParts &was = before.paper->cycles, &is = after.paper->cycles;
    const auto cycles = [&](const char* name, double TimeParts::* part) {
      rows += row(name, fmt::format("{:.0f} cycles", was.*part), fmt::format("{:.0f} cycles", is.*part));
    };
    cycles("computation", &TimeParts::computation);
    cycles("memory", &TimeParts::memory);
    cycles("overlap", &TimeParts::overlap);
  } else if (!before.latency_cycles)
    rows += row("bound by", std::string(text_of_bound(before.result->time->bound)),
                std::string(text_of_bound(after.result->time->bound)));
  rows += row("blocks per SM", fmt::format("{}", before.result->occupancy.blocks_per_sm),
              fmt::format("{}", after.result->occupancy.blocks_per_sm));
  rows += row("shared bytes", fmt::format("{}", before.shared_bytes), fmt::format("{}", after.shared_bytes));
  const bool is_model = !before.paper && !before.latency_cycles;
  for (std::size_t i = 0; is_model && i < resource_count; ++i) {
    const double was = before.result->time->busy[i], is = after.result->time->busy[i];
    if (was > 0.005 || is > 0.005)
      rows += row(text_of(Resource(i)), percent(was) + " %", percent(is) + " %");
  }
  const auto rate = [&](const char* name, std::optional<Statistic> Totals::* figure) {
    const auto &was = before.result->totals.*figure, &is = after.result->totals.*figure;
    if (was || is)
      rows += row(name, was ? percent(was->mean) + " %" : "-", is ? percent(is->mean) + " %" : "-");
  };
  rate("L1 hits", &Totals::l1_read_hit_rate);
  rate("L2 hits", &Totals::l2_read_hit_rate);
  rate("constant hits", &Totals::constant_hit_rate);
  return "<table><tr><th><th>as is<th>moved" + rows + "</table>";
}

/// Returns the attributes of a cell whose figure was held against nothing.
std::string doubt_class(const Candidate& candidate) {
  const std::string doubt = doubt_text(candidate);
  return doubt.empty() ? "" : fmt::format(" class=doubted title=\"{}\"", html_text(doubt));
}

std::string_view doubt_mark(const Candidate& candidate) {
  return candidate.not_measured.empty() ? "" : "? ";
}

std::string cell(const KernelPlacements& kernel, std::uint32_t array, PlacementSpace place) {
  const Experiment& experiment = *kernel.experiment;
  if (place_of(experiment.arrays()[array]) == place)
    return "<td class=here>as is";
  const auto is_it = [&](const Candidate& one) {
    return one.moves.size() == 1 && one.moves.front().array == array && one.moves.front().to == place;
  };
  if (const auto found = std::ranges::find_if(kernel.found.candidates, is_it);
      found != kernel.found.candidates.end())
    return fmt::format("<td{} style=\"background:{}\"><details><summary>{}{}</summary>{}</details>",
                       doubt_class(*found), colour_of(found->change), doubt_mark(*found),
                       change_text(*found, experiment),
                       html_text(source_text(*found)) + comparison(experiment.sample(), *found));
  if (const auto found = std::ranges::find_if(kernel.found.refused, is_it);
      found != kernel.found.refused.end())
    return "<td class=refused>" + html_text(text_of(found->refusals.front().reasons));
  return "<td class=none>-";
}

} // namespace

std::string print_page(const PlacementReport& report) {
  std::string page = head;
  page += fmt::format(
      "<p>{}. Changes of each launch's figure when one array moves. Hatched: refused, with the "
      "line that forbids it. Dashed, with a question mark: no measured kernel of the GPU has such a "
      "memory. Click a change for what it does.</p>\n",
      html_text(report.program));
  for (const KernelPlacements& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const std::string parts = deciding_parts(experiment.sample(), experiment);
    page += fmt::format(
        "<h2>{} <small>on {}, {} as is ({}{}{})</small></h2>\n<p>Accuracy: {}.</p>\n<table><tr><th>array",
        html_text(experiment.sample().result->name), html_text(experiment.gpu().id), sample_text(experiment),
        origin_of_figures(experiment), parts.empty() ? "" : "; ", parts,
        html_text(accuracy_of_model(experiment)));
    for (const std::string_view place : names_of<PlacementSpace>)
      page += fmt::format("<th>{}", place);
    page += '\n';
    for (std::uint32_t array = 0; array < experiment.arrays().size(); ++array) {
      page += fmt::format("<tr><th>{} <small>{}</small>", html_text(experiment.arrays()[array].name),
                          bytes(double(experiment.arrays()[array].bytes)));
      for (std::size_t place = 0; place < names_of<PlacementSpace>.size(); ++place)
        page += cell(kernel, array, PlacementSpace(place));
      page += '\n';
    }
    page += "</table>\n";
    std::string several;
    for (const Candidate& one : kernel.found.candidates)
      if (one.moves.size() > 1)
        several += fmt::format("<tr><td style=\"text-align:left\">{}<td{} style=\"background:{}\">{}{}\n",
                               html_text(text_of(one.moves, experiment.arrays())), doubt_class(one),
                               colour_of(one.change), doubt_mark(one), change_text(one, experiment));
    if (!several.empty())
      page += "<h3>Several arrays moved</h3><table>" + several + "</table>\n";
  }
  return page + "</body></html>\n";
}

} // namespace warplens::placement
