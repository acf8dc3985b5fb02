#include "runtime/host/snapshot.h"

#include "vocabulary/round_up.h"

#include <algorithm>

namespace warplens::runtime {
namespace {

/// The lines per ring if memory is plentiful: few enough to stay in a core's caches, enough that a woken
/// snooper finds work.
constexpr std::uint32_t ample_capacity = 128;
/// The minimum of lines per ring; with fewer, producers wait for the host at nearly every access.
constexpr std::uint32_t min_capacity = 16;
/// The most of any GPU: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::uint64_t max_blocks = 32;

std::uint32_t warps_of(const trace::Launch& launch) {
  return static_cast<std::uint32_t>(warplens::warps_of(launch.block.count()));
}

ring::Extent with_buffers(const trace::Launch& launch, std::uint64_t buffers, std::uint32_t capacity) {
  return {.first_block = launch.first_block,
          .blocks = launch.blocks,
          .buffers = static_cast<std::uint32_t>(buffers),
          .warps = warps_of(launch),
          .capacity = capacity,
          .first_choices = static_cast<std::uint32_t>(buffers)};
}

} // namespace

std::uint64_t max_blocks_of_sm(const trace::Launch& launch) {
  constexpr std::uint64_t registers = 65536, shared_bytes = 228 << 10, reserved_bytes = 1 << 10;
  const std::uint64_t lanes = std::uint64_t{warps_of(launch)} * 32;
  std::uint64_t most = max_blocks;
  std::uint32_t of_thread = 255;
  for (const trace::MachineCode& code : launch.machine_code)
    of_thread = std::min(of_thread, code.registers);
  if (!launch.machine_code.empty())
    most = std::min(most, registers / (lanes * round_up(std::max(of_thread, 1u), 8u)));
  const std::uint64_t shared = std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (shared != 0)
    most = std::min(most, (shared_bytes + reserved_bytes) / (shared + reserved_bytes));
  return std::max<std::uint64_t>(most, 1);
}

SnapshotBlocks snapshot_blocks(const Settings& settings, const trace::Launch& launch) {
  const std::uint64_t of_block = std::max<std::uint64_t>(launch.block.count(), 1);
  const auto blocks_with = [&](std::uint64_t threads) {
    const std::uint64_t wanted = settings.snapshot_blocks.value_or((threads + of_block - 1) / of_block);
    return std::min(wanted, launch.grid.count());
  };
  const std::uint64_t least = blocks_with(settings.snapshot_threads);
  std::uint64_t wave = blocks_with(settings.snapshot_wave_threads);
  if (!settings.snapshot_blocks)
    wave = std::min(wave, settings.snapshot_sms * max_blocks_of_sm(launch));
  return {least, std::max(least, blocks_with(settings.snapshot_max_threads)), wave};
}

ring::Extent extent_on_host(const trace::Launch& launch) {
  constexpr std::uint64_t address_space = std::uint64_t{4} << 30;
  const std::uint64_t buffer_bytes = std::uint64_t{warps_of(launch)} * ample_capacity * sizeof(ring::Slot);
  ring::Extent extent = with_buffers(
      launch, std::clamp<std::uint64_t>(address_space / buffer_bytes, 1, launch.blocks), ample_capacity);
  extent.first_choices = 1;
  return extent;
}

Expected<ring::Extent> extent_within(const trace::Launch& launch, std::size_t local_bytes,
                                     std::size_t shared_bytes) {
  const auto fits = [&](const ring::Extent& extent) {
    return extent.local_bytes() <= local_bytes && extent.shared_bytes() <= shared_bytes;
  };
  // Both memories grow with the number of buffers and with the capacity.
  std::uint64_t fitting = 0;
  for (std::uint64_t above = std::min<std::uint64_t>(launch.blocks, UINT32_MAX) + 1; above - fitting > 1;) {
    const std::uint64_t middle = fitting + (above - fitting) / 2;
    (fits(with_buffers(launch, middle, min_capacity)) ? fitting : above) = middle;
  }
  if (fitting == 0)
    return fail("no ring buffer for a block of {} threads of {} fits into {} bytes of pinned memory",
                launch.block.count(), launch.kernel, shared_bytes);
  std::uint32_t capacity = min_capacity;
  while (capacity < ample_capacity && fits(with_buffers(launch, fitting, capacity * 2)))
    capacity *= 2;
  return with_buffers(launch, fitting, capacity);
}

} // namespace warplens::runtime
