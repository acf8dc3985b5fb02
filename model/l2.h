// The L2, shared by all SMs: write-back. Lines of 128 bytes with four sectors, or blocks of 32 bytes. Where
// it has two partitions, each keeps copies of what the SMs next to it load or store; a store takes the copies
// of the other partition away, an atomic, which the L2 itself carries out, those of both. Sectors that were
// written in part have a mask of their bytes.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"
#include "model/snapshot.h"

#include <unordered_map>

namespace warplens::model {

/// What one request did, as sectors of its line.
struct L2Outcome {
  unsigned hits = 0;    ///< in the L2 as a whole, or as a copy
  unsigned far = 0;     ///< hits without a copy in the asker's partition
  unsigned fetched = 0; ///< read from memory
  unsigned updated = 0; ///< written to memory at once
};

class L2 {
public:
  explicit L2(const Gpu& gpu)
      : stores_(gpu.l2.stores), partial_writes_(gpu.l2.partial_writes),
        fetch_sectors_(gpu.l2.fetch_bytes / sector_bytes) {
    const std::uint32_t sets = sets_in(gpu.l2_bytes, gpu.l2.usable, gpu.l2.ways);
    // A block's set is its number modulo the number of sets, a multiple of four: sector s of every line only
    // ever meets sectors s of other lines. So blocks of 32 bytes are four caches side by side, each indexed
    // by the line.
    by_block_ = gpu.l2.line_bytes == sector_bytes;
    for (unsigned i = 0; i < (by_block_ ? sectors_per_line : 1); ++i)
      parts_.emplace_back(sets, gpu.l2.ways, gpu.l2.index);
    if (gpu.l2.partitions == 1)
      return;
    const auto copies_sets =
        sets_in(gpu.l2_bytes / gpu.l2.partitions, gpu.l2.copies.usable, gpu.l2.copies.ways);
    for (unsigned i = 0; i < gpu.l2.partitions; ++i)
      copies_.emplace_back(copies_sets, gpu.l2.copies.ways, gpu.l2.index);
  }

  /// `partition` is the asker's, 0 where there is only one. `write_back(line, sectors, filled)` is called for
  /// what must go to memory because it was displaced; `filled`: the sectors that memory is read for before.
  template <class WriteBack>
  L2Outcome load(std::uint32_t line, unsigned sectors, unsigned partition, WriteBack&& write_back) {
    if (copies_.empty())
      return load_whole(line, sectors, write_back);
    const unsigned near = sectors & take_copies(line, sectors, partition);
    if (near == sectors)
      return {near};
    L2Outcome result = load_whole(line, sectors & ~near, write_back);
    result.far = result.hits;
    result.hits |= near;
    return result;
  }

  /// `mask`: the bytes that are written, beside those there are in whole sectors.
  template <class WriteBack>
  L2Outcome store(std::uint32_t line, unsigned sectors, const ByteMask& mask, unsigned partition,
                  WriteBack&& write_back) {
    const unsigned part = partial_writes_ == PartialWrites::whole ? 0 : sectors & ~whole_sectors(mask);
    for (unsigned i = 0; i < copies_.size(); ++i)
      if (i != partition)
        drop_copies(line, sectors, i);
      else if (const unsigned whole = sectors & ~part; whole != 0)
        take_copies(line, whole, i);
    L2Outcome result;
    for_each_part(line, sectors, write_back, [&](Cache::State& state, unsigned part_sectors) {
      if (stores_ == L2Stores::allocate) {
        result.hits |= part_sectors & state;
        const unsigned incomplete = part == 0 && (state >> partial_shift) == 0
                                        ? 0
                                        : write_part(line, part_sectors, part, mask, state, result);
        state = Cache::State((state & ~(whole_line << partial_shift)) | part_sectors |
                             part_sectors << dirty_shift | incomplete << partial_shift);
        return;
      }
      const unsigned hits = part_sectors & (state >> written_shift);
      const unsigned misses = part_sectors & ~hits;
      state = Cache::State(state | misses | misses << written_shift | hits << dirty_shift);
      result.hits |= hits;
      result.updated |= misses;
    });
    return result;
  }

  /// A load of the sectors and a store: memory is read for what is not there.
  template <class WriteBack> L2Outcome atomic(std::uint32_t line, unsigned sectors, WriteBack&& write_back) {
    for (unsigned i = 0; i < copies_.size(); ++i)
      drop_copies(line, sectors, i);
    return read(line, sectors, sectors << written_shift | sectors << dirty_shift, write_back);
  }

  void prefetch(std::uint32_t line) const {
    for (const Cache& part : parts_)
      part.prefetch(line);
  }

  /// Asks the processor to fetch what a request for the line will need.
  void prefetch(std::uint32_t line, unsigned partition) const {
    for (const Cache& part : parts_)
      part.prefetch(line);
    if (!copies_.empty())
      copies_[partition].prefetch(line);
  }

private:
  template <class WriteBack>
  L2Outcome load_whole(std::uint32_t line, unsigned sectors, WriteBack& write_back) {
    return read(line, sectors, 0, write_back);
  }

