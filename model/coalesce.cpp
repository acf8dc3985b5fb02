#include "model/coalesce.h"

#include "model/geometry.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace warplens::model {
namespace {

/// Bits [begin, end) of a line's 128.
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
  for (unsigned i = 0; i < count; ++i)
    sum += unsigned(std::popcount(lines[i].bytes[0]) + std::popcount(lines[i].bytes[1]));
  return sum;
}

Coalesced coalesce(const trace::WarpAccess& access) {
  Coalesced result;
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = access.addresses[unsigned(std::countr_zero(lanes))];
    unsigned offset = unsigned(address % line_bytes);
    std::uint64_t line = address / line_bytes;
    for (unsigned left = access.bytes; left != 0; ++line, offset = 0) {
      const unsigned here = std::min(left, line_bytes - offset);
      // Neighbouring lanes mostly share a line, so the search starts at the latest.
      unsigned at = result.count;
      while (at != 0 && result.lines[at - 1].line != line)
        --at;
      Coalesced::Line& entry = at != 0 ? result.lines[at - 1] : result.lines[result.count++];
      entry.line = line;
      mark(entry.bytes, offset, offset + here);
      left -= here;
    }
  }
  return result;
}

BankPasses bank_passes(const trace::WarpAccess& access) {
  constexpr unsigned word = 4, all_banks = shared_banks * word;
  const unsigned lanes_per_phase =
      std::clamp(all_banks / std::max<unsigned>(access.bytes, word), 1u, trace::warp_lanes);
  BankPasses result;
  std::vector<std::uint64_t> words;
  for (unsigned first = 0; first < trace::warp_lanes; first += lanes_per_phase) {
    words.clear();
    for (unsigned lane = first; lane < std::min(first + lanes_per_phase, trace::warp_lanes); ++lane) {
      if (!(access.active >> lane & 1))
        continue;
      const std::uint64_t address = access.addresses[lane];
      for (std::uint64_t at = address / word; at <= (address + access.bytes - 1) / word; ++at)
        words.push_back(at);
    }
    if (words.empty())
      continue;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::array<unsigned, shared_banks> wanted{};
    for (const std::uint64_t at : words)
      ++wanted[at % shared_banks];
    result.passes += *std::max_element(wanted.begin(), wanted.end());
    ++result.least;
  }
  return result;
}

} // namespace warplens::model
