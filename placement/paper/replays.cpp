#include "placement/paper/replays.h"

#include "model/snapshot/coalesce.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <set>

namespace warplens::placement {
namespace {

unsigned distinct_lines(const trace::WarpAccess& access) {
  std::set<std::uint64_t> lines;
  for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t address = access.addresses[unsigned(std::countr_zero(lanes))];
    for (std::uint64_t line = address / line_bytes; line <= (address + access.bytes - 1) / line_bytes; ++line)
      lines.insert(line);
  }
  return unsigned(lines.size());
}

} // namespace

unsigned global_replays(const trace::WarpAccess& access, Reading reading) {
  const unsigned bytes = unsigned(std::popcount(access.active)) * access.bytes;
  const unsigned width_transactions = (bytes + line_bytes - 1) / line_bytes;
  const unsigned passes =
      reading == Reading::literal ? width_transactions : std::max(width_transactions, distinct_lines(access));
  return passes == 0 ? 0 : passes - 1;
}

unsigned constant_replays(const trace::WarpAccess& access) {
  const std::size_t addresses = model::distinct_addresses(access).size();
  return addresses == 0 ? 0 : unsigned(addresses - 1);
}

unsigned shared_replays(const trace::WarpAccess& access, const model::LaneRules& rules) {
  const model::BankWavefronts banks = model::bank_wavefronts(access, rules);
  return banks.count == 0 ? 0 : banks.count - 1;
}

} // namespace warplens::placement
