// Slow references for the caches: a list per set, the most recently used in front, one entry per line or
// block.
#pragma once

#include "model/gpu/gpu.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
#include <list>
#include <utility>
#include <vector>

namespace warplens::test {

struct ReferenceEntry {
  std::uint32_t number = 0;
  std::array<bool, 4> valid{}, written{}, dirty{};
  std::array<std::uint32_t, 4> bytes{}; ///< the valid ones in an L2 that keeps masks; one bit each
};

class ReferenceSets {
public:
  ReferenceSets(std::uint32_t sets, std::uint32_t ways, model::IndexHash index)
      : sets_(sets), paths_(ways), index_(index) {}
  /// The first lines of each `period` have sets of eight ways of their own, in front of the others.
  ReferenceSets(std::uint32_t period, std::uint32_t early, std::uint32_t others, std::uint32_t ways)
      : period_(period), early_(early), sets_(early_ + others), paths_(ways),
        index_(model::IndexHash::modulo) {}
  static ReferenceSets of_file(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways,
                               model::IndexHash index) {
    const auto lines = [bytes](double share) { return std::uint32_t(double(bytes / 128) * share + 0.5); };
    if (early_usable == 0)
      return {lines(usable) / ways, ways, index};
    std::uint32_t early = 1;
    while (early * 2 <= lines(1) / 32)
      early *= 2;
    std::uint32_t period = std::max(2 * early, lines(early_usable) / 8);
    if (period % 2 == 0)
      ++period;
    const std::uint32_t others = lines(usable * (period - early) / period) / ways;
    return {period, early, others % 2 == 0 ? others + 1 : others, ways};
  }

  std::uint32_t set_of(std::uint32_t number) const {
    const std::uint32_t sets = std::uint32_t(sets_.size());
    if (period_ != 0) {
      if (number % period_ < early_)
        return number % period_;
      const std::uint32_t early_before = (number / period_ + 1) * early_;
      return early_ + (number - early_before) % (sets - early_);
    }
    if (index_ == model::IndexHash::modulo)
      return number % sets;
    std::uint32_t power = 1;
    while (sets % (2 * power) == 0)
      power *= 2;
    // The low digits in base `power`, each digit above folded in as far as the third.
    std::uint32_t high = number / power, low = number % power;
    for (std::uint32_t digits = high, i = 0; i < 3 && power > 1; ++i, digits /= power)
      low ^= digits % power;
    return high % (sets / power) * power + low;
  }

  /// Returns the entry, null if it is not cached.
  ReferenceEntry* find(std::uint32_t number) {
    for (ReferenceEntry& entry : sets_[set_of(number)])
      if (entry.number == number)
        return &entry;
    return nullptr;
  }
  bool contains(std::uint32_t number) { return find(number) != nullptr; }

  /// Moves or inserts the entry to the front; a victim is added to `evicted`.
  ReferenceEntry& access(std::uint32_t number, std::vector<ReferenceEntry>& evicted) {
    const std::uint32_t place = set_of(number);
    auto& set = sets_[place];
    const auto found = std::find_if(set.begin(), set.end(),
                                    [&](const ReferenceEntry& entry) { return entry.number == number; });
    if (found != set.end()) {
      set.splice(set.begin(), set, found);
      return set.front();
    }
    set.push_front({number});
    if (set.size() > (place < early_ ? 8 : paths_)) {
      evicted.push_back(set.back());
      set.pop_back();
    }
    return set.front();
  }

private:
  std::uint32_t period_ = 0, early_ = 0;
  std::vector<std::list<ReferenceEntry>> sets_;
  std::uint32_t paths_;
  model::IndexHash index_;
};

/// A cache for constants or read-only loads, which numbers lines of its own size.
class ReferenceReadOnlyCache {
public:
  ReferenceReadOnlyCache(std::uint32_t bytes, std::uint32_t line_bytes, std::uint32_t ways)
      : line_bytes_(line_bytes), sets_(bytes / line_bytes / ways, ways, model::IndexHash::modulo) {}

  bool load(std::uint64_t address) {
    std::vector<ReferenceEntry> discarded;
    bool& there = sets_.access(std::uint32_t(address / line_bytes_), discarded).valid[0];
    return std::exchange(there, true);
  }

private:
  std::uint32_t line_bytes_;
  ReferenceSets sets_;
};

class ReferenceL1 {
public:
  ReferenceL1(const model::Gpu& gpu, std::uint32_t bytes)
      : gpu_(gpu),
        sets_(ReferenceSets::of_file(bytes, gpu.l1.early_usable, gpu.l1.usable, gpu.l1.ways, gpu.l1.index)) {}

  /// Lines that a request writes back to the L2, each with a bit for each sector.
  using WrittenBack = std::vector<std::pair<std::uint32_t, unsigned>>;

  unsigned load(std::uint32_t line, unsigned sectors) { return load(line, sectors, ignored_); }
  unsigned load(std::uint32_t line, unsigned sectors, WrittenBack& back) {
    ReferenceEntry& entry = access(line, back);
    unsigned missing = 0;
    for (unsigned s = 0; s < 4; ++s)
      if ((!gpu_.l1.sectored || (sectors >> s & 1)) && !entry.valid[s]) {
        entry.valid[s] = true;
        missing |= 1u << s;
      }
    return missing;
  }

