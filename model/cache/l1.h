// The L1 of one SM. It is write-through, so that a victim is simply discarded, except for local memory where
// the GPU writes that back.
#pragma once

#include "model/cache/cache.h"
#include "model/cache/uneven_cache.h"
#include "vocabulary/geometry.h"

namespace warplens::model {

/// The default for `write_back`: the launch does not store to local memory, or the GPU writes it through.
struct NoWriteback {
  void operator()(std::uint32_t, unsigned) const {}
};

class L1 {
public:
  L1(const Gpu& gpu, std::uint32_t bytes)
      : lines_(bytes, gpu.l1.early_usable, gpu.l1.usable, gpu.l1.ways, gpu.l1.index), stores_(gpu.l1.stores),
        min_sectors_(gpu.l1.sectored ? 0 : whole_line) {}

  /// Calls `work` with the lines, which the functions below take.
  template <class Work> decltype(auto) with_lines(Work&& work) const { return lines_.with_lines(work); }

  /// Loads the sectors, which must be those that looked_up() returns, and returns the missing ones, which it
  /// brings in. Calls `write_back(line, sectors)` with the victim's dirty sectors, those of local memory.
  template <class Instructions, class Lines, class WriteBack = NoWriteback>
  unsigned load(const Lines& lines, std::uint32_t line, unsigned sectors,
                WriteBack&& write_back = NoWriteback()) const {
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
  template <class WriteBack = NoWriteback>
  unsigned load(std::uint32_t line, unsigned sectors, WriteBack&& write_back = NoWriteback()) {
    return with_lines(
        [&](auto& lines) { return load<PlainInstructions>(lines, line, looked_up(sectors), write_back); });
  }

  /// The outcome of a load on a clock, as sectors of its line.
  struct Found {
    unsigned missing = 0; ///< brought in
    unsigned coming = 0;  ///< an earlier load has brought them in, and they may still be on their way
  };
  /// Does what load() does, and notes that the missing sectors are on their way.
  template <class Instructions, class Lines, class WriteBack = NoWriteback>
  Found load_on_clock(const Lines& lines, std::uint32_t line, unsigned sectors,
                      WriteBack&& write_back = NoWriteback()) const {
    Found found;
    lines.template access<Instructions>(
        0, line,
        [&](LineState state) {
          found.missing = sectors & ~unsigned(state);
          found.coming = sectors & unsigned(state) & unsigned(state) >> coming_shift;
          return LineState(state | sectors | found.missing << coming_shift);
        },
        with_dirty(write_back));
    return found;
  }
  /// Notes that these sectors of a line have arrived.
  template <class Lines> void have_arrived(const Lines& lines, std::uint32_t line, unsigned sectors) const {
    if (LineState* const state = lines.peek(0, line))
      *state = LineState(*state & ~(sectors << coming_shift));
  }

  /// Stores to local memory where the L1 keeps the data until the line is evicted. It allocates all of the
  /// sectors, or the line where there are no sectors, without a request to the L2: a warp's lanes lie next to
  /// each other.
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

  /// Stores by write-through: the data goes on to the L2 in any case. A miss brings a line in only where
  /// stores allocate: then the sectors are valid if the store writes them `whole`.
  template <class Instructions, class Lines>
  void store(const Lines& lines, std::uint32_t line, unsigned sectors, bool whole = true) const {
    if (stores_ == L1Stores::bypass)
      return;
    if (stores_ == L1Stores::allocate) {
      const unsigned written = whole ? sectors : 0;
      lines.template access<Instructions>(0, line,
                                          [written](LineState state) { return LineState(state | written); });
      return;
    }
    LineState* state = lines.peek(0, line);
    if (state == nullptr)
      return;
    if (stores_ == L1Stores::evict_on_hit)
      *state = LineState(*state & ~(sectors | min_sectors_));
    else
      lines.template access<Instructions>(0, line, [](LineState same) { return same; });
  }
  void store(std::uint32_t line, unsigned sectors, bool whole = true) {
    with_lines([&](auto& lines) { store<PlainInstructions>(lines, line, sectors, whole); });
  }

  /// Returns the sectors that a load of `sectors` looks up: all four of a line in an L1 without sectors.
  unsigned looked_up(unsigned sectors) const { return sectors | min_sectors_; }

private:
  static constexpr unsigned dirty_shift = 4, coming_shift = 8;

  /// Returns the `evict` function that writes a victim's dirty sectors back.
  template <class WriteBack> static auto with_dirty(WriteBack& write_back) {
    return [&write_back](std::uint32_t line, LineState state) {
      if (const unsigned dirty = state >> dirty_shift & whole_line; dirty != 0)
        write_back(line, dirty);
    };
  }

  CacheOfFile lines_; ///< state: four bits each for sectors that are valid, dirty, on their way
  L1Stores stores_;
  unsigned min_sectors_; ///< the sectors that every load looks up
};

} // namespace warplens::model
