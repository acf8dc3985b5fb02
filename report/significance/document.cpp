#include "report/significance/document.h"

#include "significance/ensemble.h"
#include "support/parse_number.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using namespace significance;

constexpr double min_shown = 0.005;        ///< resources that explain less are named only
constexpr double min_shown_counter = 0.01; ///< counters that explain less are not named
constexpr std::size_t max_shown_names = 3; ///< of a list that may be long

/// Returns the first names of a list, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), max_shown_names); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > max_shown_names ? fmt::format("{}, and {} more", text, names.size() - max_shown_names)
                                        : text;
}

/// Returns "n = 60…200, t = 8, 16": the values of each parameter over the runs.
std::string ranges_of(const std::vector<Parameters>& runs) {
  std::string text;
  for (const auto& [name, first] : runs.front()) {
    std::vector<std::string> values;
    std::vector<std::pair<double, std::string>> numbers;
    for (const Parameters& run : runs) {
      const std::string value = value_of(run, name).value_or("");
      if (std::ranges::find(values, value) != values.end())
        continue;
      values.push_back(value);
      if (const auto number = parse_number(value))
        numbers.emplace_back(*number, value);
    }
    const bool is_range = numbers.size() == values.size() && values.size() > 2;
    std::ranges::sort(numbers);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        is_range ? numbers.front().second + "…" + numbers.back().second : some_of(values));
  }
  return text;
}

/// Returns a resource's name; a line is named by its file without folders.
std::string name_of_group(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  const bool is_line = colon != std::string::npos && colon + 1 < name.size() &&
                       name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return is_line ? std::filesystem::path(name).filename().string() : name;
}

/// Returns " [0.41, 0.52]".
std::string text_of_interval(const std::optional<Interval>& interval) {
  return interval ? fmt::format(" [{:.2f}, {:.2f}]", interval->low, interval->high) : "";
}

/// Returns a counter's name without what its resource says already: its place, or its name.
std::string short_name(const CounterFigures& counter) {
  if (!counter.place)
    return counter.name;
  const std::string file = std::filesystem::path(counter.place->file).filename().string();
  if (counter.place->expression.empty()) // of a line, which is the group
    return counter.name.substr(0, counter.name.find(' '));
  return fmt::format("{}:{} {}", file, counter.place->line, counter.place->expression);
}

class SignificanceDocument {
public:
  document::Document build(const Significance& found) {
    for (const RegionSignificance& region : found.regions)
      add(region, found.options);
    for (const Comparison& comparison : found.comparisons)
      add(comparison, found.options);
    for (const Similarity& similarity : found.similarities)
      add(similarity);
    if (!found.notes.empty())
      begin("");
    for (const std::string& note : found.notes)
      say("note: ", note, Tone::faint);
    return std::move(document_);
  }

private:
  using Tone = document::Tone;

  void begin(std::string heading) { document_.sections.push_back({std::move(heading)}); }

  void add(document::Block block) { document_.sections.back().blocks.push_back(std::move(block)); }

  void say(const std::string& head, const std::string& body, Tone tone = Tone::plain) {
    add(document::Paragraph{head + body, tone});
  }

  void add(const RegionSignificance& region, const ExplainOptions& options) {
    std::string heading = region.name;
    if (!region.gpu.empty() && heading.find(region.gpu) == std::string::npos)
      heading += " on " + region.gpu;
    if (!region.runs.empty())
      heading += fmt::format(": {} run{} ({})", region.runs.size(), region.runs.size() == 1 ? "" : "s",
                             ranges_of(region.runs));
    heading += ", target " + options.target.name;
    if (region.target_is_modelled)
      heading += ", modelled";
    else if (options.target.name == "time" && !region.target_source.empty() && region.target_source != "time")
      heading += fmt::format(" (no time was measured: {})", region.target_source);
    begin(std::move(heading));
    if (region.error) {
      say("not explained: ", *region.error, Tone::notable);
      add_left_out(region);
      return;
    }
    add_verdict(region, options);
    // The paper and its tool rank whatever they find.
    if (region.explained || options.preset != "default")
      add(resources_of(region));
    if (region.explained)
      add_rest(region);
    add_collinear(region);
    add_left_out(region);
    for (const Suggestion& suggestion : region.suggestions)
      say(fmt::format("try {} ({}): ", suggestion.label, suggestion.resource),
          suggestion.action +
              (suggestion.reason.empty() ? " (no profile to check it on)" : ": " + suggestion.reason));
    if (region.suggestions.size() > 1)
      say("", "one change at a time, and measure again after each", Tone::faint);
  }

