// The rows of a bank of memory that are opened once for several lines.
#pragma once

#include "model/gpu/gpu.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace warplens::model {

constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

/// A channel's scheduler holds requests, and serves those of a row that is open before others ("first-ready":
/// Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling, ISCA 2000). So a row that one read
/// opens also serves the reads that arrive for it while that one is held.
class RowsInView {
public:
  /// Four times the 64 requests that Accel-Sim's configurations of V100 and A100 hold, each a line: then a
  /// row serves three of the four words that one store of lanes 256 bytes apart has in it, as its time says.
  static constexpr unsigned sectors = 1024;

  struct Row {
    std::uint32_t number = no_row;
    std::uint64_t until = 0; ///< when what it was opened for is served
  };

  /// Returns the row if it is held since then, or null.
  Row* held(std::uint32_t number, std::uint64_t since) {
    const auto row = std::ranges::find(rows_, number, &Row::number);
    return row != rows_.end() && row->until >= since ? &*row : nullptr;
  }
  /// Opens a row, in the place of the one that was opened first.
  void open(std::uint32_t number, std::uint64_t until) {
    auto row = std::ranges::find(rows_, number, &Row::number);
    if (row == rows_.end())
      row = rows_.begin() + next_++ % rows_.size();
    *row = {number, until};
  }

private:
  std::array<Row, 16> rows_;
  std::uint32_t next_ = 0;
};

/// A page-stream sorter collects what is dirty in the L2 by its row of DRAM, and writes a row's lines
/// together (Edmondson, Roberts: US patent 8,341,358, NVIDIA 2012). So a row is opened once for all of its
/// lines that are written while it is collected, whatever else is written between them.
class RowsWritten {
public:
  /// Returns how many rows of a bank are collected, of which the patent names no number: what half of the L2
  /// holds, as the other half is read.
  static std::size_t collected(const Gpu& gpu) {
    const std::uint64_t banks = std::uint64_t{gpu.dram.channels} * gpu.dram.banks;
    return std::max<std::uint64_t>(4, gpu.l2_bytes / (2 * gpu.dram.row_bytes * banks));
  }

  explicit RowsWritten(std::size_t rows) : numbers_(rows, no_row) {}

  bool contains(std::uint32_t number) const { return std::ranges::find(numbers_, number) != numbers_.end(); }
  /// Opens a row that is not contained, in the place of the one that was opened first.
  void open(std::uint32_t number) {
    numbers_[next_] = number;
    next_ = next_ + 1 == numbers_.size() ? 0 : next_ + 1;
  }

private:
  std::vector<std::uint32_t> numbers_;
  std::size_t next_ = 0;
};

} // namespace warplens::model
