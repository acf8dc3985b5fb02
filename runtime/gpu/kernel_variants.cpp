#include "runtime/gpu/kernel_variants.h"

#include "runtime/gpu/launch_hook.h"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <warplens/probed_variant.h>

namespace warplens::gpu {
namespace {

struct Known {
  std::mutex mutex;
  /// CUDA keeps pointers to both: they live as long as the process.
  struct ProbedVariant {
    std::string device_name;
    char host_name = 0;
  };
  std::deque<ProbedVariant> probed_variants;
  std::map<const void*, const void*> probed; ///< host names, by the kernel's
  std::map<const void*, KernelVariants> variants;
};

/// Returns the table, which is never destroyed: modules register before main(), and threads may launch until
/// the end.
Known& known() {
  static Known* const instance = new Known;
  return *instance;
}

const void* register_probed_variant(void** module, const char* symbol) {
  Known::ProbedVariant& variant = known().probed_variants.emplace_back(
      Known::ProbedVariant{std::string(symbol) + WARPLENS_PROBED_SUFFIX});
  char* const name = variant.device_name.data();
  __cudaRegisterFunction(module, &variant.host_name, name, name, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  return &variant.host_name;
}

std::uint64_t count(dim3 size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

/// Returns whether all blocks of the grid fit onto the GPU at once.
bool fits_at_once(const void* kernel, const LaunchSize& size) {
  int device = 0, multiprocessors = 0, blocks = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
         cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(count(size.block)),
                                                       size.shared_bytes) == cudaSuccess &&
         count(size.grid) <= static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(multiprocessors);
}

bool give_attributes(const void* to, const cudaFuncAttributes& from) {
  const auto set = [to](cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(to, attribute, value) == cudaSuccess;
  };
  return set(cudaFuncAttributeMaxDynamicSharedMemorySize, from.maxDynamicSharedSizeBytes) &&
         set(cudaFuncAttributePreferredSharedMemoryCarveout, from.preferredShmemCarveout) &&
         (from.nonPortableClusterSizeAllowed == 0 || set(cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

} // namespace

const KernelVariants& variants_of(const void* kernel) {
  const std::scoped_lock lock(known().mutex);
  const auto [found, is_new] = known().variants.try_emplace(kernel);
  KernelVariants& variants = found->second;
  if (!is_new)
    return variants;
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess && name)
    variants.symbol = name;
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess)
    variants.static_shared_bytes = static_cast<std::uint32_t>(attributes.sharedSizeBytes);
  const auto probed = known().probed.find(kernel);
  variants.probed = probed == known().probed.end() ? kernel : probed->second;
  return variants;
}

bool can_replace(const void* probed, const void* kernel, const LaunchSize& size) {
  if (probed == kernel)
    return true; // the program itself finds out whether the kernel can be launched
  cudaFuncAttributes own, with_probes;
  return cudaFuncGetAttributes(&own, kernel) == cudaSuccess && give_attributes(probed, own) &&
         cudaFuncGetAttributes(&with_probes, probed) == cudaSuccess &&
         count(size.block) <= static_cast<std::uint64_t>(with_probes.maxThreadsPerBlock) &&
         (!size.cooperative || fits_at_once(probed, size));
}

} // namespace warplens::gpu

void __warplens___cudaRegisterFunction(void** module, const char* host_name, char* device_name,
                                       const char* symbol, int thread_limit, uint3* thread, uint3* block,
                                       dim3* block_extent, dim3* grid_extent, int* warp_size) {
  using namespace warplens::gpu;
  __cudaRegisterFunction(module, host_name, device_name, symbol, thread_limit, thread, block, block_extent,
                         grid_extent, warp_size);
  const std::scoped_lock lock(known().mutex);
  known().probed[host_name] = register_probed_variant(module, symbol);
}
