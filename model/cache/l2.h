// An L2, or one of its partitions. It is write-back and has lines of 128 bytes with four sectors, or blocks
// of 32 bytes. Sectors that were written in part have a mask of their bytes.
#pragma once

#include "model/cache/cache.h"
#include "model/snapshot/snapshot.h"
#include "vocabulary/geometry.h"

#include <unordered_map>

namespace warplens::model {

/// Kind of a request. No warp waits for a `store_of_update`, and it counts in the totals only; so does a
/// write-back of an L1.
enum class L2Kind : std::uint8_t { load, store, atomic, store_of_update };

/// The outcome of one request, as sectors of its line.
struct L2Outcome {
  unsigned hits = 0;
  unsigned fetched = 0; ///< read from memory
  unsigned updated = 0; ///< written to memory at once
};

/// The properties of an L2 for which a loop over its requests is compiled.
enum class L2Form {
  sectors, ///< lines whose sectors are valid in full or not at all, and are fetched one by one
  blocks,  ///< blocks that are valid in full or not at all
  any,     ///< lines or blocks, with sectors that may be valid in part or be fetched together with others
};

class L2 {
public:
  /// All of the L2, as if it had one partition.
  explicit L2(const Gpu& gpu, const SetAside& set_aside = {}) : L2(gpu, gpu.l2_bytes, 0, set_aside) {}
  /// One of the partitions. Of each pair of lines one belongs to either partition (slices.h), and both lie in
  /// one set: so a range of lines fills the sets evenly, whether all of it is there or those of one
  /// partition.
  static L2 partition_of(const Gpu& gpu, const SetAside& set_aside = {}) {
    return L2(gpu, gpu.l2_bytes / gpu.l2.partitions, gpu.l2.partitions - 1, set_aside);
  }

  /// Serves a request. `written` are the bytes that a store writes of the sectors; null: all of them. Calls
  /// `write_back(line, sectors, filled)` for dirty sectors of a victim; those in `filled` are read from
  /// memory before.
  template <class WriteBack>
  L2Outcome request(L2Kind kind, std::uint32_t line, unsigned sectors, const ByteMask* written,
                    WriteBack&& write_back) {
    return l2_.with_lines([&](auto& lines) {
      return request<PlainInstructions, L2Form::any>(lines, kind, lines.set_of(0, line), line, sectors,
                                                     written, write_back);
    });
  }
  template <class WriteBack> L2Outcome load(std::uint32_t line, unsigned sectors, WriteBack&& write_back) {
    return request(L2Kind::load, line, sectors, nullptr, write_back);
  }
  template <class WriteBack>
  L2Outcome store(std::uint32_t line, unsigned sectors, const ByteMask& written, WriteBack&& write_back) {
    return request(L2Kind::store, line, sectors, &written, write_back);
  }
  /// Serves an atomic: a load of the sectors, which reads missing ones from memory, and a store.
  template <class WriteBack> L2Outcome atomic(std::uint32_t line, unsigned sectors, WriteBack&& write_back) {
    return request(L2Kind::atomic, line, sectors, nullptr, write_back);
  }

  /// Returns the line's valid sectors.
  unsigned sectors_of(std::uint32_t line) const {
    return l2_.with_lines([&](auto& lines) {
      unsigned valid = 0;
      for (unsigned part = 0; part < (by_block_ ? sectors_per_line : 1); ++part)
        if (const LineState* state = lines.peek(part, line))
          valid |= *state & whole_line;
      return valid;
    });
  }
  /// Makes sectors of a line invalid. They must be clean.
  void invalidate(std::uint32_t line, unsigned sectors) {
    l2_.with_lines([&](auto& lines) {
      if (LineState* const state = lines.peek(0, line))
        *state = LineState(*state & ~sectors);
    });
  }

  /// Lets the line be the next victim of its set.
  void evict_first(std::uint32_t line) {
    l2_.with_lines([&](auto& lines) {
      for (unsigned part = 0; part < (by_block_ ? sectors_per_line : 1); ++part)
        lines.make_oldest(part, line);
    });
  }

  /// Returns the maximum number of lines that one request evicts.
  unsigned max_evicted() const { return by_block_ ? sectors_per_line : 1; }

  // The same for loops over many requests, which find the line's set themselves.

  template <class Work> decltype(auto) with_lines(Work&& work) const { return l2_.with_lines(work); }
  /// Returns what with_lines() does, which is of this type.
  template <class Lines> const Lines& lines_as() const { return l2_.lines_as<Lines>(); }

  /// Returns the form for the loops. `masks`: there will be stores of parts of sectors.
  L2Form form(bool masks) const {
    const bool parts = (masks && partial_writes_ != PartialWrites::whole) || !masks_.empty();
    if (fetch_sectors_ != 1 || parts)
      return L2Form::any;
    return by_block_ ? L2Form::blocks : L2Form::sectors;
  }

