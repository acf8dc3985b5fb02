#include "report/legend.h"

#include "support/terminal_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace warplens::report {
namespace {

constexpr std::size_t label_width = 14;

std::string entry(std::string_view label, const std::string& text, std::size_t width) {
  std::string lines;
  for (const std::string& part : wrapped(text, width - label_width)) {
    lines += without_trailing_blanks(pad_right(label, label_width) + part) + "\n";
    label = "";
  }
  return lines;
}

bool any(const Result& result, bool (*has)(const KernelResult&)) {
  return std::ranges::any_of(result.kernels, has);
}

} // namespace

std::string print_legend(const Result& result, const TextOptions& options, std::size_t width) {
  if (!any(result, [](const KernelResult& kernel) { return kernel.snapshot.warp_accesses != 0; }))
    return "";
  const bool has_time = any(result, [](const KernelResult& kernel) { return kernel.time.has_value(); });
  std::string text = "\n" + Style(options.colour).bold("Legend") + "\n";
  const auto add = [&](std::string_view label, const std::string& what) {
    text += entry(label, what, width);
  };
  add("±",
      "two standard deviations over the trials: how much the unknown order, and what is not known of the "
      "machine, matter; where none is shown, it rounds away; it knows nothing of the model's own error, "
      "which stands under accuracy");
  if (has_time) {
    add("busy", "share of the launch's time in which the busiest one of its kind (an SM's pipe, a channel of "
                "DRAM) works at the rate that it can reach; \"of peak\" is against the rate on paper");
    add("roofline",
        "the launch's own time and the longest of: bytes of DRAM, sectors of the L2, instructions of "
        "each pipe and of the issue, each at the rate that it can reach");
  }
  const auto columns = options.columns.empty() ? default_columns(result.kernels) : options.columns;
  for (const Column* column : columns) {
    const std::string heading =
        fmt::format("{}{}{}", column->heading, column->heading.ends_with('/') ? "" : " ", column->unit);
    add(heading, std::string(column->metric.meaning));
  }
  if (has_time)
    add("» and states", "lines are ranked by the time that they cost: their part in the work of the busiest "
                        "resource while it works, and in the other stalls of warps; states are attributed to "
                        "the stalled instruction, which is behind the line that it waits for");
  return text;
}

} // namespace warplens::report
