// Barriers in shared memory, which count arrivals and bytes (PTX ISA, "mbarrier").
#include "machine/integers.h"
#include "machine/warp.h"

#include <algorithm>
#include <cstring>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;
using Addresses = std::array<u64, lane_count>;

constexpr u32 barrier_bytes = 8;

u64 pair_at(const u32* row, u32 lane) {
  return u64{row[lane_count + lane]} << 32 | row[lane];
}

/// The word of a barrier of sm_90 and later: bits 1 to 20 the expected arrivals, 43 to 62 those that are
/// pending, both as negative numbers, 63 the phase, 21 to 42 the bytes that are expected.
u64 arrived(u64 word, u64 arrivals, u64 transactions) {
  constexpr u64 count_mask = 0xfffff, bytes_mask = 0x3fffff;
  const u64 expected = word >> 1 & count_mask;
  u64 pending = ((word >> 43) + arrivals) & count_mask;
  const u64 bytes = ((word >> 21) + transactions) & bytes_mask;
  u64 phase = word >> 63;
  if (pending == 0 && bytes == 0) {
    pending = expected;
    phase ^= 1;
  }
  return phase << 63 | pending << 43 | bytes << 21 | expected << 1 | (word & 1);
}

/// The barrier of sm_80: in the upper word the phase and 2^31 less the pending arrivals, in the lower one
/// 2^30 less the expected ones.
u64 arrived_before_sm_90(u64 word) {
  const u32 low = static_cast<u32>(word), high = static_cast<u32>(word >> 32);
  u32 phase = high & 0x80000000, pending = (high & 0x7fffffff) + 1;
  if (pending == 0x80000000) {
    phase ^= 0x80000000;
    pending = (low + 0x40000000) & 0x7fffffff;
  }
  return u64{phase | pending} << 32 | low;
}

/// Replaces a barrier's word by `change(word)`, and counts the phases that are over. Returns the word before;
/// ends the warp if there is no barrier.
template <class Change> u64 change_barrier(Warp& warp, const Operation& o, u64 address, Change change) {
  std::byte* const at = shared_bytes_at(warp, address, barrier_bytes);
  if (!at) {
    fault(warp, o, address);
    return 0;
  }
  u64 word = 0;
  std::memcpy(&word, at, sizeof word);
  const u64 changed = change(word);
  std::memcpy(at, &changed, sizeof changed);
  if ((word ^ changed) >> 63 != 0)
    ++block_of_shared(warp, address)->phases_over[static_cast<u32>(address) & shared_offset_mask];
  return word;
}

/// Returns the barrier's word after one lane's arrival by this instruction.
u64 arrived_by(const Operands& x, u64 word, u64 value) {
  if (x.opcode == Opcode::arrives)
    return x.function == 0 ? arrived(word, 1, 0) : arrived(word, 0, ~u64{0});
  switch (x.function) {
  case 0: return arrived(word, 1, value);
  case 1: return arrived(word, 1, 0);
  case 2: return arrived(word, 0, 1);
  case 3: return arrived(word, 0, value);
  case 4: return arrived(word, 0, 0 - value);
  default: return arrived(word, value, 0);
  }
}

void arrive(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  const bool is_old = warp.block->launch->code->architecture < 90;
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  const u32* b = warp.row(o.b);
  for (Mask left = mask; left != 0 && !warp.is_stopped; left &= left - 1) {
    const u32 lane = first_lane(left);
    const u64 before = change_barrier(warp, o, addresses[lane], [&](u64 word) {
      return is_old ? arrived_before_sm_90(word) : arrived_by(x, word, b[lane]);
    });
    if (x.destination_words == 2) {
      u32* d = warp.destination(o);
      d[lane] = static_cast<u32>(before);
      d[lane_count + lane] = static_cast<u32>(before >> 32);
    }
  }
}

