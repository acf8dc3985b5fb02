// Which lines of device memory a program used last, before the launch that is to be modelled: by copies and
// fills, and by earlier launches whose accesses are all in the trace.
#pragma once

#include "model/snapshot.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// A line as its uses left it.
struct UsedLine {
  std::uint64_t line = 0; ///< address / 128
  unsigned read = 0;      ///< sectors, one bit each
  ByteMask written{};
  std::uint64_t when = 0; ///< the later, the larger
};

/// Bounded: only the latest lines are remembered.
class MemoryHistory {
public:
  explicit MemoryHistory(std::uint64_t most_lines) : most_lines_(most_lines) {}

  /// What the trace says of the time between the launch before and this one. Launches come in the trace's
  /// order.
  void go_to(const trace::Reader& trace, const trace::Launch& launch);
  /// The launch itself. The error tells of a damaged trace.
  Expected<void> pass(const trace::Reader& trace, const trace::Launch& launch);

  /// Why what was used before the first of the lines is not known; empty: nothing was.
  const std::string& unknown_before() const { return unknown_before_; }
  std::uint64_t lines() const { return lines_; }
  /// The last so many lines, the one used last at the end.
  std::vector<UsedLine> latest(std::uint64_t lines) const;
  /// How many copies, fills and launches used them.
  std::uint64_t copies() const { return copies_; }
  std::uint64_t launches() const { return launches_; }

private:
  /// Neighbouring lines are mostly used together.
  static constexpr unsigned lines_per_group = 16;
  struct Use {
    std::uint64_t when : 56 = 0; ///< 0: never
    std::uint64_t read : 4 = 0, written : 4 = 0;
  };
  using Group = std::array<Use, lines_per_group>;

  void forget(std::string why);
  void add(const trace::MemoryUse& use);
  void add_piece(trace::MemoryUse::Kind kind, std::uint64_t address, std::uint64_t bytes);
  void add(const UsedLine& used);
  void forget_oldest();
  std::vector<std::uint64_t> times() const;

  std::uint64_t most_lines_;
  std::unordered_map<std::uint64_t, Group> groups_;
  std::unordered_map<std::uint64_t, ByteMask> parts_; ///< written, of lines with sectors that are so in part
  std::uint64_t now_ = 0, lines_ = 0, copies_ = 0, launches_ = 0;
  std::string unknown_before_;
};

} // namespace warplens::model