  void store(std::uint32_t line, unsigned sectors, bool whole) {
    std::vector<ReferenceEntry> discarded;
    if (gpu_.l1.stores == model::L1Stores::allocate) {
      WrittenBack discarded_victims;
      ReferenceEntry& entry = access(line, discarded_victims);
      for (unsigned s = 0; whole && s < 4; ++s)
        if (sectors >> s & 1)
          entry.valid[s] = true;
      return;
    }
    if (gpu_.l1.stores == model::L1Stores::evict_on_hit && sets_.contains(line))
      for (unsigned s = 0; s < 4; ++s)
        if (!gpu_.l1.sectored || (sectors >> s & 1))
          sets_.find(line)->valid[s] = false;
    if (gpu_.l1.stores == model::L1Stores::update_on_hit && sets_.contains(line))
      sets_.access(line, discarded);
  }

  /// Stores to local memory that is written back.
  void store_back(std::uint32_t line, unsigned sectors, WrittenBack& back) {
    ReferenceEntry& entry = access(line, back);
    for (unsigned s = 0; s < 4; ++s)
      if (!gpu_.l1.sectored || (sectors >> s & 1))
        entry.valid[s] = entry.dirty[s] = true;
  }

private:
  ReferenceEntry& access(std::uint32_t line, WrittenBack& back) {
    std::vector<ReferenceEntry> evicted;
    ReferenceEntry& entry = sets_.access(line, evicted);
    for (const ReferenceEntry& victim : evicted) {
      unsigned dirty = 0;
      for (unsigned s = 0; s < 4; ++s)
        dirty |= unsigned(victim.dirty[s]) << s;
      if (dirty != 0)
        back.emplace_back(victim.number, dirty);
    }
    return entry;
  }

  WrittenBack ignored_;
  model::Gpu gpu_;
  ReferenceSets sets_;
};

/// An L2 of 32-byte blocks numbers blocks, one of 128-byte lines numbers lines.
class ReferenceL2 {
public:
  struct Outcome {
    unsigned hits = 0, fetched = 0, updated = 0;
    unsigned written_back = 0, filled = 0; ///< sectors
  };

  explicit ReferenceL2(const model::Gpu& gpu)
      : gpu_(gpu), by_block_(gpu.l2.line_bytes == 32),
        sets_(std::uint32_t(double(gpu.l2_bytes / gpu.l2.line_bytes) * gpu.l2.usable) / gpu.l2.ways,
              gpu.l2.ways, gpu.l2.index) {}

  enum class Kind { load, store, atomic };

  /// Serves a request; `bytes` are those that a store writes of each sector, one bit each.
  Outcome request(Kind kind, std::uint32_t line, unsigned sectors,
                  std::array<std::uint32_t, 4> bytes = {all_bytes, all_bytes, all_bytes, all_bytes}) {
    if (kind != Kind::store || gpu_.l2.partial_writes == model::PartialWrites::whole)
      bytes.fill(all_bytes);
    return request_l2(kind, line, sectors, bytes);
  }

  /// Returns the line's valid sectors.
  unsigned sectors_of(std::uint32_t line) {
    unsigned valid = 0;
    for (unsigned s = 0; s < 4; ++s)
      if (const ReferenceEntry* entry = sets_.find(by_block_ ? 4 * line + s : line))
        valid |= unsigned(entry->valid[by_block_ ? 0 : s]) << s;
    return valid;
  }

private:
  static constexpr std::uint32_t all_bytes = 0xffff'ffff;

  Outcome request_l2(Kind kind, std::uint32_t line, unsigned sectors,
                     const std::array<std::uint32_t, 4>& bytes) {
    ReferenceEntry before;
    bool first = true;
    Outcome outcome;
    for (unsigned s = 0; s < 4; ++s) {
      if (!(sectors >> s & 1))
        continue;
      std::vector<ReferenceEntry> evicted;
      ReferenceEntry& entry = sets_.access(by_block_ ? 4 * line + s : line, evicted);
      const unsigned at = by_block_ ? 0 : s;
      if (by_block_ || first)
        before = entry; // the state before the request
      first = false;
      for (const ReferenceEntry& victim : evicted) {
        outcome.written_back += unsigned(std::count(victim.dirty.begin(), victim.dirty.end(), true));
        if (gpu_.l2.partial_writes == model::PartialWrites::fill)
          for (unsigned t = 0; t < 4; ++t)
            outcome.filled += victim.dirty[t] && victim.bytes[t] != all_bytes;
      }
      const bool store_needs_written =
          kind == Kind::store && gpu_.l2.stores == model::L2Stores::memory_update;
      const bool hit = store_needs_written   ? before.written[at]
                       : kind == Kind::store ? before.valid[at]
                                             : before.valid[at] && before.bytes[at] == all_bytes;
      if (hit)
        outcome.hits |= 1u << s;
      if (kind == Kind::store) {
        if (bytes[s] != all_bytes && !hit && gpu_.l2.partial_writes == model::PartialWrites::fetch) {
          outcome.fetched |= 1u << s;
          entry.bytes[at] = all_bytes;
        }
        entry.bytes[at] |= bytes[s];
      } else if (!hit) {
        // The sectors of a group are fetched together; blocks of 32 bytes are fetched one by one.
        const unsigned group = by_block_ ? 1 : gpu_.l2.fetch_bytes / 32;
        for (unsigned t = at / group * group; t < at / group * group + group; ++t)
          if (!before.valid[t] || before.bytes[t] != all_bytes) {
            entry.valid[t] = true;
            entry.bytes[t] = all_bytes;
            outcome.fetched |= 1u << (by_block_ ? s : t);
          }
      }
      if (!hit && store_needs_written)
        outcome.updated |= 1u << s;
      entry.valid[at] = true;
      if (kind != Kind::load) {
        entry.written[at] = true;
        if (!(store_needs_written && !hit))
          entry.dirty[at] = true;
      }
    }
    return outcome;
  }

  model::Gpu gpu_;
  bool by_block_;
  ReferenceSets sets_;
};

} // namespace warplens::test
