#include "driver/live_table.h"

#include "support/display_name.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace warplens::driver {
namespace {

constexpr std::size_t max_lines = 12; ///< fewer than any terminal has

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

std::string time_text(const model::TrialProgress& progress) {
  if (!progress.microseconds)
    return "…";
  const double mean = progress.microseconds->mean;
  const double half = (progress.microseconds->spread95[1] - progress.microseconds->spread95[0]) / 2;
  const auto [unit, name] = mean >= 1000 ? std::pair(1000.0, "ms") : std::pair(1.0, "µs");
  return fmt::format("{:.3g} ± {:.2g} {}", mean / unit, half / unit, name);
}

} // namespace

std::string live_line(const model::TrialProgress& progress, std::size_t width) {
  const auto percent = [](const char* name, const std::optional<double>& share) {
    return share ? fmt::format("  {} {:.0f} %", name, 100 * *share) : std::string();
  };
  std::string figures = fmt::format(" on {}  {}{}{}", progress.gpu, time_text(progress),
                                    percent("L1", progress.l1_hits), percent("L2", progress.l2_hits));
  figures += progress.divisor == 1 ? fmt::format("  trial {} of at most {}", progress.done, progress.most)
                                   : fmt::format("  first answer, by 1/{} of the GPU", progress.divisor);
  constexpr std::size_t fewest = 12; // columns of a name
  const std::size_t left = width > figures.size() + fewest ? width - figures.size() : fewest;
  return "  " + display_name(progress.kernel, left - 2) + figures;
}

LiveTable::LiveTable(bool quiet) : is_shown_(!quiet && isatty(STDERR_FILENO) != 0) {}

LiveTable::~LiveTable() {
  hide();
}

/// Leaves the cursor in the stage's own line.
void LiveTable::hide() {
  if (drawn_ == 0)
    return;
  std::fputs(fmt::format("\r\033[{}A\033[J\033[1A", drawn_).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = 0;
}

void LiveTable::show(const model::TrialProgress& progress) {
  if (!is_shown_)
    return;
  lines_[progress.number] = live_line(progress, terminal_width() - 1);
  draw();
}

/// Rewrites the lines in place; the cursor stays below them.
void LiveTable::draw() {
  std::string text = drawn_ == 0 ? "\n" : fmt::format("\r\033[{}A", drawn_);
  text += "\033[J"; // what is below
  std::size_t drawn = 0;
  for (auto line = lines_.begin(); line != lines_.end() && drawn < max_lines; ++line, ++drawn)
    text += line->second + "\n";
  if (lines_.size() > max_lines) {
    text += fmt::format("  and {} more\n", lines_.size() - max_lines);
    ++drawn;
  }
  drawn_ = drawn;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

} // namespace warplens::driver
