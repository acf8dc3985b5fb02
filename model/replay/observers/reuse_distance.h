// Reuse distances: the number of distinct other lines between an access to a line and the previous access to
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// Computes exact distances in logarithmic time: each line has a mark at the position of its latest access,
/// and the distance is the number of marks behind the line's own (Bennett and Kruskal, "LRU stack
/// processing", 1975), counted by a Fenwick tree. Memory is in proportion to the distinct lines: positions
/// without a mark are squeezed out.
class ReuseDistances {
public:
  /// Returns the distance of an access; empty for the line's first one.
  std::optional<std::uint32_t> access(std::uint32_t line);

private:
  void squeeze();
  void change(std::uint32_t position, int by);
  std::uint32_t marks_until(std::uint32_t position) const; ///< that position included

  std::unordered_map<std::uint32_t, std::uint32_t> latest_; ///< line → position
  std::vector<std::uint32_t> tree_; ///< [i]: the number of marks in (i − lowest bit of i, i]
  std::uint32_t next_ = 1;
};

} // namespace warplens::model