  void add_verdict(const RegionSignificance& region, const ExplainOptions& options) {
    const std::string figures = fmt::format("R2 {:.2f}, Q2 {:.2f}, {} draws, seed {}", region.r2, region.q2,
                                            region.draws, options.seed);
    if (region.explained)
      say("explained: ", figures + "; correlation, not cause");
    else
      say("not explained: ", "these counters do not explain the target (" + figures + ")", Tone::notable);
    if (region.target_is_modelled)
      say("",
          "the target is modelled: it says which lines and levels make the modelled figure grow; why a "
          "time grows needs measured times (--measured)",
          Tone::faint);
    if (region.few_runs)
      say("few runs: ",
          options.workload.empty()
              ? fmt::format("{} say little; 8 are the least to rely on", region.runs.size())
              : "a workload has fewer than 8, which say little",
          Tone::notable);
  }

  /// Returns the resources that explain anything, with the counters that do so most.
  static document::Table resources_of(const RegionSignificance& region) {
    using enum document::Kind;
    using enum document::Audience;
    document::Table table{{{"kernel", name, "", programs},
                           {"gpu", words, "", programs},
                           {"resource"},
                           {"significance", words, "", people},
                           {"significance", interval, "", programs},
                           {"standard error", number, "", programs},
                           {"significant", words, "", programs},
                           {"counters"}}};
    table.has_headings = false;
    for (const ResourceFigures& resource : region.resources) {
      if (resource.rsm < min_shown)
        continue;
      document::Cell figure = document::figure(resource.rsm, "");
      if (resource.runs95)
        figure.interval = {resource.runs95->low, resource.runs95->high};
      const bool is_significant = resource.significant;
      table.rows.push_back(
          {{document::words(region.name), document::words(region.gpu),
            document::words(name_of_group(resource.name)),
            document::words(is_significant ? fmt::format("{:.2f}±{:.2f}{}", resource.rsm,
                                                         half_width_errors * resource.standard_error,
                                                         text_of_interval(resource.runs95))
                                           : fmt::format("{:.2f}", resource.rsm)),
            std::move(figure), document::figure(resource.standard_error, ""),
            document::words(is_significant ? "yes" : "no"),
            document::words(is_significant
                                ? counters_of(resource)
                                : fmt::format("not significant (not above {:.2f})", region.null95))},
           is_significant ? Tone::plain : Tone::faint});
    }
    return table;
  }

  /// Returns "in[i] 0.41   out[i] 0.12": the first counters that reduce the error.
  static std::string counters_of(const ResourceFigures& resource) {
    std::string text;
    std::size_t shown = 0;
    for (const CounterFigures& counter : resource.counters)
      if (counter.reduction >= min_shown_counter && shown++ < max_shown_names)
        text += fmt::format("{}{} {:.2f}", text.empty() ? "" : "   ", short_name(counter), counter.reduction);
    return text;
  }

  void add_rest(const RegionSignificance& region) {
    std::vector<std::string> rest;
    for (const ResourceFigures& resource : region.resources)
      if (resource.rsm < min_shown)
        rest.push_back(resource.name);
    if (!rest.empty())
      say(fmt::format("below {}: ", min_shown), some_of(rest), Tone::faint);
  }

  void add_collinear(const RegionSignificance& region) {
    for (const auto& set : region.collinear) {
      std::string names;
      for (std::size_t i = 0; i < std::min(set.counters.size(), max_shown_names); ++i)
        names += (i == 0 ? "" : " ~ ") + set.counters[i];
      if (set.counters.size() > max_shown_names)
        names += fmt::format(" ~ {} more", set.counters.size() - max_shown_names);
      say("collinear: ", fmt::format("{} ({:.4f}): the split among them is by lot", names, set.cosine));
    }
  }

