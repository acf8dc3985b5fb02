#include "runtime/cpu/execution/log_merger.h"

#include <algorithm>
#include <bit>

namespace warplens::cpu {

namespace {

/// Bit n is for lane n.
constexpr auto lane_bits = [] {
  std::array<std::uint32_t, warp_lanes> bits{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    bits[lane] = 1U << lane;
  return bits;
}();

} // namespace

void LogMerger::begin(std::uint32_t warp, const std::array<LaneContext*, warp_lanes>& lanes,
                      std::uint32_t lane_count, const KeyRecord* keys, const AddressMap& addresses,
                      WarpAccessSink& sink) {
  warp_ = warp;
  lanes_ = lanes;
  lane_count_ = lane_count;
  keys_ = keys;
  addresses_ = &addresses;
  sink_ = &sink;
  heads_.fill(0);
  ends_.fill(0);
  std::ranges::fill(rows_and_before_.front().keys, ~std::uint32_t{0});
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    lanes[lane]->log_next = &row(0).addresses[lane];
    lanes[lane]->log_end = &row(capacity).addresses[lane];
    lanes[lane]->log_keys = reinterpret_cast<const char*>(&row(0).keys[lane]) -
                            reinterpret_cast<const char*>(&row(0).addresses[lane]);
  }
}

/// Determines the fill of the logs and the first key of each. Returns the lanes whose logs are empty.
std::uint32_t LogMerger::find_ends() {
  std::uint32_t empty = 0;
  head_keys_.fill(nothing);
  for (std::uint32_t lane = 0; lane < lane_count_; ++lane) {
    const auto filled = reinterpret_cast<const char*>(lanes_[lane]->log_next) -
                        reinterpret_cast<const char*>(&row(0).addresses[lane]);
    ends_[lane] = static_cast<std::int32_t>(filled / static_cast<std::ptrdiff_t>(sizeof(LogRow)));
    if (heads_[lane] == ends_[lane])
      empty |= 1U << lane;
    else
      head_keys_[lane] = static_cast<std::int32_t>(row(static_cast<std::size_t>(heads_[lane])).keys[lane]);
  }
  return empty;
}

std::uint32_t LogMerger::merge(std::uint32_t full, const Held& held) {
  std::uint32_t empty = find_ends();
  std::int32_t limit = nothing;
  const auto hold = [&](std::uint32_t emptied) {
    for (std::uint32_t rest = emptied & held.lanes; rest; rest &= rest - 1)
      limit = std::min(limit, held.keys[std::countr_zero(rest)]);
    return emptied;
  };
  hold(empty);
  while (!(empty & full)) {
    std::int32_t smallest = nothing;
    for (const std::int32_t key : head_keys_)
      smallest = std::min(smallest, key);
    if (smallest >= limit) // no empty log will have a smaller one
      break;
    std::uint32_t together = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      chosen_[lane] = head_keys_[lane] == smallest ? -1 : 0;
      together |= static_cast<std::uint32_t>(chosen_[lane]) & lane_bits[lane];
    }
    const std::int32_t first = heads_[std::countr_zero(together)];
    std::int32_t apart = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      apart |= chosen_[lane] & (heads_[lane] ^ first);
    const auto key = static_cast<std::uint32_t>(smallest);
    if (!apart) {
      issue(key, together, row(static_cast<std::size_t>(first)).addresses);
      empty |= hold(advance(static_cast<std::uint32_t>(first)));
    } else {
      alignas(64) PerLane<std::uint64_t> addresses{};
      for (std::uint32_t rest = together; rest; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        addresses[lane] = row(static_cast<std::size_t>(heads_[lane])).addresses[lane];
      }
      issue(key, together, addresses.data());
      empty |= hold(advance_apart(together));
    }
  }
  for (std::uint32_t rest = empty; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    heads_[lane] = 0;
    lanes_[lane]->log_next = &row(0).addresses[lane];
  }
  return empty;
}

/// Moves the chosen lanes, all of which are at this row, to the next. Returns those of them whose logs are
/// now empty.
std::uint32_t LogMerger::advance(std::uint32_t row) {
  const LogRow& next = this->row(row + 1);
  const auto next_row = static_cast<std::int32_t>(row + 1);
  std::uint32_t emptied = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::int32_t more = next_row < ends_[lane] ? -1 : 0;
    const std::int32_t key = (static_cast<std::int32_t>(next.keys[lane]) & more) | (nothing & ~more);
    heads_[lane] -= chosen_[lane];
    head_keys_[lane] = (key & chosen_[lane]) | (head_keys_[lane] & ~chosen_[lane]);
    emptied |= static_cast<std::uint32_t>(chosen_[lane] & ~more) & lane_bits[lane];
  }
  return emptied;
}

