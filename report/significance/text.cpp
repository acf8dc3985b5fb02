#include "report/significance/text.h"

#include "report/annotated_source.h"
#include "significance/ensemble.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using namespace significance;

constexpr double min_shown = 0.005;        ///< resources that explain less are named only
constexpr double min_shown_counter = 0.01; ///< counters that explain less are not named
constexpr std::size_t max_shown_names = 3; ///< of a list that may be long
constexpr std::size_t min_name_width = 7, max_name_width = 32;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

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
      if (const auto number = number_in(value))
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
  return printable(is_line ? std::filesystem::path(name).filename().string() : name);
}

/// Returns the width of a column that holds the names, and two blanks.
template <class Items, class Name> std::size_t width_for(const Items& items, Name name) {
  std::size_t width = min_name_width;
  for (const auto& item : items)
    width = std::max(width, width_of(name_of_group(item.*name)));
  return std::min(width, max_name_width) + 2;
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

class SignificanceText {
public:
  explicit SignificanceText(const TextOptions& options)
      : width_(line_width(options)), style_(options.colour) {}

  std::string print(const Significance& found) {
    for (const RegionSignificance& region : found.regions)
      print(region, found.options);
    for (const Comparison& comparison : found.comparisons)
      print(comparison, found.options);
    for (const Similarity& similarity : found.similarities)
      print(similarity);
    for (const std::string& note : found.notes)
      paragraph("note: ", note, &Style::dim);
    return std::move(text_);
  }

private:
  using Look = std::string (Style::*)(std::string_view) const;

  void line(const std::string& text) { text_ += without_trailing_blanks(text) + "\n"; }

  /// Prints a text over as many lines as it needs; those after the first are indented.
  void paragraph(const std::string& head, const std::string& body, Look look = nullptr) {
    bool first = true;
    for (const std::string& one : wrapped(printable(head + body), width_ - 2)) {
      const std::string indented = (first ? "" : "  ") + one;
      line(look == nullptr ? indented : (style_.*look)(indented));
      first = false;
    }
  }

  void begin(const std::string& heading) {
    if (!text_.empty())
      line("");
    for (const std::string& one : wrapped(printable(heading), width_))
      line(style_.bold(one));
  }

  void print(const RegionSignificance& region, const ExplainOptions& options) {
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
    begin(heading);
    if (region.error) {
      paragraph("not explained: ", *region.error, &Style::warm);
      print_left_out(region);
      return;
    }
    print_verdict(region, options);
    // The paper and its tool rank whatever they find.
    if (region.explained || options.preset != "default")
      for (const ResourceFigures& resource : region.resources)
        if (resource.rsm >= min_shown)
          print(resource, region);
    if (region.explained)
      print_rest(region);
    print_collinear(region);
    print_left_out(region);
    for (const Suggestion& suggestion : region.suggestions)
      paragraph(fmt::format("try {} ({}): ", suggestion.label, suggestion.resource),
                suggestion.action +
                    (suggestion.reason.empty() ? " (no profile to check it on)" : ": " + suggestion.reason));
    if (region.suggestions.size() > 1)
      paragraph("", "one change at a time, and measure again after each", &Style::dim);
  }

  void print_verdict(const RegionSignificance& region, const ExplainOptions& options) {
    const std::string figures = fmt::format("R2 {:.2f}, Q2 {:.2f}, {} draws, seed {}", region.r2, region.q2,
                                            region.draws, options.seed);
    if (region.explained)
      line("explained: " + figures + "; correlation, not cause");
    else
      paragraph("not explained: ", "these counters do not explain the target (" + figures + ")",
                &Style::warm);
    if (region.target_is_modelled)
      paragraph("",
                "the target is modelled: it says which lines and levels make the modelled figure grow; why a "
                "time grows needs measured times (--measured)",
                &Style::dim);
    if (region.few_runs)
      paragraph("few runs: ",
                options.workload.empty()
                    ? fmt::format("{} say little; 8 are the least to rely on", region.runs.size())
                    : "a workload has fewer than 8, which say little",
                &Style::warm);
  }

  void print(const ResourceFigures& resource, const RegionSignificance& region) {
    const std::size_t names = width_for(region.resources, &ResourceFigures::name), figures = names + 28;
    std::string row = "  " + pad_right(name_of_group(resource.name), names);
    row += resource.significant
               ? fmt::format("{:.2f}±{:.2f}{}", resource.rsm, half_width_errors * resource.standard_error,
                             text_of_interval(resource.runs95))
               : fmt::format("{:.2f}", resource.rsm);
    if (!resource.significant) {
      line(style_.dim(pad_right(row, figures) +
                      fmt::format("not significant (not above {:.2f})", region.null95)));
      return;
    }
    row = pad_right(row, figures);
    std::size_t shown = 0;
    for (const CounterFigures& counter : resource.counters)
      if (counter.reduction >= min_shown_counter && shown++ < max_shown_names)
        row += fmt::format("{} {:.2f}   ", printable(short_name(counter)), counter.reduction);
    line(cut(row, width_));
  }

  void print_rest(const RegionSignificance& region) {
    std::vector<std::string> rest;
    for (const ResourceFigures& resource : region.resources)
      if (resource.rsm < min_shown)
        rest.push_back(resource.name);
    if (!rest.empty())
      paragraph(fmt::format("below {}: ", min_shown), some_of(rest), &Style::dim);
  }

  void print_collinear(const RegionSignificance& region) {
    for (const auto& set : region.collinear) {
      std::string names;
      for (std::size_t i = 0; i < std::min(set.counters.size(), max_shown_names); ++i)
        names += (i == 0 ? "" : " ~ ") + set.counters[i];
      if (set.counters.size() > max_shown_names)
        names += fmt::format(" ~ {} more", set.counters.size() - max_shown_names);
      paragraph("collinear: ", fmt::format("{} ({:.4f}): the split among them is by lot", names, set.cosine));
    }
  }

  void print_left_out(const RegionSignificance& region) {
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
      paragraph("left out: ", text, &Style::dim);
    if (!region.other.empty())
      paragraph("of no known resource: ", some_of(region.other), &Style::dim);
  }

  void print(const Comparison& comparison, const ExplainOptions& options) {
    begin(fmt::format("{} → {}: {} run{}, target {} {:.4g} → {:.4g} in all", comparison.base,
                      comparison.optimised, comparison.runs, comparison.runs == 1 ? "" : "s",
                      options.target.name, comparison.base_target, comparison.optimised_target));
    if (comparison.swapped)
      paragraph("", "swapped: the second one is slower", &Style::warm);
    if (comparison.error) {
      paragraph("not compared: ", *comparison.error, &Style::warm);
      return;
    }
    paragraph(
        "", fmt::format("the gain is predicted with Q2 {:.2f} from what the faster one does more of, {:.2f} "
                        "from what it does less of",
                        comparison.up_q2, comparison.down_q2));
    for (const Comparison::Bar& bar : comparison.bars) {
      std::string row =
          "  " +
          pad_right(name_of_group(bar.resource), width_for(comparison.bars, &Comparison::Bar::resource)) +
          pad_right(fmt::format("{:+.2f}{}", bar.bar(), text_of_interval(bar.runs95)), 24) +
          fmt::format("its counters {}", bar.change ? fmt::format("{:+.0f} %", 100 * *bar.change) : "from 0");
      if (!bar.significant)
        row = style_.dim(row + "   not significant");
      line(cut(row, width_));
    }
    paragraph(
        "",
        fmt::format("above 0: the faster one does more of it where it gains; below: less. A difference of "
                    "significances, not an amount. Significant: beyond ±{:.2f}, which chance reaches in 5 "
                    "of 100, with a Q2 of 0.5; in brackets: over other draws of the runs",
                    comparison.null95),
        &Style::dim);
  }

  void print(const Similarity& similarity) {
    begin(fmt::format("{} like {}", similarity.a, similarity.b));
    if (similarity.figures.empty())
      paragraph("", "no resource has two counters in common, which is the least to compare", &Style::dim);
    for (const Similarity::Figure& figure : similarity.figures) {
      line(cut("  " +
                   pad_right(name_of_group(figure.resource),
                             width_for(similarity.figures, &Similarity::Figure::resource)) +
                   fmt::format("{:.2f}   significance {:.2f}", figure.similarity, figure.rsm),
               width_));
    }
  }

  std::size_t width_;
  Style style_;
  std::string text_;
};

} // namespace

std::string print_significance_text(const Significance& significance, const TextOptions& options) {
  return SignificanceText(options).print(significance);
}

std::string print_significance_json(const Significance& significance) {
  return to_json(significance).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
