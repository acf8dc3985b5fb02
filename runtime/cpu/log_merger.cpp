#include "runtime/cpu/log_merger.h"

#include <algorithm>
#include <bit>

namespace warplens::cpu {

void LogMerger::begin(std::uint32_t warp, const std::array<LaneContext*, trace::warp_lanes>& lanes,
                      std::uint32_t lane_count, const KeyRecord* keys, const AddressMap& addresses,
                      WarpAccessSink& sink) {
  warp_ = warp;
  lanes_ = lanes;
  lane_count_ = lane_count;
  keys_ = keys;
  addresses_ = &addresses;
  sink_ = &sink;
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    heads_[lane] = logs_[lane].data();
    lanes[lane]->log_next = logs_[lane].data();
    lanes[lane]->log_end = logs_[lane].data() + capacity;
  }
}

std::uint32_t LogMerger::merge(std::uint32_t full) {
  std::uint32_t empty = 0;
  head_keys_.fill(nothing);
  for (std::uint32_t lane = 0; lane < lane_count_; ++lane)
    if (heads_[lane] == lanes_[lane]->log_next)
      empty |= 1U << lane;
    else
      head_keys_[lane] = heads_[lane]->key;

  while (!(empty & full)) {
    std::uint32_t smallest = nothing;
    for (const std::uint32_t key : head_keys_)
      smallest = std::min(smallest, key);
    if (smallest == nothing)
      break;
    std::uint32_t together = 0;
    for (std::uint32_t lane = 0; lane < trace::warp_lanes; ++lane)
      together |= static_cast<std::uint32_t>(head_keys_[lane] == smallest) << lane;
    if (keys_[smallest].site != 0)
      issue(smallest, together);
    for (std::uint32_t rest = together; rest; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (++heads_[lane] != lanes_[lane]->log_next) {
        head_keys_[lane] = heads_[lane]->key;
      } else {
        head_keys_[lane] = nothing;
        empty |= 1U << lane;
      }
    }
  }
  for (std::uint32_t rest = empty; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    heads_[lane] = lanes_[lane]->log_next = logs_[lane].data();
  }
  return empty;
}

/// Local memory is laid out so that consecutive 32-bit words of one thread lie a warp apart (CUDA C++
/// Programming Guide, "Local Memory"): lanes that access the same variable share cache lines. The window
/// stands for the device's, outside all that a program maps.
std::uint64_t LogMerger::local_address(std::uint64_t address) const {
  constexpr std::uint64_t window = std::uint64_t{1} << 56;
  const auto [thread, depth] = addresses_->stacks->place_of(address);
  const std::uint64_t stride = addresses_->stacks->stride();
  const std::uint64_t warp = thread / trace::warp_lanes, lane = thread % trace::warp_lanes,
                      within = stride - depth;
  return window + warp * trace::warp_lanes * stride + within / 4 * (4 * trace::warp_lanes) + lane * 4 +
         within % 4;
}

void LogMerger::issue(std::uint32_t key, std::uint32_t lanes) {
  ring::Line line;
  line.site = keys_[key].site;
  line.bytes = keys_[key].bytes;
  line.kind = keys_[key].kind;
  std::uint32_t shared = 0, local = 0, constant = 0;
  for (std::uint32_t lane = 0; lane < trace::warp_lanes; ++lane) {
    const std::uint32_t bit = 1U << lane;
    const std::uint64_t address = lanes & bit ? heads_[lane]->address : 0;
    line.addresses[lane] = address;
    shared |= addresses_->shared.contains(address) ? bit : 0;
    local |= addresses_->stacks->contains(address) ? bit : 0;
    constant |= addresses_->around_constants.contains(address) && in_constant_memory(address) ? bit : 0;
  }
  const std::uint32_t elsewhere = (shared | local | constant) & lanes;
  // A pointer may lead different lanes into different spaces: a GPU then issues one access after the other.
  if (const std::uint32_t global = lanes & ~elsewhere)
    send(line, global, trace::Space::global);
  if (!elsewhere)
    return;
  if (shared & lanes) {
    ring::Line offsets = line;
    for (std::uint32_t lane = 0; lane < trace::warp_lanes; ++lane)
      offsets.addresses[lane] -= addresses_->shared.begin;
    send(offsets, shared & lanes, trace::Space::shared);
  }
  if (constant & lanes)
    send(line, constant & lanes, trace::Space::constant);
  if (local & lanes) {
    ring::Line interleaved = line;
    for (std::uint32_t rest = local & lanes; rest; rest &= rest - 1) {
      std::uint64_t& address = interleaved.addresses[std::countr_zero(rest)];
      address = local_address(address);
    }
    send(interleaved, local & lanes, trace::Space::local);
  }
}

void LogMerger::send(ring::Line& line, std::uint32_t lanes, trace::Space space) {
  line.active = lanes;
  line.space = static_cast<std::uint8_t>(space);
  if (lanes != 0xffffffff) {
    ring::Line masked = line;
    for (std::uint32_t lane = 0; lane < trace::warp_lanes; ++lane)
      if (!(lanes >> lane & 1))
        masked.addresses[lane] = 0;
    sink_->access(warp_, masked);
    return;
  }
  sink_->access(warp_, line);
}

} // namespace warplens::cpu
