// Occupancy against CUDA's own calculator, which supports compute capability 3.x and newer, for random
// launches; and against a table for Fermi.
#include "model/gpu/occupancy.h"
#include "numeric/random.h"
#include "test/model/made_trace.h"
#include "vocabulary/geometry.h"

#include <climits>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

using namespace warplens;

namespace {

constexpr unsigned launches = 500;

struct Capability {
  int major, minor;
};

/// Returns the properties that the GPU would report.
cudaOccDeviceProp properties(const model::Gpu& gpu, Capability capability) {
  const std::uint32_t optin = gpu.shared.max_bytes_per_block - gpu.shared.reserved_bytes_per_block;
  cudaOccDeviceProp device;
  device.computeMajor = capability.major;
  device.computeMinor = capability.minor;
  device.maxThreadsPerBlock = int(gpu.max_threads_per_block);
  device.maxThreadsPerMultiprocessor = int(gpu.max_threads_per_sm);
  device.regsPerBlock = int(gpu.registers.per_block);
  device.regsPerMultiprocessor = int(gpu.registers.per_sm);
  device.warpSize = int(warp_lanes);
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = gpu.shared.carveout_bytes.back();
  device.numSms = int(gpu.sms);
  device.sharedMemPerBlockOptin = optin;
  device.reservedSharedMemPerBlock = gpu.shared.reserved_bytes_per_block;
  return device;
}

/// Blocks per SM, 0 where none fits, and their limits as bits of cudaOccLimitingFactor.
std::pair<int, unsigned> expected(const cudaOccDeviceProp& device, const trace::Launch& launch) {
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = INT_MAX;
  function.numRegs = int(launch.registers_per_thread);
  function.sharedSizeBytes = launch.static_shared_bytes;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; // which the program must request if it needs that
  function.maxDynamicSharedSizeBytes = launch.dynamic_shared_bytes;
  function.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const auto error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &function, &state, int(launch.block.x), launch.dynamic_shared_bytes);
  REQUIRE(error == CUDA_OCC_SUCCESS);
  return {result.activeBlocksPerMultiprocessor, result.limitingFactors};
}

unsigned factor(std::string_view limit) {
  return limit == "warps"       ? OCC_LIMIT_WARPS
         : limit == "registers" ? OCC_LIMIT_REGISTERS
         : limit == "blocks"    ? OCC_LIMIT_BLOCKS
                                : OCC_LIMIT_SHARED_MEMORY;
}

void check_random_launches(const model::Gpu& gpu, Capability capability) {
  const cudaOccDeviceProp device = properties(gpu, capability);
  Random random(std::uint64_t(capability.major), std::uint32_t(capability.minor), 0);
  unsigned possible = 0;
  for (unsigned i = 0; i < launches; ++i) {
    trace::Launch launch;
    launch.kernel = "kernel";
    // Half of the block sizes are whole warps, which most programs have; registers and shared memory now and
    // then too many.
    launch.block.x = i % 2 == 0 ? 1 + random.below(1024) : 32 * (1 + random.below(32));
    launch.registers_per_thread = random.below(i % 3 == 0 ? 280 : 72);
    launch.static_shared_bytes = i % 4 == 0 ? 0 : random.below(i % 8 == 1 ? 49152 : 8192);
    launch.dynamic_shared_bytes = i % 5 < 2 ? random.below(gpu.shared.max_bytes_per_block + 2000) : 0;
    INFO(capability.major << "." << capability.minor << ": " << launch.block.x << " threads, "
                          << launch.registers_per_thread << " registers, " << launch.static_shared_bytes
                          << " + " << launch.dynamic_shared_bytes << " bytes");
    const auto [blocks, factors] = expected(device, launch);
    const auto found = model::occupancy(gpu, launch);
    REQUIRE(int(found ? found->blocks_per_sm : 0) == blocks);
    if (found) {
      ++possible;
      REQUIRE((factors & factor(found->limited_by)) != 0);
    }
  }
  // Most of what is compared are launches that are possible.
  CHECK(possible > launches / 2);
  CHECK(possible < launches);
}

} // namespace

TEST_CASE("The GPUs' occupancy is CUDA's") {
  check_random_launches(test::gpu("k40"), {3, 5});
  check_random_launches(test::gpu("k80"), {3, 7});
  check_random_launches(test::gpu("v100"), {7, 0});
  check_random_launches(test::gpu("a100"), {8, 0});
  check_random_launches(test::gpu("rtx4090"), {8, 9});
  check_random_launches(test::gpu("l40"), {8, 9});
  for (const char* name : {"h100-sxm", "h100-pcie", "gh200", "h200"})
    check_random_launches(test::gpu(name), {9, 0});
}

TEST_CASE("So is that of architectures without a GPU of their own") {
  model::Gpu a40 = test::gpu("l40"); // 8.6 differs from 8.9 in the blocks of an SM
  a40.max_blocks_per_sm = 16;
  check_random_launches(a40, {8, 6});
}

TEST_CASE("Fermi's occupancy, by its own rules") {
  // Compute capability 2.0: 48 warps, 8 blocks, 32768 registers given to pairs of warps in units of 64 a
  // warp, 48 KiB of shared memory in units of 128 bytes (CUDA C Programming Guide 4.0, appendix F and
  // section 4.2; the figures are the Occupancy Calculator's column for 2.0).
  struct Row {
    std::uint32_t threads, registers, shared, blocks;
    const char* limit;
  };
  const model::Gpu fermi = test::gpu("c2050");
  for (const Row& row : {
           Row{256, 20, 0, 6, "warps"},             // 640 a warp: 51.2 warps, in pairs 50, 6 blocks of 8
           Row{256, 21, 0, 5, "registers"},         // 672, rounded to 704: 46 warps
           Row{192, 20, 0, 8, "warps"},             // 48 warps of 6: also the limit of blocks
           Row{192, 32, 0, 5, "registers"},         // 1024: 32 warps of 6
           Row{96, 63, 0, 5, "registers"},          // 2016, rounded to 2048: 16 warps of 3
           Row{512, 32, 0, 2, "registers"},         // 32 warps of 16
           Row{512, 33, 0, 1, "registers"},         // 1056, rounded to 1088: 30.1 warps
           Row{1024, 32, 0, 1, "warps"},            // 48 warps of 32
           Row{32, 16, 0, 8, "blocks"},             //
           Row{128, 16, 6145, 7, "shared memory"},  // rounded to 6272 bytes: 7.8
           Row{128, 16, 6144, 8, "blocks"},         //
           Row{128, 16, 49152, 1, "shared memory"}, //
       }) {
    INFO(row.threads << " threads, " << row.registers << " registers, " << row.shared << " bytes");
    trace::Launch launch;
    launch.block.x = row.threads;
    launch.registers_per_thread = row.registers;
    launch.static_shared_bytes = row.shared;
    const auto found = model::occupancy(fermi, launch);
    REQUIRE(found);
    CHECK(found->blocks_per_sm == row.blocks);
    CHECK(std::string(found->limited_by) == row.limit);
  }
}
