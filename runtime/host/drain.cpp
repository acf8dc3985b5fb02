#include "runtime/host/drain.h"

#include <algorithm>

namespace warplens::runtime {
namespace {

/// Overwrites `access`, which was one of an earlier line: to construct one first would write it twice.
void read_line(const ring::Line& line, trace::WarpAccess& access) {
  access.site = line.site;
  access.active = line.active;
  access.bytes = line.bytes;
  access.space = static_cast<Space>(line.space);
  access.kind = static_cast<AccessKind>(line.kind);
  if (line.active == ~std::uint32_t{0})
    std::copy_n(line.addresses, warp_lanes, access.addresses.begin());
  else
    for (unsigned lane = 0; lane < warp_lanes; ++lane) // without a branch, which masks make unpredictable
      access.addresses[lane] = line.addresses[lane] & -(std::uint64_t{line.active} >> lane & 1);
}

} // namespace

Drain::Drain(const ring::Channel& channel, std::uint32_t parts)
    : channel_(channel), drained_(std::size_t{channel.buffers} * channel.warps),
      batches_(parts, Batch(channel.capacity)) {}

std::uint64_t Drain::once(const Visit& visit, std::uint32_t part) {
  std::uint64_t lines = 0;
  for (std::uint32_t buffer = part; buffer < channel_.buffers; buffer += parts()) {
    if (!scoped::load_acquire(&channel_.entered[buffer]))
      continue;
    for (std::uint32_t warp = 0; warp < channel_.warps; ++warp)
      lines += drain_ring(std::uint64_t{buffer} * channel_.warps + warp, warp, visit, batches_[part]);
  }
  return lines;
}

std::uint64_t Drain::drain_ring(std::uint64_t ring, std::uint32_t warp, const Visit& visit, Batch& batch) {
  const ring::Slot* const slots = &channel_.slots[ring * channel_.capacity];
  const std::uint64_t before = drained_[ring];
  // Drains at most one round of the ring at a time, lest a busy warp keep the others waiting.
  const std::uint64_t limit = before + channel_.capacity;
  std::uint64_t ticket = before;
  while (ticket < limit) {
    std::size_t accesses = 0;
    std::uint64_t block = 0;
    for (; ticket < limit; ++ticket) {
      const ring::Slot& slot = slots[ticket % channel_.capacity];
      if (scoped::load_acquire(&slot.committed) != ticket + 1)
        break;
      if (accesses != 0 && slot.block != block)
        break;
      block = slot.block;
      read_line(slot.line, batch[accesses++]);
    }
    if (accesses == 0)
      break;
    drained_[ring] = ticket;
    scoped::store_release(&channel_.drained[ring],
                          ticket); // the producers continue while the lines are being written
    visit(block, warp, {batch.data(), accesses});
  }
  return ticket - before;
}

} // namespace warplens::runtime
