#include "lowering/progress.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <unistd.h>

namespace warplens::lowering {

namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Shortens a symbol: template arguments make names of thousands of characters.
std::string short_name(const std::string& symbol) {
  constexpr std::size_t longest = 100;
  std::string name = llvm::demangle(symbol);
  if (name.size() > longest)
    name.replace(longest - 1, std::string::npos, "…");
  return name;
}

} // namespace

Progress::Progress(std::string subject, bool times, std::FILE* out, double patience_seconds)
    : subject_(std::move(subject)), times_(times), out_(out), patience_(patience_seconds),
      watcher_([this] { watch(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_condition_.notify_all();
  watcher_.join();
  if (times_)
    print_times();
}

void Progress::expect(std::size_t kernels) {
  const std::lock_guard lock(mutex_);
  expected_ = kernels;
}

void Progress::watch() {
  constexpr double max_seconds_between = 60;
  std::unique_lock lock(mutex_);
  for (double next = patience_; !ended_; next += std::min(next, max_seconds_between)) {
    const auto at = begin_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(next));
    if (ended_condition_.wait_until(lock, at, [this] { return ended_; }))
      return;
    const char* over_unfinished_line = isatty(fileno(out_)) ? "\r\033[K" : "";
    std::fputs(fmt::format("{}{}\n", over_unfinished_line, status(next)).c_str(), out_);
    std::fflush(out_);
  }
}

std::string Progress::status(double seconds) const {
  std::string text =
      fmt::format("warplens: {}: compiling for the CPU back end for {:g} s", subject_, seconds);
  if (expected_)
    text += fmt::format(", {} of {} kernels done", done_, expected_);
  const Track* oldest = nullptr;
  for (const Track* track : running_)
    if (track->step_ && !track->item_.empty() && (!oldest || track->begin_ < oldest->begin_))
      oldest = track;
  if (!oldest && !running_.empty())
    oldest = running_.front();
  if (oldest && oldest->step_)
    text += fmt::format("; {}{}{} ({} instructions)", oldest->step_, oldest->item_.empty() ? "" : " of ",
                        short_name(oldest->item_), oldest->instructions_);
  return text;
}

void Progress::print_times() const {
  std::string text = fmt::format("{:>8} {:>8} {:>9}  step\n", "CPU s", "wall s", "instrs");
  for (const Row& row : rows_)
    text += fmt::format("{:8.2f} {:8.2f} {:9}  {}{}{}\n", row.cpu, row.wall, row.instructions, row.step,
                        row.item.empty() ? "" : ": ", short_name(row.item));
  std::fputs(text.c_str(), stderr);
}

Progress::Track::Track(Progress& progress, std::string item, std::size_t kernels)
    : progress_(progress), item_(std::move(item)), kernels_(kernels) {
  const std::lock_guard lock(progress_.mutex_);
  progress_.running_.push_back(this);
}

Progress::Track::~Track() {
  const std::lock_guard lock(progress_.mutex_);
  end();
  progress_.running_.remove(this);
  progress_.done_ += kernels_;
}

void Progress::Track::next(const char* step, std::uint64_t instructions) {
  const std::lock_guard lock(progress_.mutex_);
  end();
  step_ = step;
  instructions_ = instructions;
  cpu_begin_ = thread_cpu_seconds();
  begin_ = std::chrono::steady_clock::now();
}

void Progress::Track::end() {
  if (step_)
    progress_.rows_.push_back(
        {item_, step_, instructions_, since(begin_), thread_cpu_seconds() - cpu_begin_});
  step_ = nullptr;
}

} // namespace warplens::lowering
