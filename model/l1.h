// The L1 of one SM: write-through, so a line that leaves it is simply forgotten.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"

namespace warplens::model {

class L1 {
public:
  L1(const Gpu& gpu, std::uint32_t bytes)
      : lines_(sets_in(bytes, gpu.l1.usable, gpu.l1.ways), gpu.l1.ways, gpu.l1.index), stores_(gpu.l1.stores),
        least_(gpu.l1.sectored ? 0 : whole_line) {}

  /// For the functions below: its lines.
  template <class Work> decltype(auto) with_lines(Work&& work) { return lines_.with_lines(work); }

  /// A load's sectors that are not there, which it brings in. Without sectors a miss brings in the line's
  /// four.
  template <class Instructions, class Lines>
  unsigned load(const Lines& lines, std::uint32_t line, unsigned sectors) const {
    sectors = looked_up(sectors);
    unsigned missing = 0;
    lines.template access<Instructions>(0, line, [&](LineState state) {
      missing = sectors & ~unsigned(state);
      return LineState(state | sectors);
    });
    return missing;
  }
  unsigned load(std::uint32_t line, unsigned sectors) {
    return with_lines([&](auto& lines) { return load<PlainInstructions>(lines, line, sectors); });
  }

  /// The data goes on to the L2 in any case, and never brings a line in.
  template <class Instructions, class Lines>
  void store(const Lines& lines, std::uint32_t line, unsigned sectors) const {
    if (stores_ == L1Stores::bypass)
      return;
    LineState* state = lines.peek(0, line);
    if (state == nullptr)
      return;
    if (stores_ == L1Stores::evict_on_hit)
      *state = LineState(*state & ~(sectors | least_));
    else
      lines.template access<Instructions>(0, line, [](LineState same) { return same; });
  }
  void store(std::uint32_t line, unsigned sectors) {
    with_lines([&](auto& lines) { store<PlainInstructions>(lines, line, sectors); });
  }

  /// What a load of these sectors looks up: without sectors, a line's four.
  unsigned looked_up(unsigned sectors) const { return sectors | least_; }
  /// Lookups are counted in sectors, or in lines where there are none.
  std::uint32_t lookups(std::uint32_t sectors) const {
    return least_ == 0 ? sectors : sectors / sectors_per_line;
  }

private:
  Cache lines_; ///< state: valid sectors
  L1Stores stores_;
  unsigned least_; ///< sectors that any load brings in
};

} // namespace warplens::model