  /// Sectors that are not there, or not whole, are fetched, and with them what is fetched at once. `marks` is
  /// what is added to the state.
  template <class WriteBack>
  L2Outcome read(std::uint32_t line, unsigned sectors, unsigned marks, WriteBack& write_back) {
    L2Outcome result;
    for_each_part(line, sectors, write_back, [&](Cache::State& state, unsigned part_sectors) {
      const unsigned there = state & ~(state >> partial_shift) & whole_line;
      const unsigned missing = part_sectors & ~there;
      const unsigned fetched = fetch_sectors_ == 1 ? missing : promoted(missing) & ~there;
      result.hits |= part_sectors & there;
      result.fetched |= fetched;
      if ((state >> partial_shift & fetched) != 0)
        complete(line, state >> partial_shift & ~fetched);
      state = Cache::State((state & ~(fetched << partial_shift)) | part_sectors | fetched |
                           (marks & part_sectors * each_nibble));
    });
    return result;
  }

  /// All sectors of the aligned groups that are fetched with these.
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

  /// Which sectors of the line are there in part once `part` of the `sectors` is written by the mask, the
  /// others whole.
  unsigned write_part(std::uint32_t line, unsigned sectors, unsigned part, const ByteMask& mask,
                      unsigned state, L2Outcome& result) {
    unsigned incomplete = (state >> partial_shift & whole_line) & ~(sectors & ~part);
    const unsigned fresh = part & ~state;
    if (partial_writes_ == PartialWrites::fetch) {
      result.fetched |= fresh;
      return 0;
    }
    const unsigned masked = part & (fresh | incomplete);
    if (masked != 0) {
      ByteMask& bytes = masks_[line];
      for (unsigned sector = 0; sector < sectors_per_line; ++sector) {
        const std::uint64_t of_sector = std::uint64_t{0xffff'ffff} << sector % 2 * sector_bytes;
        if (fresh >> sector & 1)
          bytes[sector / 2] &= ~of_sector;
        if (masked >> sector & 1)
          bytes[sector / 2] |= mask[sector / 2] & of_sector;
      }
      incomplete = (incomplete | masked) & ~whole_sectors(bytes);
    }
    complete(line, incomplete);
    return incomplete;
  }

  /// Only those sectors of the line still need their masks.
  void complete(std::uint32_t line, unsigned incomplete) {
    if (incomplete == 0)
      masks_.erase(line);
  }

  /// The copies there were of the line; those of the sectors are there from now on.
  unsigned take_copies(std::uint32_t line, unsigned sectors, unsigned partition) {
    Cache::State& state = *copies_[partition].access(line).state;
    const unsigned before = state;
    state = Cache::State(state | sectors);
    return before;
  }

  void drop_copies(std::uint32_t line, unsigned sectors, unsigned partition) {
    if (Cache::State* state = copies_[partition].peek(line))
      *state = Cache::State(*state & ~sectors);
  }

  // State: 4 bits valid, 4 bits brought in by a write, 4 bits dirty, 4 bits of which only some bytes are
  // there.
  static constexpr unsigned written_shift = 4, dirty_shift = 8, partial_shift = 12;
  static constexpr unsigned each_nibble = 0x1111;

  template <class WriteBack, class Visit>
  void for_each_part(std::uint32_t line, unsigned sectors, WriteBack& write_back, Visit&& visit) {
    if (!by_block_) {
      visit_part(parts_[0], line, sectors, write_back, visit);
      return;
    }
    for (unsigned left = sectors; left != 0; left &= left - 1)
      visit_part(parts_[unsigned(std::countr_zero(left))], line, left & -left, write_back, visit);
  }

  template <class WriteBack, class Visit>
  void visit_part(Cache& part, std::uint32_t line, unsigned sectors, WriteBack& write_back, Visit& visit) {
    const Cache::Outcome outcome = part.access(line);
    if (const unsigned dirty = outcome.evicted_state >> dirty_shift & whole_line; dirty != 0) {
      const unsigned incomplete = outcome.evicted_state >> partial_shift;
      if (incomplete != 0)
        complete(outcome.evicted_line, 0);
      write_back(outcome.evicted_line, dirty, partial_writes_ == PartialWrites::fill ? incomplete : 0);
    }
    visit(*outcome.state, sectors);
  }

  std::vector<Cache> parts_;
  std::vector<Cache> copies_; ///< by partition; state: valid sectors
  bool by_block_ = false;
  L2Stores stores_;
  PartialWrites partial_writes_;
  unsigned fetch_sectors_;                            ///< at once
  std::unordered_map<std::uint32_t, ByteMask> masks_; ///< of the lines with sectors that are there in part
};

} // namespace warplens::model
