#include "report/gate_picture.h"

#include "report/gate_report.h"
#include "report/versus_text.h"
#include "support/display_name.h"
#include "support/html_text.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using judge::GateEntry;
using judge::GateVerdict;

/// Colours that differ in brightness too, and stand on white.
constexpr const char *slower_colour = "#b42318", *faster_colour = "#1a7f37", *unsure_colour = "#9a6700",
                     *recorded_colour = "#8c959f", *text_colour = "#1f2328", *dim_colour = "#59636e";

/// Sizes in pixels: text is 12 high.
constexpr double picture_width = 760, picture_margin = 16, names_width = 250, values_width = 150,
                 row_height = 50, bar_height = 14, head_height = 62, foot_height = 46;
constexpr double bars_left = picture_margin + names_width,
                 bars_width = picture_width - bars_left - values_width - picture_margin;

constexpr std::size_t max_pictured = 20;
/// Bars beyond this multiple of the recorded time are cut: beside a longer one the others would all look
/// alike.
constexpr double max_multiple = 4;

const char* colour_of(const GateEntry& entry) {
  switch (entry.verdict) {
  case GateVerdict::worse: return slower_colour;
  case GateVerdict::better: return faster_colour;
  default: return unsure_colour;
  }
}

/// Returns whether its time was compared and is not the same.
bool has_moved(const GateEntry& entry) {
  return entry.speed && entry.speed->change && entry.speed->before_us > 0 &&
         entry.verdict != GateVerdict::same && entry.verdict != GateVerdict::equal;
}

std::string text_at(double x, double y, const char* colour, std::string_view text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>{}</text>\n", x, y, colour, more,
                     html_text(text));
}

std::string line_between(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1,
                     y1, x2, y2, colour);
}

std::string bar_at(double y, double length, const char* colour) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                     bars_left, y, length, bar_height, colour);
}

/// Draws rows of bars along one axis of multiples of the recorded time.
class GatePicture {
public:
  explicit GatePicture(const judge::Gate& gate) {
    for (const GateEntry& entry : gate.entries)
      if (has_moved(entry) && ++moved_ <= max_pictured)
        rows_.push_back(&entry);
    for (const GateEntry* entry : rows_)
      axis_end_ = std::max(axis_end_, std::min(1.1 * (1 + entry->speed->change->high), max_multiple));
    summary_ = gate_summary(gate);
  }

  std::string draw() const {
    const double bottom = head_height + row_height * static_cast<double>(rows_.size());
    const double height = bottom + (rows_.empty() ? 0 : foot_height);
    std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                                  "height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
                                  "role=\"img\" aria-label=\"{2}\" font-family=\"system-ui, 'DejaVu Sans', "
                                  "sans-serif\" font-size=\"12\">\n"
                                  "<title>{2}</title>\n"
                                  "<rect width=\"{0}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#ffffff\"/>\n",
                                  picture_width, height, html_text(summary_));
    svg += text_at(picture_margin, 26, text_colour,
                   moved_ == 0 ? "No kernel's time moved" : "Kernels whose time moved",
                   " font-size=\"15\" font-weight=\"600\"");
    svg += text_at(picture_margin, 46, dim_colour, cut(summary_, 104));
    if (rows_.empty())
      return svg + "</svg>\n";
    svg += axis(bottom);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      svg += row(*rows_[i], head_height + row_height * static_cast<double>(i));
    std::string foot = "time as a multiple of the recorded one; whisker: 95 % interval of the change";
    if (moved_ > rows_.size())
      foot += fmt::format("; {} more kernels moved", moved_ - rows_.size());
    return svg + text_at(picture_margin, bottom + 36, dim_colour, foot) + "</svg>\n";
  }

private:
  double place(double multiple) const {
    return bars_left + bars_width * std::min(multiple, axis_end_) / axis_end_;
  }

  std::string axis(double bottom) const {
    std::string svg;
    const double step = axis_end_ > 2 ? 1 : axis_end_ > 1.5 ? 0.5 : 0.25;
    for (double multiple = 0; multiple <= axis_end_; multiple += step) {
      svg += line_between(place(multiple), head_height, place(multiple), bottom, "#d1d9e0");
      svg += text_at(place(multiple), bottom + 15, dim_colour, fmt::format("{:g}×", multiple),
                     " text-anchor=\"middle\" font-size=\"11\"");
    }
    return svg;
  }

  std::string row(const GateEntry& entry, double top) const {
    const judge::RelativeChange& change = *entry.speed->change;
    const RecordedKernel& kernel = entry.kernel();
    std::string name = display_name(printable(kernel.kernel));
    if (kernel.number > 1)
      name += fmt::format(" (launch {})", kernel.number);
    const double before_top = top + 9, now_top = before_top + bar_height + 3;
    const double values_left = bars_left + bars_width + 10;
    std::string svg =
        text_at(picture_margin, before_top + 11, text_colour, cut(name, 34), " font-weight=\"600\"");
    svg += text_at(picture_margin, now_top + 11, dim_colour,
                   fmt::format("{}, {}{}", printable(kernel.gpu), text_of(entry.verdict),
                               entry.waiver != nullptr ? ", waived" : ""));
    svg += bar_at(before_top, place(1) - bars_left, recorded_colour);
    svg += bar_at(now_top, place(1 + change.share) - bars_left, colour_of(entry));
    svg += whisker(1 + change.low, 1 + change.high, now_top + bar_height / 2);
    const std::string change_text = 1 + change.share > max_multiple
                                        ? fmt::format("{:.3g}×", 1 + change.share)
                                        : fmt::format("{:+.1f} %", 100 * change.share);
    svg += text_at(values_left, before_top + 11, dim_colour, time_text(entry.speed->before_us));
    svg +=
        text_at(values_left, now_top + 11, colour_of(entry),
                fmt::format("{}, {}", time_text(entry.speed->after_us), change_text), " font-weight=\"600\"");
    return svg;
  }

  /// Draws the interval; one that ends beyond the axis has no end there.
  std::string whisker(double low, double high, double y) const {
    if (low > axis_end_)
      return text_at(place(axis_end_) - 14, y + 4, "#ffffff", "▶");
    std::string svg = line_between(place(low), y, place(high), y, text_colour);
    for (const double end : {low, high})
      if (end <= axis_end_)
        svg += line_between(place(end), y - 4, place(end), y + 4, text_colour);
    return svg;
  }

  std::vector<const GateEntry*> rows_;
  std::size_t moved_ = 0;
  double axis_end_ = 1.1;
  std::string summary_;
};