  void add_left_out(const RegionSignificance& region) {
    std::vector<std::string> gaps;
    std::size_t constant = 0, excluded = 0;
    for (const auto& [counter, reason] : region.dropped) {
      if (reason.starts_with("missing"))
        gaps.push_back(counter + ", " + reason);
      else
        ++(reason == "constant" ? constant : excluded);
    }
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "" : "; ") + one; };
    if (!gaps.empty())
      add("counters with gaps (" + some_of(gaps) + ")");
    if (constant > 0)
      add(fmt::format("{} constant counter{}", constant, constant == 1 ? "" : "s"));
    if (excluded > 0)
      add(fmt::format("{} that cannot be counters", excluded));
    if (!region.dropped_runs.empty())
      add(fmt::format("{} run{} that lack{} a counter ({})", region.dropped_runs.size(),
                      region.dropped_runs.size() == 1 ? "" : "s", region.dropped_runs.size() == 1 ? "s" : "",
                      some_of(region.dropped_runs)));
    if (!text.empty())
      say("left out: ", text, Tone::faint);
    if (!region.other.empty())
      say("of no known resource: ", some_of(region.other), Tone::faint);
  }

  void add(const Comparison& comparison, const ExplainOptions& options) {
    begin(fmt::format("{} → {}: {} run{}, target {} {:.4g} → {:.4g} in all", comparison.base,
                      comparison.optimised, comparison.runs, comparison.runs == 1 ? "" : "s",
                      options.target.name, comparison.base_target, comparison.optimised_target));
    if (comparison.swapped)
      say("", "swapped: the second one is slower", Tone::notable);
    if (comparison.error) {
      say("not compared: ", *comparison.error, Tone::notable);
      return;
    }
    say("", fmt::format("the gain is predicted with Q2 {:.2f} from what the faster one does more of, {:.2f} "
                        "from what it does less of",
                        comparison.up_q2, comparison.down_q2));
    add(bars_of(comparison));
    say("",
        fmt::format("above 0: the faster one does more of it where it gains; below: less. A difference of "
                    "significances, not an amount. Significant: beyond ±{:.2f}, which chance reaches in 5 "
                    "of 100, with a Q2 of 0.5; in brackets: over other draws of the runs",
                    comparison.null95),
        Tone::faint);
  }

  static document::Table bars_of(const Comparison& comparison) {
    using enum document::Kind;
    using enum document::Audience;
    document::Table table{{{"before", name, "", programs},
                           {"after", name, "", programs},
                           {"resource"},
                           {"difference", words, "", people},
                           {"difference", interval, "", programs},
                           {"its counters", words, "", people},
                           {"change of counters", number, "fraction", programs},
                           {"significant", words, "", programs}}};
    table.has_headings = false;
    for (const Comparison::Bar& bar : comparison.bars) {
      document::Cell difference = document::figure(bar.bar(), ""), change;
      if (bar.runs95)
        difference.interval = {bar.runs95->low, bar.runs95->high};
      if (bar.change)
        change.value = *bar.change;
      const std::string counters = fmt::format(
          "its counters {}{}", bar.change ? fmt::format("{:+.0f} %", 100 * *bar.change) : "from 0",
          bar.significant ? "" : "   not significant");
      table.rows.push_back(
          {{document::words(comparison.base), document::words(comparison.optimised),
            document::words(name_of_group(bar.resource)),
            document::words(fmt::format("{:+.2f}{}", bar.bar(), text_of_interval(bar.runs95))),
            std::move(difference), document::words(counters), std::move(change),
            document::words(bar.significant ? "yes" : "no")},
           bar.significant ? Tone::plain : Tone::faint});
    }
    return table;
  }

  void add(const Similarity& similarity) {
    begin(fmt::format("{} like {}", similarity.a, similarity.b));
    if (similarity.figures.empty())
      say("", "no resource has two counters in common, which is the least to compare", Tone::faint);
    using enum document::Kind;
    document::Table table{{{"resource"},
                           {"similarity", number},
                           {"significance", words, "", document::Audience::people},
                           {"significance", number, "", document::Audience::programs}}};
    table.has_headings = false;
    for (const Similarity::Figure& figure : similarity.figures)
      table.rows.push_back({{document::words(name_of_group(figure.resource)),
                             document::figure(figure.similarity, fmt::format("{:.2f}", figure.similarity)),
                             document::words(fmt::format("significance {:.2f}", figure.rsm)),
                             document::figure(figure.rsm, "")}});
    add(std::move(table));
  }

  document::Document document_{"What the time grows with"};
};

} // namespace

document::Document significance_document(const Significance& significance) {
  return SignificanceDocument().build(significance);
}

std::string print_significance_json(const Significance& significance) {
  return to_json(significance).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