/// Makes a barrier: no phase of it is over, and those of one that was there before stay counted.
void exchange(Warp& warp, const Operation& o, Mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  std::byte* const at = shared_bytes_at(warp, addresses[0], barrier_bytes);
  if (!at)
    return fault(warp, o, addresses[0]);
  const u64 word = pair_at(warp.row(o.b), 0);
  u64 old = 0;
  std::memcpy(&old, at, sizeof old);
  std::memcpy(at, &word, sizeof word);
  u32* d = warp.destination(o);
  std::fill_n(d, lane_count, static_cast<u32>(old));
  std::fill_n(d + lane_count, lane_count, static_cast<u32>(old >> 32));
}

/// Returns the lanes for which a barrier's phase is no longer the one at bit 31 of a register; `outside` gets
/// those without a barrier.
Mask lanes_behind(Warp& warp, const Operation& check, const Addresses& addresses, Mask lanes, Mask& outside) {
  const u32* b = warp.row(check.b);
  Mask behind = 0;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const u32 lane = first_lane(left);
    u64 word = 0;
    if (const std::byte* const at = shared_bytes_at(warp, addresses[lane], barrier_bytes))
      std::memcpy(&word, at, sizeof word);
    else
      outside |= Mask{1} << lane;
    behind |= static_cast<u32>((word >> 63) != (b[lane] >> 31)) << lane;
  }
  return behind;
}

void check_phase(Warp& warp, const Operation& o, Mask mask) {
  Addresses addresses;
  compute_addresses(warp, o, addresses);
  Mask outside = 0;
  const Mask behind = lanes_behind(warp, o, addresses, mask, outside);
  if (outside != 0)
    return fault(warp, o, addresses[first_lane(outside)]);
  warp.set_predicate(o.out[0], behind, mask);
}

} // namespace

void complete_bytes(Warp& warp, const Operation& o, u32 barrier_at, u32 bytes) {
  change_barrier(warp, o, barrier_at, [&](u64 word) { return arrived(word, 0, 0 - u64{bytes}); });
}

void arrive_at(Warp& warp, const Operation& o, u32 barrier_at) {
  change_barrier(warp, o, barrier_at, [](u64 word) { return arrived(word, 1, 0); });
}

BarrierPhase current_phase(Warp& warp, u32 barrier) {
  const Block* const block = block_of_shared(warp, barrier);
  const std::uint32_t offset = barrier & shared_offset_mask;
  if (block == nullptr)
    return {offset, 0, warp.block->index};
  const auto over = block->phases_over.find(offset);
  return {offset, over == block->phases_over.end() ? 0 : over->second, block->index};
}

void put_phases(Warp& warp, std::uint32_t barrier, bool is_multicast, std::uint32_t blocks,
                std::optional<BarrierPhase>& phase, std::vector<BarrierPhase>& further) {
  if (!is_multicast) {
    phase = current_phase(warp, barrier);
    return;
  }
  for (; blocks != 0; blocks &= blocks - 1) {
    const BarrierPhase of = current_phase(warp, (barrier & shared_offset_mask) | first_lane(blocks) << 24);
    if (!phase)
      phase = of;
    else
      further.push_back(of);
  }
}

void put_phases_of_copy(Warp& warp, const Operation& copy, std::optional<BarrierPhase>& phase,
                        std::vector<BarrierPhase>& further) {
  const sass::Operands& x = *copy.operands;
  const std::uint32_t c = x.c.kind == sass::Source::Kind::none ? 0 : warp.row(copy.c)[0];
  put_phases(warp, warp.row(copy.b)[lane_count], x.wraps, c >> 16, phase, further);
}

bool finds_phases_over(Warp& warp, const Operation& check, Mask lanes) {
  Addresses addresses;
  compute_addresses(warp, check, addresses);
  Mask outside = 0;
  return (lanes & ~lanes_behind(warp, check, addresses, lanes, outside) & ~outside) == 0;
}

Handler select_barrier_operation(Opcode opcode) {
  switch (opcode) {
  case Opcode::atoms_arrive:
  case Opcode::arrives:
  case Opcode::syncs_arrive: return arrive;
  case Opcode::syncs_exch: return exchange;
  case Opcode::syncs_phase: return check_phase;
  default: return nullptr;
  }
}

} // namespace warplens::machine
