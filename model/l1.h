// The L1 of one SM: write-through, so a line that leaves it is simply forgotten.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"

namespace warplens::model {

class L1 {
public:
  L1(const Gpu& gpu, std::uint32_t bytes)
      : lines_(sets_in(bytes, gpu.l1.usable, gpu.l1.ways), gpu.l1.ways, gpu.l1.index), stores_(gpu.l1.stores),
        sectored_(gpu.l1.sectored) {}

  /// A load's sectors that are not there, which it brings in. Without sectors a miss brings in the line's
  /// four.
  unsigned load(std::uint32_t line, unsigned sectors) {
    if (!sectored_)
      sectors = whole_line;
    const Cache::Outcome outcome = lines_.access(line);
    *outcome.state = Cache::State(outcome.before | sectors);
    return sectors & ~unsigned(outcome.before);
  }

  /// How many lookups those sectors count as.
  unsigned lookups(unsigned sectors) const { return sectored_ ? sector_count(sectors) : sectors != 0; }

  /// The data goes on to the L2 in any case, and never brings a line in.
  void store(std::uint32_t line) {
    if (stores_ == L1Stores::update_on_hit)
      lines_.use(line);
  }

private:
  Cache lines_; ///< state: valid sectors
  L1Stores stores_;
  bool sectored_;
};

} // namespace warplens::model