  /// Serves a request. `form`: as form() returns.
  template <class Instructions, L2Form form, class Lines, class WriteBack>
  [[gnu::always_inline]] L2Outcome request(const Lines& lines, L2Kind kind, std::uint32_t set,
                                           std::uint32_t line, unsigned sectors, const ByteMask* written,
                                           WriteBack&& write_back) {
    constexpr bool parts = form == L2Form::any;
    const auto visit = [&](unsigned visited, auto&& change) __attribute__((always_inline)) {
      this->visit<Instructions, form>(lines, set, line, visited, write_back, change);
    };
    switch (kind) {
    case L2Kind::load: {
      L2Outcome result;
      visit(sectors, [&](LineState state, unsigned part_sectors) {
        return read_part<parts>(line, state, part_sectors, result);
      });
      result.fetched |= sectors & ~result.hits;
      return result;
    }
    case L2Kind::atomic: {
      L2Outcome result;
      visit(sectors, [&](LineState state, unsigned part_sectors) {
        return LineState(read_part<parts>(line, state, part_sectors, result) | part_sectors << written_shift |
                         part_sectors << dirty_shift);
      });
      result.fetched |= sectors & ~result.hits;
      return result;
    }
    default: {
      L2Outcome result;
      const unsigned part = parts ? part_of(sectors, written) : 0;
      visit(sectors, [&](LineState state, unsigned part_sectors) {
        if (stores_ == L2Stores::allocate) {
          result.hits |= part_sectors & state;
          if (parts && (part | unsigned(state >> partial_shift)) != 0) [[unlikely]]
            state = write_part(line, state, sectors, part, written, result);
          return LineState(state | part_sectors | part_sectors << dirty_shift);
        }
        const unsigned hits = part_sectors & (state >> written_shift);
        const unsigned misses = part_sectors & ~hits;
        result.hits |= hits;
        result.updated |= misses;
        return LineState(state | misses | misses << written_shift | hits << dirty_shift);
      });
      return result;
    }
    }
  }

  template <L2Form form, class Lines>
  void prefetch(const Lines& lines, std::uint32_t set, unsigned sectors) const {
    if (!is_by_block(form))
      return lines.prefetch(set);
    for (unsigned left = sectors; left != 0; left &= left - 1)
      lines.prefetch(set + unsigned(std::countr_zero(left)) * lines.sets_per_part());
  }

private:
  /// `neighbours`: lines in one set, as a power of two, which lie next to each other.
  L2(const Gpu& gpu, std::uint64_t bytes, unsigned neighbours, const SetAside& set_aside)
      : stores_(gpu.l2.stores), partial_writes_(gpu.l2.partial_writes),
        fetch_sectors_(gpu.l2.fetch_bytes / sector_bytes), by_block_(gpu.l2.line_bytes == sector_bytes),
        // A block's set is its number modulo the number of sets, a multiple of four: sector s of a line
        // shares its set with sectors s of other lines only. So blocks of 32 bytes are four caches side by
        // side, each indexed by the line.
        l2_(cache(gpu, bytes, neighbours, set_aside)) {}
  static L2Cache cache(const Gpu& gpu, std::uint64_t bytes, unsigned neighbours, const SetAside& set_aside) {
    const std::uint32_t parts = gpu.l2.line_bytes == sector_bytes ? sectors_per_line : 1;
    const auto aside_bytes = std::uint64_t(set_aside.share * double(bytes));
    std::uint32_t sets = sets_in(bytes - aside_bytes, gpu.l2.usable, gpu.l2.ways);
    SetIndex index(sets, gpu.l2.index, neighbours);
    if (gpu.l2.early_usable != 0) {
      const std::uint64_t half = (bytes - aside_bytes) / 2;
      const std::uint32_t early = sets_in(half, gpu.l2.early_usable, gpu.l2.ways);
      const std::uint32_t late = sets_in(half, gpu.l2.usable, gpu.l2.ways);
      index = SetIndex::with_halves(early, late, neighbours);
      sets = early + late;
    }
    if (set_aside.lines == 0)
      return {index, sets, gpu.l2.ways, parts};
    const std::uint32_t aside = sets_in(aside_bytes, std::min(gpu.l2.usable, 1.0), gpu.l2.ways);
    return {index.with_set_aside(set_aside, sets, aside), sets + aside, gpu.l2.ways, parts};
  }

  bool is_by_block(L2Form form) const { return form == L2Form::blocks || (form == L2Form::any && by_block_); }

  // State, four bits each for the sectors that are valid, brought in by a write, dirty, and valid in part
  // only.
  static constexpr unsigned written_shift = 4, dirty_shift = 8, partial_shift = 12;

