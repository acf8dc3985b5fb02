#include "judge/threshold.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace warplens::judge {
namespace {

class Parser {
public:
  explicit Parser(const std::string& text) : text_(text) {}

  Expected<Threshold> parse() {
    Threshold threshold;
    threshold.text = text_;
    skip_blanks();
    const std::size_t start = at_;
    const std::string_view word = take_while([](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '.';
    });
    threshold.total = word.starts_with("total.");
    const auto& known = threshold.total ? total_figures() : site_figures();
    const auto figure = std::ranges::find(known, word.substr(threshold.total ? 6 : 0));
    if (figure == known.end())
      return unknown_figure(word, start);
    threshold.figure = *figure;
    skip_blanks();
    const char sign = at_ < text_.size() ? text_[at_] : '\0';
    if (sign != '<' && sign != '>')
      return expected("<, <=, > or >=");
    ++at_;
    const bool or_equal = at_ < text_.size() && text_[at_] == '=';
    at_ += or_equal;
    using enum Threshold::Comparison;
    threshold.comparison = sign == '<' ? (or_equal ? at_most : less) : (or_equal ? at_least : greater);
    skip_blanks();
    if (at_ + 1 < text_.size() && text_[at_] == '+' && text_[at_ + 1] != '-')
      ++at_;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), threshold.limit);
    if (problem != std::errc() || !std::isfinite(threshold.limit))
      return expected("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    skip_blanks();
    threshold.relative = at_ < text_.size() && text_[at_] == '%';
    at_ += threshold.relative;
    skip_blanks();
    if (at_ != text_.size())
      return expected(threshold.relative ? "the end" : "% or the end");
    return threshold;
  }

private:
  void skip_blanks() {
    take_while([](char c) { return c == ' ' || c == '\t'; });
  }

  template <class Predicate> std::string_view take_while(Predicate predicate) {
    const std::size_t start = at_;
    while (at_ < text_.size() && predicate(text_[at_]))
      ++at_;
    return std::string_view(text_).substr(start, at_ - start);
  }

  tl::unexpected<Error> expected(const char* what) const {
    return fail("'{}', character {}: expected {}", text_, at_ + 1, what);
  }

  tl::unexpected<Error> unknown_figure(std::string_view word, std::size_t start) const {
    if (std::ranges::find(total_figures(), word) != total_figures().end())
      return fail("'{}', character {}: {} is a total: write total.{}", text_, start + 1, word, word);
    return fail("'{}', character {}: expected a figure: {}; or total. and one of {}", text_, start + 1,
                fmt::join(site_figures(), ", "), fmt::join(total_figures(), ", "));
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

/// Returns the difference in the threshold's unit: in percent of the value before (infinite if that is 0), or
/// absolute.
double measured(const Threshold& threshold, const FigureChange& change) {
  const double difference = change.difference();
  if (!threshold.relative || difference == 0)
    return difference;
  return change.before == 0 ? std::copysign(std::numeric_limits<double>::infinity(), difference)
                            : 100 * difference / std::abs(change.before);
}

bool is_exceeded(const Threshold& threshold, const FigureChange& change) {
  const double value = measured(threshold, change);
  switch (threshold.comparison) {
  case Threshold::Comparison::less: return value < threshold.limit;
  case Threshold::Comparison::at_most: return value <= threshold.limit;
  case Threshold::Comparison::greater: return value > threshold.limit;
  case Threshold::Comparison::at_least: return value >= threshold.limit;
  }
  return false;
}

bool has_figure(const KernelResult& kernel, const Threshold& threshold) {
  if (threshold.total)
    return std::ranges::find(kernel_metrics(), threshold.figure, &KernelMetric::name)
        ->value(kernel)
        .has_value();
  const auto value = std::ranges::find(site_metrics(), threshold.figure, &SiteMetric::name)->value;
  return std::ranges::any_of(kernel.sites, [&](const SiteResult& site) { return value(site).has_value(); });
}

/// Returns the end of an error message: which of the two results has the figure; empty if neither has.
std::string only_side_with(const Threshold& threshold, const Difference& difference) {
  for (const KernelChange& kernel : difference.kernels) {
    const bool before = has_figure(*kernel.before, threshold), after = has_figure(*kernel.after, threshold);
    if (before != after)
      return fmt::format(": only the one {} has it", before ? "before" : "after");
  }
  return "";
}

} // namespace

Expected<Threshold> parse_threshold(const std::string& text) {
  return Parser(text).parse();
}

Expected<std::vector<Failure>> failures_in(const Difference& difference,
                                           const std::vector<Threshold>& thresholds) {
  std::vector<Failure> failures;
  for (const Threshold& threshold : thresholds) {
    bool checked = false;
    const auto check = [&](const KernelChange& kernel, const SiteChange* site,
                           const std::vector<FigureChange>& changes) {
      const auto change = std::ranges::find(changes, threshold.figure, &FigureChange::figure);
      if (change == changes.end())
        return;
      checked = true;
      if (change->is_beyond_interval() && is_exceeded(threshold, *change))
        failures.push_back({&threshold, &kernel, site, &*change});
    };
    for (const KernelChange& kernel : difference.kernels) {
      if (threshold.total)
        check(kernel, nullptr, kernel.totals);
      else
        for (const SiteChange& site : kernel.sites)
          check(kernel, &site, site.figures);
    }
    if (!checked)
      return fail("nothing that is in both results has the figure of --fail-if '{}'{}", threshold.text,
                  only_side_with(threshold, difference));
  }
  return failures;
}

} // namespace warplens::judge
