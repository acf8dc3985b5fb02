// Decides, while a launch runs, which of its blocks are recorded: the first ones until they have enough
// accesses, and windows across the rest of the grid where blocks do other work than those.
#pragma once

#include "runtime/host/recorder.h"
#include "trace/records.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace warplens::cpu {

/// Divides the blocks of a launch. Those that are not recorded are looked at by scouts: a few blocks whose
/// accesses are counted. A window in the middle of each seventh of the rest is recorded if the scouts before
/// it have done other work than the last blocks that were recorded. Any thread may call; blocks begin about
/// in the order of their numbers.
class SnapshotWindows {
public:
  /// `recorded`, `counted`: the block runs in its traced variant; its accesses go into the trace, or are
  /// only counted.
  enum class Role : std::uint8_t { recorded, counted, untraced };

  /// Divides a launch of `blocks` blocks that is traced.
  SnapshotWindows(std::uint64_t blocks, const runtime::SnapshotGoal& goal);
  /// Divides a launch that is only counted.
  explicit SnapshotWindows(std::uint64_t blocks);

  /// Returns what the block, which is about to run, is needed for.
  Role admit(std::uint64_t block);
  /// Records that an admitted block has ended, what it did, and how many records the trace has of it, or
  /// would have: no more than max_records() are wanted. `work`: empty if it was not observed; then it is
  /// taken to be that of the observed blocks before.
  void ended(std::uint64_t block, Role role, const std::optional<trace::LaunchWork>& work,
             std::uint64_t records = 0);
  std::uint64_t max_records() const { return goal_.max_records; }

  // For use after the launch:

  /// Returns the number of blocks that were recorded from the first on, without a gap.
  std::uint64_t first_blocks() const;
  /// Returns the windows behind these, ascending.
  std::vector<trace::BlockWindow> further_windows();
  /// Returns an estimate of the whole launch's work.
  trace::LaunchWork of_launch() const;
  /// Returns whether the limit of records ended a window before its goal.
  bool is_cut() const;
  /// Returns whether the first block alone has more records than the limit: only a part of it was recorded.
  bool has_part_of_block() const;

private:
  /// Sums over blocks.
  struct Work {
    std::uint64_t blocks = 0;
    double accesses = 0, accesses_squared = 0, lines = 0, lines_squared = 0;
    void add(const trace::LaunchWork& work);
    void add(const Work& other);
    trace::LaunchWork mean() const;
  };
  struct Ended {
    std::optional<trace::LaunchWork> work;
    std::uint64_t records = 0;
  };
  /// A run of blocks that is recorded until it has enough blocks and accesses.
  struct Window {
    std::uint64_t first = 0, end = 0; ///< `end`: the first block that is left out
    std::uint64_t min_blocks = 0, enough_accesses = 0, max_records = 0;
    bool is_full = false;
    bool is_cut = false; ///< by max_records, before its end
    std::uint64_t records = 0;
    Work work{};                            ///< and `records`: of the blocks that have ended, without a gap
    std::map<std::uint64_t, Ended> ended{}; ///< behind a gap, by number
    bool admits(std::uint64_t block);
    std::uint64_t blocks() const { return end - first; }
  };
  /// A part of the grid behind the first blocks, with a place for a window in its middle.
  struct Part {
    enum class Window : std::uint8_t { undecided, open, none }; ///< `none`: or it is complete
    std::uint64_t begin = 0, window = 0, end = 0;
    std::atomic<Window> state = Window::undecided;
  };
  static constexpr std::size_t max_parts = 7;

  void plan(std::uint64_t first);
  Part* part_of(std::uint64_t block);
  bool is_scout(const Part& part, std::uint64_t block) const;
  bool may_be_recorded(const Part& part, std::uint64_t block) const;
  void decide(Part& part, std::uint64_t block);
  void add_ended(Window& window);
  bool scouts_differ() const;

  const std::uint64_t blocks_;
  const runtime::SnapshotGoal goal_;
  const bool is_recorded_;
  std::atomic<bool> first_is_full_ = false;
  std::atomic<bool> is_planned_ = false; ///< what follows, but for the parts' states, changes no more
  std::array<Part, max_parts> parts_;
  std::size_t part_count_ = 0;
  std::uint64_t spacing_ = 1; ///< of scouts, in blocks

  mutable std::mutex mutex_; ///< guards all below, and the above until it is planned
  std::vector<Window> windows_;
  bool has_part_of_block_ = false;
  Work scouts_; ///< since the last window that was recorded
  Work all_scouts_;
};

} // namespace warplens::cpu
