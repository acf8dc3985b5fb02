// The L1 of one SM: write-through, so a line that leaves it is simply forgotten, but for local memory where
// the GPU writes that back.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"
#include "model/uneven_cache.h"

namespace warplens::model {

/// Nothing is written back: the launch does not store to local memory, or the GPU writes it through.
struct NothingBack {
  void operator()(std::uint32_t, unsigned) const {}
};

class L1 {
public:
  L1(const Gpu& gpu, std::uint32_t bytes)
      : lines_(bytes, gpu.l1.early_usable, gpu.l1.usable, gpu.l1.ways, gpu.l1.index), stores_(gpu.l1.stores),
        least_(gpu.l1.sectored ? 0 : whole_line) {}

  /// For the functions below: its lines.
  template <class Work> decltype(auto) with_lines(Work&& work) { return lines_.with_lines(work); }

  /// A load's sectors that are not there, which it brings in, of those that looked_up() says. Calls
  /// `write_back(line, sectors)` with what it displaces of local memory that was stored to.
  template <class Instructions, class Lines, class WriteBack = NothingBack>
  unsigned load(const Lines& lines, std::uint32_t line, unsigned sectors,
                WriteBack&& write_back = NothingBack()) const {
    unsigned missing = 0;
    lines.template access<Instructions>(
        0, line,
        [&](LineState state) {
          missing = sectors & ~unsigned(state);
          return LineState(state | sectors);
        },
        with_dirty(write_back));
    return missing;
  }
  template <class WriteBack = NothingBack>
  unsigned load(std::uint32_t line, unsigned sectors, WriteBack&& write_back = NothingBack()) {
    return with_lines(
        [&](auto& lines) { return load<PlainInstructions>(lines, line, looked_up(sectors), write_back); });
  }

  /// A store to local memory that the L1 keeps until its line is displaced. It takes all of the sectors, or
  /// of the line where there are no sectors, without asking the L2: a warp's lanes lie next to each other.
  template <class Instructions, class Lines, class WriteBack>
  void store_back(const Lines& lines, std::uint32_t line, unsigned sectors, WriteBack&& write_back) const {
    sectors = looked_up(sectors);
    lines.template access<Instructions>(
        0, line, [&](LineState state) { return LineState(state | sectors | sectors << dirty_shift); },
        with_dirty(write_back));
  }
  template <class WriteBack> void store_back(std::uint32_t line, unsigned sectors, WriteBack&& write_back) {
    with_lines([&](auto& lines) { store_back<PlainInstructions>(lines, line, sectors, write_back); });
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

private:
  static constexpr unsigned dirty_shift = 4;

  /// What a cache is to call with what it displaces.
  template <class WriteBack> static auto with_dirty(WriteBack& write_back) {
    return [&write_back](std::uint32_t line, LineState state) {
      if (const unsigned dirty = state >> dirty_shift; dirty != 0)
        write_back(line, dirty);
    };
  }

  CacheOfFile lines_; ///< state: four bits valid sectors, four bits those to be written back
  L1Stores stores_;
  unsigned least_; ///< sectors that any load brings in
};

} // namespace warplens::model
