// The L2, shared by all SMs: write-back. Lines of 128 bytes with four sectors, or blocks of 32 bytes. Where
// it has two partitions, each keeps copies of what the SMs next to it load or store; a store takes the copies
// of the other partition away, an atomic, which the L2 itself carries out, those of both.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"

#include <optional>

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
  explicit L2(const Gpu& gpu) : stores_(gpu.l2.stores) {
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

  /// `partition` is the asker's, 0 where there is only one. `write_back(line, sectors)` is called for what
  /// must go to memory because it was displaced.
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

  template <class WriteBack>
  L2Outcome store(std::uint32_t line, unsigned sectors, unsigned partition, WriteBack&& write_back) {
    for (unsigned i = 0; i < copies_.size(); ++i)
      if (i == partition)
        take_copies(line, sectors, i);
      else
        drop_copies(line, sectors, i);
    L2Outcome result;
    for_each_part(line, sectors, write_back, [&](Cache::State& state, unsigned part_sectors) {
      if (stores_ == L2Stores::allocate) {
        result.hits |= part_sectors & state;
        state = Cache::State(state | part_sectors | part_sectors << dirty_shift);
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
    L2Outcome result;
    for_each_part(line, sectors, write_back, [&](Cache::State& state, unsigned part_sectors) {
      result.hits |= part_sectors & state;
      state =
          Cache::State(state | part_sectors | part_sectors << written_shift | part_sectors << dirty_shift);
    });
    result.fetched = sectors & ~result.hits;
    return result;
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
    L2Outcome result;
    for_each_part(line, sectors, write_back, [&](Cache::State& state, unsigned part_sectors) {
      result.hits |= part_sectors & state;
      state = Cache::State(state | part_sectors);
    });
    result.fetched = sectors & ~result.hits;
    return result;
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

  // State: 4 bits valid, 4 bits brought in by a write, 4 bits dirty.
  static constexpr unsigned written_shift = 4, dirty_shift = 8;

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
  static void visit_part(Cache& part, std::uint32_t line, unsigned sectors, WriteBack& write_back,
                         Visit& visit) {
    const Cache::Outcome outcome = part.access(line);
    if (const unsigned dirty = outcome.evicted_state >> dirty_shift; dirty != 0)
      write_back(outcome.evicted_line, dirty);
    visit(*outcome.state, sectors);
  }

  std::vector<Cache> parts_;
  std::vector<Cache> copies_; ///< by partition; state: valid sectors
  bool by_block_ = false;
  L2Stores stores_;
};

} // namespace warplens::model