/// Moves lanes in different rows likewise.
std::uint32_t LogMerger::advance_apart(std::uint32_t lanes) {
  std::uint32_t emptied = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (++heads_[lane] != ends_[lane]) {
      head_keys_[lane] = static_cast<std::int32_t>(row(static_cast<std::size_t>(heads_[lane])).keys[lane]);
    } else {
      head_keys_[lane] = nothing;
      emptied |= 1U << lane;
    }
  }
  return emptied;
}

/// Returns the address in local memory's layout: consecutive 32-bit words of one thread lie a warp apart
/// (CUDA C++ Programming Guide, "Local Memory"), so that lanes accessing the same variable share cache lines.
/// Each warp of the grid has a part of its own, one after the other. The frames on a stack may begin anywhere
/// in the thread's share: addresses beyond its end wrap around. The window represents the device's, outside
/// all that a program maps.
std::uint64_t LogMerger::local_address(std::uint64_t address) const {
  constexpr std::uint64_t window = std::uint64_t{1} << 56; // docs/trace-format.md
  const auto [thread, depth] = addresses_->stacks->place_of(address);
  const std::uint64_t bytes = addresses_->local_bytes;
  const std::uint64_t warp = addresses_->first_warp + thread / warp_lanes, lane = thread % warp_lanes,
                      within = (addresses_->stacks->stride() - depth) % bytes;
  return window + warp * warp_lanes * bytes + within / 4 * (4 * warp_lanes) + lane * 4 + within % 4;
}

void LogMerger::issue(std::uint32_t key, std::uint32_t lanes, const std::uint64_t* addresses) {
  if (keys_[key].site == 0)
    return;
  ring::Line line;
  line.site = keys_[key].site;
  line.bytes = keys_[key].bytes;
  line.kind = keys_[key].kind;
  if (!is_access(AccessKind(line.kind))) { // the logged addresses are counts, those of a barrier null
    std::uint64_t most = 0; // lanes in lock step execute a body together, until the last one leaves it
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      most = std::max(most, addresses[lane] & static_cast<std::uint64_t>(std::int64_t{chosen_[lane]}));
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      line.addresses[lane] = chosen_[lane] != 0 ? most : 0;
    line.active = lanes;
    line.space = static_cast<std::uint8_t>(Space::generic);
    return sink_->access(warp_, line);
  }
  // Tests the bits that all addresses have in common: they determine the window.
  std::uint64_t in_any = 0, in_all = ~std::uint64_t{0};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const auto active = static_cast<std::uint64_t>(std::int64_t{chosen_[lane]});
    line.addresses[lane] = addresses[lane] & active;
    in_any |= addresses[lane] & active;
    in_all &= addresses[lane] | ~active;
  }
  const std::uint64_t differing = in_any ^ in_all;
  const std::uint64_t within = differing ? ~std::uint64_t{0} >> std::countl_zero(differing) : 0;
  const std::uint64_t first = in_all & ~within, last = in_all | within;
  if (addresses_->shared.meets(first, last) || addresses_->stacks->meets(first, last) ||
      addresses_->around_constants.meets(first, last))
    return issue_by_space(line, lanes);
  line.active = lanes;
  line.space = static_cast<std::uint8_t>(Space::global);
  sink_->access(warp_, line);
}

/// Issues by address space: a pointer may lead different lanes into different spaces, and a GPU then issues
/// one access after the other.
void LogMerger::issue_by_space(const ring::Line& line, std::uint32_t lanes) {
  std::uint32_t shared = 0, local = 0, constant = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t address = line.addresses[lane];
    if (addresses_->shared.contains(address))
      shared |= 1U << lane;
    else if (addresses_->stacks->contains(address))
      local |= 1U << lane;
    else if (addresses_->around_constants.contains(address) && in_constant_memory(address))
      constant |= 1U << lane;
  }
  if (const std::uint32_t global = lanes & ~(shared | local | constant))
    send(line, global, Space::global);
  if (shared) {
    ring::Line offsets = line;
    for (std::uint64_t& address : offsets.addresses)
      address -= addresses_->shared.begin;
    send(offsets, shared, Space::shared);
  }
  if (constant)
    send(line, constant, Space::constant);
  if (local) {
    ring::Line interleaved = line;
    for (std::uint32_t rest = local; rest; rest &= rest - 1) {
      std::uint64_t& address = interleaved.addresses[std::countr_zero(rest)];
      address = local_address(address);
    }
    send(interleaved, local, Space::local);
  }
}

/// Sends the line with addresses of 0 for lanes that take no part.
void LogMerger::send(const ring::Line& line, std::uint32_t lanes, Space space) {
  ring::Line sent = line;
  sent.active = lanes;
  sent.space = static_cast<std::uint8_t>(space);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    sent.addresses[lane] &= lanes & lane_bits[lane] ? ~std::uint64_t{0} : 0;
  sink_->access(warp_, sent);
}

} // namespace warplens::cpu
