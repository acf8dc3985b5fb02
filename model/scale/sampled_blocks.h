// The blocks of a snapshot that a part of the machine executes, and the lines that they share with the
// others.
#pragma once

#include "model/snapshot/snapshot.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace warplens::model {

inline constexpr std::uint32_t max_samples = 32;

/// The samples that access each line of a snapshot's blocks. A bit for each, the first is the sample
/// that is replayed.
class LineSharing {
public:
  explicit LineSharing(std::size_t pages) : samples_(pages << page_shift) {}

  void add(std::uint32_t line, std::uint32_t sample) { samples_[line] |= 1u << sample; }
  /// Returns the number of lines that some block accesses.
  std::uint64_t accessed() const { return samples_.size() - std::uint64_t(std::ranges::count(samples_, 0u)); }
  bool is_accessed(std::uint32_t line) const { return line < samples_.size() && samples_[line] != 0; }
  bool is_in_sample(std::uint32_t line) const { return line < samples_.size() && (samples_[line] & 1) != 0; }
  /// Calls visit(line, number of samples that access it) for the lines of the replayed sample, ascending.
  template <class Visit> void each_in_sample(Visit&& visit) const {
    for (std::uint32_t line = 0; line < samples_.size(); ++line)
      if ((samples_[line] & 1) != 0)
        visit(line, unsigned(std::popcount(samples_[line])));
  }

private:
  std::vector<std::uint32_t> samples_; ///< by line
};

struct SampledBlocks {
  Snapshot snapshot; ///< some of the blocks; it has the whole snapshot's sites, pages, masks and code
  LineSharing lines;
};

/// Divides each wave of `resident` blocks into `samples` runs of neighbours (1 to max_samples), and returns
/// the first run of the first wave, the second one of the second, and so on: a run keeps the neighbours that
/// share data, and the turns keep the wave's period from deciding which work is seen.
SampledBlocks sample_blocks(const Snapshot& snapshot, std::uint64_t resident, std::uint32_t samples);

} // namespace warplens::model
