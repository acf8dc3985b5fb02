#include "report/warp_time_text.h"

#include "result/figure_text.h"
#include "result/names.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <vector>

namespace warplens::report {
namespace {

constexpr double notable_state = 0.01; // of the time of all the kernel's warps
constexpr double notable_line = 0.02;  // likewise
constexpr std::size_t printed_lines = 6;
constexpr unsigned bar_width = 8;

double share_of_line(const LineTime& line) {
  return std::accumulate(line.states.begin(), line.states.end(), 0.0);
}

} // namespace

std::string text_of_states(const ByState& states) {
  std::vector<std::size_t> order(states.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t state) { return states[state]; });
  std::vector<std::string> parts;
  for (const std::size_t state : order)
    if (states[state] >= notable_state)
      parts.push_back(fmt::format("{} {}", name_of(WarpState(state)), share(states[state])));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<Stall> main_stall_at(const std::string& file, std::uint32_t line, const KernelResult& kernel) {
  for (const LineTime& time : kernel.lines) {
    if (time.file != file || time.line != line)
      continue;
    const auto first = time.states.begin() + 1; // behind `selected`
    const auto most = std::max_element(first, time.states.end());
    if (*most > 0)
      return Stall{WarpState(most - time.states.begin()), *most};
  }
  return std::nullopt;
}

std::string print_warp_time(const KernelResult& kernel, std::size_t width) {
  std::vector<const LineTime*> lines;
  for (const LineTime& line : kernel.lines)
    if (share_of_line(line) >= notable_line)
      lines.push_back(&line);
  std::ranges::stable_sort(lines, std::ranges::greater(),
                           [](const LineTime* line) { return share_of_line(*line); });
  lines.resize(std::min(lines.size(), printed_lines));
  std::size_t place_width = 0;
  std::vector<std::string> places;
  for (const LineTime* line : lines) {
    const std::string file = printable(std::filesystem::path(line->file).filename().string());
    places.push_back(fmt::format("{}:{}", cut(file, 30), line->line));
    place_width = std::max(place_width, width_of(places.back()));
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double time_share = share_of_line(*lines[i]);
    std::string before =
        fmt::format("{} %  {}  {}  ", pad_left(share(time_share), 5),
                    pad_right(bar(time_share / share_of_line(*lines.front()), bar_width), bar_width),
                    pad_right(places[i], place_width));
    const std::size_t indent = width_of(before);
    for (const std::string& states : wrapped(text_of_states(lines[i]->states), width - indent)) {
      text += before + states + "\n";
      before.assign(indent, ' ');
    }
  }
  return text;
}

} // namespace warplens::report
