// A set of sectors: a bitmap for each stretch of memory in which one of them lies.
#pragma once

#include "vocabulary/geometry.h"

#include <array>
#include <memory>
#include <vector>

namespace warplens::model {

class SectorSet {
public:
  /// Adds the line's sectors and returns those that are new.
  unsigned insert(std::uint32_t line, unsigned sectors) {
    const std::size_t stretch = line / stretch_lines;
    if (stretch >= stretches_.size())
      stretches_.resize(stretch + 1);
    if (!stretches_[stretch])
      stretches_[stretch] = std::make_unique<Stretch>();
    std::uint64_t& word = (*stretches_[stretch])[line % stretch_lines / lines_per_word];
    const unsigned shift = line % lines_per_word * sectors_per_line;
    const unsigned fresh = sectors & ~unsigned(word >> shift);
    word |= std::uint64_t{fresh} << shift;
    size_ += sector_count(fresh);
    return fresh;
  }

  std::uint64_t size() const { return size_; }

private:
  static constexpr std::uint32_t lines_per_word = 64 / sectors_per_line, stretch_lines = 1u << 14;
  using Stretch = std::array<std::uint64_t, stretch_lines / lines_per_word>;
  std::vector<std::unique_ptr<Stretch>> stretches_;
  std::uint64_t size_ = 0;
};

} // namespace warplens::model
