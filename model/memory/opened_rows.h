// The rows of a bank of memory that its channel's scheduler has in view.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace warplens::model {

/// A channel's scheduler holds requests, and serves those of a row that is open before others ("first-ready":
/// Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling, ISCA 2000). So a row that one request
/// opens also serves what arrives for it while that request is held.
class OpenedRows {
public:
  /// Accel-Sim's configurations of V100 and A100 have 64 requests in a channel's queue; here they are lines.
  static constexpr unsigned sectors_in_view = 256;

  struct Row {
    std::uint32_t number = none;
    std::uint64_t until = 0; ///< when what it was opened for is served; of rows to write, the batch's number
  };

  /// Returns the row if it is held since then, or null.
  Row* held(std::uint32_t number, std::uint64_t since) {
    for (Row& row : rows_)
      if (row.number == number)
        return row.until >= since ? &row : nullptr;
    return nullptr;
  }

  /// Opens a row, in the place of the one that was opened first.
  void open(std::uint32_t number, std::uint64_t until) {
    for (Row& row : rows_)
      if (row.number == number) {
        row.until = until;
        return;
      }
    rows_[next_++ % rows_.size()] = {number, until};
  }

private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// With 64 lines in view and 16 banks, there are four of a bank.
  std::array<Row, 4> rows_;
  std::uint32_t next_ = 0;
};

} // namespace warplens::model
