#include "judge/accuracy_text.h"
#include "report/brief.h"
#include "result/figure_text.h"
#include "result/names.h"
#include "result/resources.h"
#include "support/terminal_text.h"

#include <cmath>
#include <fmt/ranges.h>

namespace warplens::report {
namespace {

constexpr std::size_t label_width = 11;

/// Returns lines of the width, the first of which begins with the label.
std::string field(std::string_view label, const std::string& value) {
  std::string text;
  for (const std::string& part : wrapped(value, brief_width - label_width)) {
    text += pad_right(label, label_width) + part + "\n";
    label = "";
  }
  return text;
}

std::string limit(const BriefKernel& kernel) {
  if (kernel.limiter.empty())
    return "not known: " + kernel.reasons.at("limiter");
  if (!kernel.busy)
    return fmt::format("the {}: {}", kernel.limiter, kernel.reasons.at("busy"));
  return fmt::format("{}{}, {} % busy: at most {} % less time for the same work", kernel.limiter,
                     kernel.limiter == kernel.busiest ? "" : "; busiest: " + kernel.busiest,
                     share(kernel.busy), share(kernel.headroom()));
}

std::string gain_of(const Gain& gain) {
  return fmt::format("{:+.0f} ± {:.0f} % of the time", 100 * gain.share, 100 * gain.half_width);
}

std::string text_of(const BriefKernel& kernel) {
  std::string text = fmt::format("{} on {}\n", kernel.name, kernel.gpu);
  text += field("time", !kernel.microseconds
                            ? "not known: " + kernel.reasons.at("microseconds")
                            : fmt::format("{}{}; {}", duration(*kernel.microseconds),
                                          kernel.is_extrapolated ? ", extrapolated from the snapshot" : "",
                                          kernel.time_note));
  text += field("limited by", limit(kernel));
  if (const auto& roofline = kernel.roofline)
    text += field("roofline",
                  fmt::format("at least {}{}; the launch takes {}; DRAM {} of the launch, {} % of peak",
                              duration(Statistic{.mean = roofline->microseconds}),
                              roofline->by.empty() ? "" : " by " + roofline->by, roofline->text,
                              bytes(roofline->dram_bytes), share(roofline->dram_share_of_peak)));
  std::string_view label = "lines";
  for (const BriefLine& line : kernel.lines) {
    const std::string stall =
        line.stall.empty() ? "" : fmt::format("  {} {} %", line.stall, share(line.stall_share));
    text += pad_right(label, label_width) +
            fmt::format("{} %  {}  {}{}\n", share(line.share), line.place, line.expression, stall);
    label = "";
  }
  label = "findings";
  for (const BriefFinding& finding : kernel.findings) {
    const std::string gain = finding.gain ? gain_of(*finding.gain) + ": " : "";
    text += field(label, fmt::format("{}  {}{}", finding.place, gain, finding.text));
    label = "";
  }
  return text;
}

std::string text_of_all(const Brief& brief) {
  std::string text;
  for (const BriefKernel& kernel : brief.kernels)
    text += text_of(kernel);
  if (brief.kernels.empty() && brief.kernels_left_out == 0)
    text += "No kernel was traced.\n";
  std::string_view label = "caveats";
  for (const std::string& note : brief.not_modelled) {
    text += field(label, note);
    label = "";
  }
  if (brief.kernels_left_out != 0 || brief.notes_left_out != 0)
    text += field("left out", fmt::format("{} kernels and {} notes, for want of room", brief.kernels_left_out,
                                          brief.notes_left_out));
  return text;
}

} // namespace

std::string print_brief_text(const Result& result, const std::vector<Suggestion>& suggestions) {
  return fitted(brief_of(result, suggestions), [](const Brief& brief) { return text_of_all(brief); });
}

} // namespace warplens::report