/// Returns the badge's colour, by what a gate's exit code says.
const char* badge_colour(judge::GateOutcome outcome) {
  switch (outcome) {
  case judge::GateOutcome::holds: return faster_colour;
  case judge::GateOutcome::worse: return slower_colour;
  case judge::GateOutcome::outdated: return "#0969da";
  case judge::GateOutcome::cannot_say: return unsure_colour;
  }
  return unsure_colour;
}

/// Returns about how wide a text of 11 pixels is, in pixels. The badge forces its text to this width.
double text_width(std::string_view text) {
  return 6.1 * static_cast<double>(width_of(text));
}

constexpr const char* badge_label = "warplens";

} // namespace

std::string draw_gate(const judge::Gate& gate) {
  return GatePicture(gate).draw();
}

std::string badge_text(const judge::Gate& gate) {
  constexpr std::array<std::pair<GateVerdict, const char*>, 5> words = {{{GateVerdict::better, "faster"},
                                                                         {GateVerdict::worse, "slower"},
                                                                         {GateVerdict::cannot_say, "unclear"},
                                                                         {GateVerdict::is_new, "new"},
                                                                         {GateVerdict::removed, "removed"}}};
  std::vector<std::string> gpus, texts;
  for (const GateEntry& entry : gate.entries)
    if (std::ranges::find(gpus, entry.kernel().gpu) == gpus.end())
      gpus.push_back(entry.kernel().gpu);
  std::ranges::sort(gpus); // a baseline has them in the order of its programs
  for (const std::string& gpu : gpus) {
    std::vector<std::string> parts;
    for (const auto& [verdict, word] : words)
      if (const auto count = std::ranges::count_if(gate.entries,
                                                   [&, wanted = verdict](const GateEntry& entry) {
                                                     return entry.kernel().gpu == gpu &&
                                                            entry.verdict == wanted;
                                                   });
          count != 0)
        parts.push_back(fmt::format("{} {}", count, word));
    texts.push_back(fmt::format("{}: {}", printable(gpu),
                                parts.empty() ? "unchanged" : fmt::format("{}", fmt::join(parts, ", "))));
  }
  return texts.empty() ? "no kernels" : fmt::format("{}", fmt::join(texts, "; "));
}

std::string draw_badge(const judge::Gate& gate) {
  const std::string text = badge_text(gate);
  const double label_width = text_width(badge_label) + 12, value_width = text_width(text) + 12;
  const auto label = [](double left, std::string_view words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"14\" textLength=\"{:.1f}\">{}</text>\n", left + 6,
                       text_width(words), html_text(words));
  };
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"20\" role=\"img\" "
      "aria-label=\"{1}: {2}\">\n"
      "<title>{1}: {2}</title>\n"
      "<clipPath id=\"r\"><rect width=\"{0:.0f}\" height=\"20\" rx=\"3\"/></clipPath>\n"
      "<g clip-path=\"url(#r)\">\n"
      "<rect width=\"{3:.1f}\" height=\"20\" fill=\"#555555\"/>\n"
      "<rect x=\"{3:.1f}\" width=\"{4:.1f}\" height=\"20\" fill=\"{5}\"/>\n"
      "</g>\n"
      "<g fill=\"#ffffff\" font-family=\"Verdana, 'DejaVu Sans', sans-serif\" font-size=\"11\">\n"
      "{6}{7}</g>\n</svg>\n",
      label_width + value_width, badge_label, html_text(text), label_width, value_width,
      badge_colour(gate.outcome), label(0, badge_label), label(label_width, text));
}

std::string badge_endpoint(const judge::Gate& gate) {
  const nlohmann::ordered_json json = {{"schemaVersion", 1},
                                       {"label", badge_label},
                                       {"message", badge_text(gate)},
                                       {"color", badge_colour(gate.outcome)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
