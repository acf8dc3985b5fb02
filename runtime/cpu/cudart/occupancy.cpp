// Computes occupancy from the device's limits.
#include "runtime/cpu/cudart/occupancy.h"

#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/device/device_description.h"
#include "support/occupancy.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <cstdint>

namespace warplens::cpu {
namespace {

constexpr unsigned max_threads = 1024; // per block, on every compute capability from 2.0 on

int described_capability() {
  return 10 * device().major + device().minor;
}

SmResources resources() {
  const DeviceDescription& gpu = device();
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  return {.threads = number(gpu.max_threads_per_sm),
          .blocks = number(gpu.max_blocks_per_sm),
          .threads_per_block = max_threads,
          .registers = number(gpu.registers_per_sm),
          .registers_per_block = number(gpu.registers_per_block),
          .registers_per_thread = number(gpu.registers_per_thread),
          .register_unit = number(gpu.register_unit),
          .sub_partitions = number(gpu.register_files),
          .shared_bytes = number(gpu.shared_per_sm),
          .shared_per_block = number(gpu.shared_per_block_optin + gpu.shared_reserved_per_block),
          .shared_reserved = number(gpu.shared_reserved_per_block),
          .shared_unit = number(gpu.shared_unit)};
}

} // namespace

std::optional<trace::MachineCode> machine_code(const Kernel& kernel) {
  const auto* code = trace::machine_code_for(kernel.machine_code, described_capability(),
                                             static_cast<std::uint32_t>(device().registers_per_thread));
  return code ? std::optional(*code) : std::nullopt;
}

std::uint32_t static_shared_bytes(const Kernel& kernel) {
  if (kernel.record->refusal == nullptr)
    return kernel.record->static_shared_bytes;
  const auto* code =
      trace::machine_code_for(kernel.machine_code, capability(), trace::registers_of_todays_threads);
  return code ? code->shared_bytes : 0;
}

std::size_t max_dynamic_shared(const Kernel& kernel) {
  const int without_opt_in = device().shared_per_block - static_cast<int>(static_shared_bytes(kernel));
  return static_cast<std::size_t>(std::max({0, without_opt_in, kernel.max_dynamic_shared}));
}

/// Registers count only if they are known: an assumption rejects no launch.
static int threads_with_registers(const Kernel& kernel) {
  const auto code = machine_code(kernel);
  const bool known = code && trace::is_own(*code, described_capability());
  return static_cast<int>(max_threads_of_block(resources(), known ? code->registers : 0));
}

static int launch_bounds(const Kernel& kernel) {
  const std::uint32_t bounds = kernel.record->max_block_threads;
  return bounds ? static_cast<int>(std::min(bounds, max_threads)) : static_cast<int>(max_threads);
}

int max_block_threads(const Kernel& kernel) {
  return std::min(threads_with_registers(kernel), launch_bounds(kernel));
}

int blocks_per_sm(const Kernel& kernel, int block_size, std::size_t dynamic_shared_bytes) {
  if (dynamic_shared_bytes > max_dynamic_shared(kernel) || block_size > launch_bounds(kernel))
    return 0;
  const auto code = machine_code(kernel);
  const auto fitting =
      blocks_of_sm(resources(), {.threads = static_cast<std::uint64_t>(block_size),
                                 .registers_per_thread = code ? code->registers : 0,
                                 .shared_bytes = static_shared_bytes(kernel) + dynamic_shared_bytes});
  return static_cast<int>(fitting.blocks);
}

int max_cluster_blocks(const Kernel& kernel) {
  constexpr int portable = 8,
                most = 16; // Programming Guide, "Thread Block Clusters"; GPUs of computers have 8
  return kernel.allows_large_clusters && capability() < 120 ? most : portable;
}

std::size_t available_dynamic_shared(const Kernel& kernel, int blocks) {
  const DeviceDescription& gpu = device();
  const int fixed = static_cast<int>(static_shared_bytes(kernel));
  const int share = gpu.shared_per_sm / blocks / gpu.shared_unit * gpu.shared_unit;
  return static_cast<std::size_t>(std::clamp(share - gpu.shared_reserved_per_block - fixed, 0,
                                             std::max(0, gpu.shared_per_block_optin - fixed)));
}

cudaError_t check_configuration(const Kernel& kernel, dim3 grid, dim3 block,
                                std::size_t dynamic_shared_bytes) {
  const bool empty =
      grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
  const bool too_many_blocks = grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const bool too_many_threads =
      block.x > max_threads || block.y > max_threads || block.z > 64 || threads > max_threads;
  if (empty || too_many_blocks || too_many_threads)
    return cudaErrorInvalidConfiguration;
  if (threads > static_cast<std::uint64_t>(launch_bounds(kernel)))
    return cudaErrorInvalidValue;
  if (threads > static_cast<std::uint64_t>(threads_with_registers(kernel)))
    return cudaErrorLaunchOutOfResources;
  return dynamic_shared_bytes > max_dynamic_shared(kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

} // namespace warplens::cpu
