// The lines of device memory that a program used last before a launch, by copies and fills, and by earlier
// launches whose accesses are all in the trace.
#pragma once

#include "model/snapshot/snapshot.h"
#include "support/expected.h"
#include "trace/access_source.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// A line and its uses so far.
struct UsedLine {
  std::uint64_t line = 0; ///< address / 128
  unsigned read = 0;      ///< sectors, one bit each
  ByteMask written{};
  std::uint64_t when = 0;         ///< ordinal of the last use
  std::uint64_t written_when = 0; ///< of the last use that wrote; 0: none did
  bool is_evicted_first = false;  ///< as the last use asked for
};

/// Keeps the lines that were used last. Its memory is bounded by the number of lines.
class MemoryHistory {
public:
  explicit MemoryHistory(std::uint64_t max_lines) : max_lines_(max_lines) {}

  /// Adds the copies and fills between the previous launch and this one. Calls are in the trace's order of
  /// launches.
  void add_uses_before(const trace::AccessSource& trace, const trace::Launch& launch);
  /// Adds the accesses of the launch itself. The error reports a damaged trace.
  Expected<void> add_launch(const trace::AccessSource& trace, const trace::Launch& launch);

  /// Returns why earlier uses than those of the lines are unknown; empty: there were none.
  const std::string& unknown_before() const { return unknown_before_; }
  std::uint64_t lines() const { return lines_; }
  /// Returns at most this number of lines that were used last, in the order of their last uses.
  std::vector<UsedLine> latest(std::uint64_t lines) const;
  /// Returns the number of copies and fills that used the lines.
  std::uint64_t copies() const { return copies_; }
  std::uint64_t launches() const { return launches_; }

private:
  /// The lines in an element of the map: neighbouring lines are mostly used together.
  static constexpr unsigned lines_per_group = 16;
  struct Use {
    std::uint64_t when : 55 = 0; ///< 0: never
    std::uint64_t is_evicted_first : 1 = false;
    std::uint64_t read : 4 = 0, written : 4 = 0;
    std::uint64_t written_when = 0;
  };
  using Group = std::array<Use, lines_per_group>;

  void forget(std::string why);
  void add(const trace::MemoryUse& use);
  void add_piece(trace::MemoryUse::Kind kind, std::uint64_t address, std::uint64_t bytes);
  void add(const UsedLine& used);
  void forget_oldest();
  std::vector<std::uint64_t> times() const;

  std::uint64_t max_lines_;
  std::unordered_map<std::uint64_t, Group> groups_;
  std::unordered_map<std::uint64_t, ByteMask>
      parts_; ///< written bytes, of lines with sectors written in part
  std::uint64_t now_ = 0, lines_ = 0, copies_ = 0, launches_ = 0;
  std::string unknown_before_;
};

} // namespace warplens::model
