#include "runtime/cpu/execution/snapshot_windows.h"

#include <algorithm>
#include <cmath>

namespace warplens::cpu {
namespace {

constexpr std::uint64_t scouts_of_part = 8;
/// Scouts must differ by this share from the blocks that were recorded, and by this many standard errors.
constexpr double share_of_other_work = 0.1, errors_of_other_work = 2;
/// Fewer scouts than these say nothing.
constexpr std::uint64_t min_scouts = 3;

std::uint64_t min_of_window(const runtime::SnapshotGoal& goal) {
  return std::max<std::uint64_t>(1, goal.min_blocks / 4);
}

/// Returns whether the mean of scouts is another one than that of recorded blocks.
bool is_other(double scouts, double squared, double count, double recorded) {
  const double mean = scouts / count;
  const double variance = std::max(0.0, squared / count - mean * mean) / std::max(1.0, count - 1);
  const double apart = std::abs(mean - recorded);
  return apart > share_of_other_work * recorded && apart > errors_of_other_work * std::sqrt(variance);
}

} // namespace

void SnapshotWindows::Work::add(const trace::LaunchWork& work) {
  ++blocks;
  accesses += double(work.accesses);
  accesses_squared += double(work.accesses) * double(work.accesses);
  lines += double(work.lines);
  lines_squared += double(work.lines) * double(work.lines);
}

void SnapshotWindows::Work::add(const Work& other) {
  blocks += other.blocks;
  accesses += other.accesses;
  accesses_squared += other.accesses_squared;
  lines += other.lines;
  lines_squared += other.lines_squared;
}

/// Returns whether the block belongs to the window; else the window ends before it at the latest.
bool SnapshotWindows::Window::admits(std::uint64_t block) {
  if (block < end && !(is_full && block - first >= min_blocks))
    return true;
  end = std::min(end, block);
  return false;
}

SnapshotWindows::SnapshotWindows(std::uint64_t blocks, const runtime::SnapshotGoal& goal)
    : blocks_(blocks), goal_(goal), is_recorded_(true) {
  windows_.push_back(
      {0, std::min(blocks, goal.max_blocks), goal.min_blocks, goal.enough_accesses, goal.max_records});
}

SnapshotWindows::SnapshotWindows(std::uint64_t blocks) : blocks_(blocks), is_recorded_(false) {
  plan(0);
}

SnapshotWindows::Role SnapshotWindows::admit(std::uint64_t block) {
  if (is_recorded_ && !first_is_full_.load(std::memory_order_acquire) && block < goal_.max_blocks)
    return Role::recorded;
  const auto is_dull = [&](const Part* part) {
    return part != nullptr && !is_scout(*part, block) && !may_be_recorded(*part, block);
  };
  if (is_planned_.load(std::memory_order_acquire) && is_dull(part_of(block)))
    return Role::untraced;
  const std::lock_guard lock(mutex_);
  if (is_recorded_ && windows_.front().admits(block))
    return Role::recorded;
  if (!is_planned_.load(std::memory_order_relaxed))
    plan(block);
  Part* const part = part_of(block);
  if (part == nullptr)
    return Role::untraced;
  if (may_be_recorded(*part, block)) {
    if (part->state == Part::Window::undecided)
      decide(*part, block);
    if (part->state == Part::Window::open && block >= windows_.back().first) {
      if (windows_.back().admits(block))
        return Role::recorded;
      part->state = Part::Window::none;
    }
  }
  return is_scout(*part, block) ? Role::counted : Role::untraced;
}

/// Divides the blocks from `first` on into parts.
void SnapshotWindows::plan(std::uint64_t first) {
  if (first < blocks_ && !goal_.is_exact) {
    const std::uint64_t rest = blocks_ - first, min_blocks = min_of_window(goal_);
    // A part has room for two windows, or the rest is one part.
    part_count_ = is_recorded_ ? std::clamp<std::uint64_t>(rest / (2 * min_blocks), 1, max_parts) : max_parts;
    spacing_ = std::max<std::uint64_t>(1, rest / (part_count_ * scouts_of_part));
    for (std::size_t i = 0; i < part_count_; ++i) {
      Part& part = parts_[i];
      part.begin = first + rest * i / part_count_;
      part.end = first + rest * (i + 1) / part_count_;
      part.window = part.begin + (part.end - part.begin - std::min(part.end - part.begin, min_blocks)) / 2;
    }
  }
  is_planned_.store(true, std::memory_order_release);
}

/// Returns the part in which the block lies; null: it lies before all.
SnapshotWindows::Part* SnapshotWindows::part_of(std::uint64_t block) {
  Part* found = nullptr;
  for (std::size_t i = 0; i < part_count_ && parts_[i].begin <= block; ++i)
    found = &parts_[i];
  return found;
}

/// Scouts lie at random in their spaces: a row of the grid may have a last block that does less, and a space
/// that is a multiple of rows would always or never meet it.
bool SnapshotWindows::is_scout(const Part& part, std::uint64_t block) const {
  constexpr std::uint64_t mix = 0x9e3779b97f4a7c15; // Knuth's multiplicative hash
  const std::uint64_t number = block - part.begin, space = part.begin / spacing_ + number / spacing_;
  return number % spacing_ == ((space + 1) * mix >> 32) % spacing_;
}

bool SnapshotWindows::may_be_recorded(const Part& part, std::uint64_t block) const {
  return is_recorded_ && block >= part.window &&
         part.state.load(std::memory_order_relaxed) != Part::Window::none;
}

void SnapshotWindows::decide(Part& part, std::uint64_t block) {
  if (!scouts_differ()) {
    part.state = Part::Window::none;
    return;
  }
  part.state = Part::Window::open;
  windows_.push_back({block, part.end, min_of_window(goal_), goal_.enough_accesses / (part_count_ + 1),
                      goal_.max_records / (part_count_ + 1)});
  scouts_ = {};
}

/// Returns whether the scouts since the last window have done other work than its blocks.
bool SnapshotWindows::scouts_differ() const {
  const Work& recorded = windows_.back().work;
  if (recorded.blocks == 0 || scouts_.blocks < min_scouts)
    return false;
  const auto count = double(scouts_.blocks), blocks = double(recorded.blocks);
  return is_other(scouts_.accesses, scouts_.accesses_squared, count, recorded.accesses / blocks) ||
         is_other(scouts_.lines, scouts_.lines_squared, count, recorded.lines / blocks);
}

trace::LaunchWork SnapshotWindows::Work::mean() const {
  const double count = std::max(1.0, double(blocks));
  return {std::uint64_t(std::llround(accesses / count)), std::uint64_t(std::llround(lines / count))};
}

void SnapshotWindows::ended(std::uint64_t block, Role role, const std::optional<trace::LaunchWork>& work,
                            std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  if (role == Role::counted) {
    scouts_.add(*work);
    all_scouts_.add(*work);
    return;
  }
  const auto window = std::ranges::upper_bound(windows_, block, {}, &Window::first) - 1;
  window->ended.emplace(block - window->first, Ended{work, records});
  add_ended(*window);
  first_is_full_.store(windows_.front().is_full || windows_.front().is_cut, std::memory_order_release);
}

/// Adds the blocks that have no gap before them: the rest of the window may yet be cut off. Where the limit
/// of records ends a window follows from these blocks alone, however many cores there are.
void SnapshotWindows::add_ended(Window& window) {
  auto next = window.ended.begin();
  for (; !window.is_cut && next != window.ended.end() && next->first == window.work.blocks; ++next) {
    const bool is_too_long = next->second.records > goal_.max_records;
    has_part_of_block_ |= is_too_long && window.first + next->first == 0;
    window.records += next->second.records;
    if (!is_too_long || has_part_of_block_)
      window.work.add(next->second.work.value_or(window.work.mean()));
    if (window.records < window.max_records)
      continue;
    window.is_cut = window.first + window.work.blocks < window.end;
    window.end = std::min(window.end, window.first + window.work.blocks);
  }
  window.ended.erase(window.ended.begin(), next);
  window.is_full = window.work.accesses >= double(window.enough_accesses);
}

std::uint64_t SnapshotWindows::first_blocks() const {
  const std::lock_guard lock(mutex_);
  return windows_.empty() ? 0 : windows_.front().blocks();
}

std::vector<trace::BlockWindow> SnapshotWindows::further_windows() {
  const std::lock_guard lock(mutex_);
  std::vector<trace::BlockWindow> windows;
  std::uint64_t end = blocks_;
  // Parts without a window are like those that the window before them stands for.
  for (std::size_t i = windows_.size(); i-- > 1;) {
    const std::uint64_t begin = part_of(windows_[i].first)->begin;
    if (windows_[i].blocks() == 0)
      continue;
    windows.push_back({windows_[i].first, windows_[i].blocks(), end - begin});
    end = begin;
  }
  std::ranges::reverse(windows);
  return windows;
}

bool SnapshotWindows::is_cut() const {
  const std::lock_guard lock(mutex_);
  return has_part_of_block_ || std::ranges::any_of(windows_, &Window::is_cut);
}

bool SnapshotWindows::has_part_of_block() const {
  const std::lock_guard lock(mutex_);
  return has_part_of_block_;
}

trace::LaunchWork SnapshotWindows::of_launch() const {
  const std::lock_guard lock(mutex_);
  Work seen;
  for (const Window& window : windows_)
    seen.add(window.work);
  const Work& others = all_scouts_.blocks != 0 ? all_scouts_ : seen;
  if (others.blocks == 0)
    return {};
  const double rest = double(blocks_) - double(seen.blocks);
  const auto of_all = [&](double recorded, double of_others) {
    return std::uint64_t(std::llround(recorded + rest * of_others / double(others.blocks)));
  };
  return {of_all(seen.accesses, others.accesses), of_all(seen.lines, others.lines)};
}

} // namespace warplens::cpu