  /// Returns the state after a read of the sectors, and adds its hits to the result, and the sectors to be
  /// fetched besides those that miss.
  template <bool parts>
  LineState read_part(std::uint32_t line, LineState state, unsigned sectors, L2Outcome& result) {
    if (!parts || (fetch_sectors_ == 1 && state >> partial_shift == 0)) [[likely]] {
      result.hits |= sectors & state;
      return LineState(state | sectors);
    }
    const unsigned there = state & ~(state >> partial_shift) & whole_line;
    const unsigned missing = sectors & ~there;
    const unsigned fetched = promoted(missing) & ~there;
    result.hits |= sectors & there;
    result.fetched |= fetched;
    return with_incomplete(line, state | sectors | fetched, state >> partial_shift & ~fetched);
  }

  /// Returns all sectors of the aligned groups that are fetched with these.
  unsigned promoted(unsigned sectors) const {
    const unsigned group = (1u << fetch_sectors_) - 1;
    unsigned all = 0;
    for (unsigned at = 0; at < sectors_per_line; at += fetch_sectors_)
      if ((sectors & group << at) != 0)
        all |= group << at;
    return all;
  }

  static unsigned whole_sectors(const ByteMask& mask) {
    constexpr std::uint64_t one = 0xffff'ffff;
    return unsigned((mask[0] & one) == one) | unsigned((mask[0] >> 32) == one) << 1 |
           unsigned((mask[1] & one) == one) << 2 | unsigned((mask[1] >> 32) == one) << 3;
  }

  /// Returns the sectors that a store writes in part only; none where this L2 does not track that.
  unsigned part_of(unsigned sectors, const ByteMask* written) const {
    if (written == nullptr || partial_writes_ == PartialWrites::whole)
      return 0;
    return sectors & ~whole_sectors(*written);
  }

  /// Returns the state, except for validity, after a store that writes `part` of the sectors by the mask and
  /// the others in full.
  LineState write_part(std::uint32_t line, LineState state, unsigned sectors, unsigned part,
                       const ByteMask* written, L2Outcome& result) {
    unsigned incomplete = (state >> partial_shift) & ~(sectors & ~part);
    const unsigned fresh = part & ~state;
    if (partial_writes_ == PartialWrites::fetch) {
      result.fetched |= fresh;
      return state;
    }
    const unsigned masked = part & (fresh | incomplete);
    if (masked != 0) {
      ByteMask& bytes = masks_[line];
      for (unsigned sector = 0; sector < sectors_per_line; ++sector) {
        const std::uint64_t sector_mask = std::uint64_t{0xffff'ffff} << sector % 2 * sector_bytes;
        if (fresh >> sector & 1)
          bytes[sector / 2] &= ~sector_mask;
        if (masked >> sector & 1)
          bytes[sector / 2] |= (*written)[sector / 2] & sector_mask;
      }
      incomplete = (incomplete | masked) & ~whole_sectors(bytes);
    }
    return with_incomplete(line, state, incomplete);
  }

  /// Returns the state in which only the sectors in `incomplete` need their masks.
  LineState with_incomplete(std::uint32_t line, unsigned state, unsigned incomplete) {
    if (incomplete == 0 && state >> partial_shift != 0)
      masks_.erase(line);
    return LineState((state & ~(whole_line << partial_shift)) | incomplete << partial_shift);
  }

  /// Accesses each part that holds some of the sectors; `change(state, sectors)` returns its new state.
  template <class Instructions, L2Form form, class Lines, class WriteBack, class Change>
  [[gnu::always_inline]] void visit(const Lines& lines, std::uint32_t set, std::uint32_t line,
                                    unsigned sectors, WriteBack&& write_back, Change&& change) {
    constexpr bool parts = form == L2Form::any;
    if (!is_by_block(form))
      return visit_set<Instructions, parts>(lines, set, line, sectors, write_back, change);
    for (unsigned left = sectors; left != 0; left &= left - 1)
      visit_set<Instructions, parts>(lines, set + unsigned(std::countr_zero(left)) * lines.sets_per_part(),
                                     line, left & -left, write_back, change);
  }
  template <class Instructions, bool parts, class Lines, class WriteBack, class Change>
  [[gnu::always_inline]] void visit_set(const Lines& lines, std::uint32_t set, std::uint32_t line,
                                        unsigned sectors, WriteBack& write_back, Change& change) {
    lines.template access_in<Instructions>(
        set, line, [&](LineState state) { return change(state, sectors); },
        [&](std::uint32_t evicted, LineState state) {
          const unsigned dirty = state >> dirty_shift;
          if (dirty == 0)
            return;
          const unsigned incomplete = parts ? dirty >> sectors_per_line : 0;
          if (incomplete != 0) [[unlikely]]
            masks_.erase(evicted);
          write_back(evicted, dirty & whole_line, partial_writes_ == PartialWrites::fill ? incomplete : 0);
        });
  }

  L2Stores stores_;
  PartialWrites partial_writes_;
  unsigned fetch_sectors_; ///< at once
  bool by_block_;
  L2Cache l2_;
  std::unordered_map<std::uint32_t, ByteMask> masks_; ///< of lines with sectors that are valid in part
};

} // namespace warplens::model
