#include "result/headroom.h"

#include <algorithm>
#include <cmath>

namespace warplens {
namespace {

bool is_pipe(Resource resource) {
  return resource == Resource::issue || resource >= Resource::fp32_pipe;
}

double of(const ByResource& shares, Resource resource) {
  return shares[std::size_t(resource)];
}

/// Returns the cycles in which a resource works for the launch, in the mean over all of its kind, in µs.
double working_us(const KernelResult& kernel, Resource resource, double scale) {
  return of(kernel.time->mean_busy, resource) * kernel.time->cycles.mean * scale / kernel.sm_clock_mhz;
}

void put_limits(Headroom& headroom, const KernelResult& kernel) {
  const double bytes = headroom.dram_read_bytes + headroom.dram_write_bytes;
  const double reachable =
      reachable_dram_bytes_per_ns(*kernel.machine, headroom.dram_read_bytes, headroom.dram_write_bytes);
  if (bytes > 0 && reachable > 0)
    headroom.limits.push_back({Resource::dram, bytes / reachable / 1000});
  for (std::size_t index = 0; index < resource_count; ++index)
    if (const auto resource = Resource(index);
        (is_pipe(resource) || resource == Resource::l2_slices) && of(kernel.time->mean_busy, resource) > 0)
      headroom.limits.push_back({resource, working_us(kernel, resource, headroom.scale)});
  std::ranges::stable_sort(headroom.limits, std::ranges::greater(), &LimitOfTime::microseconds);
}

void put_code(Headroom& headroom, const KernelResult& kernel, double ns) {
  headroom.instructions = double(kernel.executed->instructions) * headroom.scale;
  for (std::size_t index = 0; index < resource_count; ++index)
    if (const auto pipe = Resource(index); is_pipe(pipe) && of(kernel.time->mean_busy, pipe) > 0)
      headroom.pipes.push_back({pipe, std::min(1.0, working_us(kernel, pipe, headroom.scale) / (ns / 1000))});
  std::ranges::stable_sort(headroom.pipes, std::ranges::greater(), &PipeUse::share_of_peak);
  if (!kernel.events || !kernel.events->operations)
    return;
  const FloatingPointOperations& counted = *kernel.events->operations;
  for (const auto& [precision, operations] :
       {std::pair("fp64", counted.fp64), std::pair("fp32", counted.fp32), std::pair("fp16", counted.fp16),
        std::pair("tensor", counted.tensor)})
    if (operations > 0)
      headroom.operations.push_back(
          {precision, operations * headroom.scale, operations * headroom.scale / ns});
}

} // namespace

double blocks_per_snapshot_block(const KernelResult& kernel) {
  const double launched = double(kernel.grid.x) * kernel.grid.y * kernel.grid.z,
               recorded = double(kernel.snapshot.blocks);
  return recorded > 0 && launched > recorded ? launched / recorded : 1;
}

double reachable_dram_bytes_per_ns(const Machine& machine, double read_bytes, double write_bytes) {
  const double bytes = read_bytes + write_bytes;
  if (bytes <= 0)
    return machine.dram_bytes_per_ns * machine.reads_reach;
  // The bus is turned for each byte that is written after one that was read; writes alone need no turn.
  const double read_share = 1 / machine.reads_reach, copy_share = 1 / machine.copies_reach;
  return machine.dram_bytes_per_ns /
         (read_share + 2 * std::min(read_bytes, write_bytes) / bytes * (copy_share - read_share));
}

std::optional<Headroom> headroom_of(const KernelResult& kernel) {
  if (!kernel.time || !kernel.machine || kernel.sm_clock_mhz <= 0 || kernel.machine->dram_bytes_per_ns <= 0 ||
      kernel.time->microseconds.mean <= 0)
    return std::nullopt;
  Headroom headroom;
  const double ns = kernel.time->microseconds.mean * 1000;
  headroom.scale = blocks_per_snapshot_block(kernel);
  const double resident = double(kernel.occupancy.sms) * kernel.occupancy.blocks_per_sm;
  if (resident > 0)
    headroom.waves = double(kernel.grid.count()) / resident;
  headroom.dram_read_bytes = kernel.totals.dram_read_bytes.value_or(0) * headroom.scale;
  const double written = kernel.totals.dram_write_bytes.value_or(0);
  const double before = std::min(written, kernel.totals.dram_write_bytes_before.value_or(0));
  // The bytes that others, or earlier blocks, had left in the L2 are written once, however many blocks there
  // are.
  headroom.dram_write_bytes_before = before;
  headroom.dram_write_bytes = (written - before) * headroom.scale + before;
  headroom.dram_bytes_per_ns = (headroom.dram_read_bytes + headroom.dram_write_bytes) / ns;
  headroom.dram_share_of_peak = headroom.dram_bytes_per_ns / kernel.machine->dram_bytes_per_ns;
  if (kernel.executed)
    put_code(headroom, kernel, ns);
  put_limits(headroom, kernel);
  headroom.launch_us = kernel.time->launch_us;
  headroom.roofline_us =
      headroom.launch_us + (headroom.limits.empty() ? 0 : headroom.limits.front().microseconds);
  if (headroom.roofline_us > 0)
    headroom.times_roofline = kernel.time->microseconds.mean / headroom.roofline_us;
  return std::isfinite(headroom.times_roofline) ? std::optional(headroom) : std::nullopt;
}

} // namespace warplens
