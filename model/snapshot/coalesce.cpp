#include "model/snapshot/coalesce.h"

#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace warplens::model {
namespace {

constexpr unsigned local_word_bytes = 4; // CUDA C++ Programming Guide, "Local Memory"

/// Sets the bits [begin, end) of a line's 128.
void mark(std::uint64_t (&bits)[2], unsigned begin, unsigned end) {
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned low = std::max(begin, half * 64), high = std::min(end, half * 64 + 64);
    if (low >= high)
      continue;
    const std::uint64_t ones = high - low == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (high - low)) - 1;
    bits[half] |= ones << (low - half * 64);
  }
}

} // namespace

unsigned Coalesced::Line::sectors() const {
  constexpr std::uint64_t one = 0xffff'ffff;
  return unsigned((bytes[0] & one) != 0) | unsigned((bytes[0] >> 32) != 0) << 1 |
         unsigned((bytes[1] & one) != 0) << 2 | unsigned((bytes[1] >> 32) != 0) << 3;
}

unsigned Coalesced::sectors() const {
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i)
    sum += sector_count(lines[i].sectors());
  return sum;
}

unsigned Coalesced::distinct_bytes() const {
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    std::uint64_t bytes[2] = {lines[i].bytes[0], lines[i].bytes[1]};
    for (unsigned earlier = 0; grouped && earlier < i; ++earlier)
      if (lines[earlier].line == lines[i].line)
        for (unsigned half = 0; half < 2; ++half)
          bytes[half] &= ~lines[earlier].bytes[half];
    sum += unsigned(std::popcount(bytes[0]) + std::popcount(bytes[1]));
  }
  return sum;
}

Coalesced coalesce(const trace::WarpAccess& access, const LaneRules& rules) {
  const unsigned lanes_per_group =
      std::bit_floor(std::clamp<unsigned>(rules.coalesced_bytes / access.bytes, 1, warp_lanes));
  Coalesced result;
  result.grouped = lanes_per_group < warp_lanes;
  unsigned group = 0, group_begin = 0; // the group's first line
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = unsigned(std::countr_zero(lanes));
    if (lane / lanes_per_group != group) {
      group = lane / lanes_per_group;
      group_begin = result.count;
    }
    const std::uint64_t address = access.addresses[lane];
    unsigned offset = unsigned(address % line_bytes);
    std::uint64_t line = address / line_bytes;
    // The words of a thread's local memory lie a line apart, each next to those of the other lanes.
    const bool local = access.space == Space::local;
    const unsigned word = offset - offset % local_word_bytes;
    for (unsigned left = access.bytes; left != 0; ++line, offset = local ? word : 0) {
      const unsigned end = local ? word + local_word_bytes : line_bytes;
      const unsigned here = std::min(left, end - offset);
      // Neighbouring lanes mostly share a line, so the search starts at the latest.
      unsigned at = result.count;
      while (at != group_begin && result.lines[at - 1].line != line)
        --at;
      if (at == group_begin) {
        at = ++result.count;
        result.lines[at - 1] = {line, {}};
      }
      Coalesced::Line& entry = result.lines[at - 1];
      mark(entry.bytes, offset, offset + here);
      left -= here;
    }
  }
  return result;
}

namespace {

/// Returns whether each of these lanes wants the same as the lane whose number differs in one bit.
bool in_pairs(const trace::WarpAccess& access, unsigned first, unsigned lanes, unsigned bit) {
  for (unsigned lane = first; lane < first + lanes; ++lane)
    if ((access.active >> lane & 1) != 0 && (access.active >> (lane ^ bit) & 1) != 0 &&
        access.addresses[lane] != access.addresses[lane ^ bit])
      return false;
  return true;
}

/// The rows that the lanes of a phase want of each bank.
class WantedRows {
public:
  /// `is_atomic`: lanes that want the same word come one after the other.
  explicit WantedRows(bool is_atomic) : is_atomic_(is_atomic) {}

  void add(std::uint64_t row, unsigned bank) {
    std::uint64_t* const rows = rows_[bank].data();
    unsigned& count = counts_[bank];
    if (is_atomic_ || std::find(rows, rows + count, row) == rows + count)
      rows[count++] = row;
    most_ = std::max(most_, count);
  }
  unsigned most() const { return most_; } ///< of one bank

private:
  bool is_atomic_;
  unsigned most_ = 0;
  std::array<unsigned, shared_banks> counts_{};
  /// A lane has at most two words of one bank, its first and its last.
  std::array<std::array<std::uint64_t, 2 * warp_lanes>, shared_banks> rows_;
};

} // namespace

BankWavefronts bank_wavefronts(const trace::WarpAccess& access, const LaneRules& rules) {
  const unsigned row_bytes = shared_banks * rules.bank_bytes;
  // Both are powers of two, and the host divides slowly.
  const int word_shift = std::countr_zero(rules.bank_stride_bytes);
  const int words_of_row_shift = std::countr_zero(row_bytes) - word_shift;
  const unsigned lanes_per_phase =
      std::bit_floor(std::clamp<unsigned>(row_bytes / access.bytes, 1, warp_lanes));
  BankWavefronts result;
  unsigned lanes = lanes_per_phase;
  for (unsigned first = 0; first < warp_lanes; first += lanes) {
    const bool may_join = rules.joins_phases && access.kind == AccessKind::load &&
                          lanes_per_phase < warp_lanes && first % (2 * lanes_per_phase) == 0;
    const bool joins = may_join && (in_pairs(access, first, 2 * lanes_per_phase, 1) ||
                                    in_pairs(access, first, 2 * lanes_per_phase, 2));
    lanes = joins ? 2 * lanes_per_phase : lanes_per_phase;
    WantedRows rows(access.kind == AccessKind::atomic);
    for (unsigned lane = first; lane < first + lanes; ++lane) {
      if (!(access.active >> lane & 1))
        continue;
      const std::uint64_t address = access.addresses[lane];
      const std::uint64_t last = (address + access.bytes - 1) >> word_shift;
      for (std::uint64_t at = address >> word_shift; at <= last; ++at)
        rows.add(at >> words_of_row_shift, unsigned(at % shared_banks));
    }
    result.count += rows.most();
    result.min += rows.most() != 0;
  }
  return result;
}

std::uint32_t lanes_carried_out(const trace::WarpAccess& access, LaneAggregation aggregation,
                                const LaneRules& rules) {
  const bool is_whole_warp = std::popcount(access.active) == warp_lanes;
  const bool aggregates = aggregation == LaneAggregation::added ? rules.adds_for_warp
                          : aggregation == LaneAggregation::reduced
                              ? rules.reduces_for_warp || (rules.adds_for_warp && is_whole_warp)
                          : aggregation == LaneAggregation::counted
                              ? rules.reduces_for_warp && access.space == Space::shared
                              : false;
  if (!aggregates)
    return access.active;
  std::uint32_t first = 0;
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = unsigned(std::countr_zero(lanes));
    bool is_first = true;
    for (std::uint32_t earlier = first; earlier != 0; earlier &= earlier - 1)
      is_first &= access.addresses[unsigned(std::countr_zero(earlier))] != access.addresses[lane];
    first |= std::uint32_t{is_first} << lane;
  }
  return first;
}

unsigned atomics_in_turn(const trace::WarpAccess& access, std::uint64_t line, unsigned sectors) {
  constexpr unsigned word_bytes = 4;
  std::array<std::uint8_t, line_bytes / word_bytes> lanes_with{};
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = access.addresses[unsigned(std::countr_zero(lanes))];
    if (address / line_bytes == line)
      ++lanes_with[address % line_bytes / word_bytes];
  }
  constexpr unsigned words = sector_bytes / word_bytes;
  unsigned sum = 0;
  for (unsigned sector = 0; sector < sectors_per_line; ++sector)
    if (sectors >> sector & 1)
      sum += std::max<unsigned>(1, *std::max_element(lanes_with.begin() + sector * words,
                                                     lanes_with.begin() + (sector + 1) * words));
  return sum;
}

bool is_uniform(const trace::WarpAccess& access) {
  const std::uint64_t first = access.addresses[unsigned(std::countr_zero(access.active))];
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1)
    if (access.addresses[unsigned(std::countr_zero(lanes))] != first)
      return false;
  return true;
}

std::vector<std::uint64_t> distinct_addresses(const trace::WarpAccess& access) {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1)
    addresses.push_back(access.addresses[unsigned(std::countr_zero(lanes))]);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

} // namespace warplens::model
