// The microbenchmarks of Hopper's own instructions share this: the group of experiments that is asked for,
// data, launches of clusters, and barriers in shared memory, whose waits give up so that a wrong protocol
// cannot hang the GPU.
#pragma once

#include "measure.h"

#include <cstdint>
#include <cstring>

namespace measure {

/// Prints the header, and returns whether the GPU has the instructions: sm_90a's are those of one compute
/// capability alone.
inline bool begin_on_hopper(const char* header) {
  std::puts(header);
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device");
  if (major == 9 && minor == 0)
    return true;
  std::fprintf(stderr, "compute capability %d.%d, needs 9.0\n", major, minor);
  return false;
}

/// Returns whether the first argument names the group; without one all are asked for.
inline bool asks_for(int argc, char** argv, const char* group) {
  return argc < 2 || std::strcmp(argv[1], group) == 0;
}

/// Returns noise that is finite in each type that a tensor core takes: as f16 it is of 0.5 to 1, as bf16 and
/// tf32 small, with signs.
__device__ inline unsigned random_word(unsigned seed) {
  return (mix(seed) & 0x83b783b7U) | 0x38003800U;
}

/// Memory full of noise, and which part of it a launch uses: one that stays in the L2, or one that has left
/// it.
class Memory {
public:
  static constexpr unsigned l2_bytes = 8U << 20;

  Memory() {
    fill_with_noise<<<1024, 256>>>(reinterpret_cast<uint4*>(memory_), bytes_ / sizeof(uint4));
    check(cudaDeviceSynchronize(), "noise");
  }

  char* part(bool far, std::size_t bytes) {
    if (!far)
      return memory_;
    bytes = (bytes + 4095) / 4096 * 4096;
    if (next_ + bytes > bytes_)
      next_ = l2_bytes;
    next_ += bytes;
    return memory_ + next_ - bytes;
  }

  /// Returns the bits of a distance from the part's begin that count.
  static unsigned wrap(bool far) { return far ? ~0U : l2_bytes - 1; }
  static const char* name(bool far) { return far ? "memory" : "l2"; }

private:
  static constexpr std::size_t bytes_ = std::size_t{2} << 30;
  char* memory_ = zeros<char>(bytes_);
  std::size_t next_ = l2_bytes;
};

/// Lets the kernel have so much dynamic shared memory.
template <class Kernel> Kernel with_shared_memory(Kernel kernel, unsigned bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "shared memory");
  return kernel;
}

/// Launches a kernel with dynamic shared memory, in clusters of this number of blocks.
template <class... Parameters> class Clusters {
public:
  Clusters(void (*kernel)(Parameters...), unsigned ranks, unsigned threads, unsigned shared = 0)
      : kernel_(with_shared_memory(kernel, shared)), ranks_(ranks), threads_(threads), shared_(shared) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "clusters");
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {ranks, 1, 1};
  }

  /// Returns how many clusters can run at once.
  unsigned most() const {
    int count = 0;
    const cudaLaunchConfig_t config = for_blocks(ranks_);
    if (cudaOccupancyMaxActiveClusters(&count, kernel_, &config) != cudaSuccess) {
      cudaGetLastError(); // what follows shall not fail for it
      return 0;
    }
    return static_cast<unsigned>(count);
  }

  void launch(unsigned blocks, Parameters... parameters) const {
    const cudaLaunchConfig_t config = for_blocks(blocks);
    check(cudaLaunchKernelEx(&config, kernel_, parameters...), "launch of clusters");
  }

private:
  cudaLaunchConfig_t for_blocks(unsigned blocks) const {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads_;
    config.dynamicSmemBytes = shared_;
    config.attrs = &attribute_;
    config.numAttrs = 1;
    return config;
  }

  void (*kernel_)(Parameters...);
  unsigned ranks_, threads_, shared_;
  mutable cudaLaunchAttribute attribute_{};
};

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline unsigned cluster_ranks() {
  unsigned ranks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  return ranks;
}

/// Waits until all threads of the cluster have come here.
__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Returns the word by a way that the assembler does not see through, lest it compute an address anew between
/// readings of the clock. All lanes of the warp have the same word.
__device__ inline unsigned opaque(unsigned word) {
  return __shfl_sync(0xffffffff, word, 0);
}

static __device__ unsigned waits_given_up;

/// Prints the row, or says on standard error that a wait was given up since the last row.
inline void row_of_waits(const std::string& experiment, double x, double value) {
  unsigned given_up = 0;
  check(cudaMemcpyFromSymbol(&given_up, waits_given_up, sizeof given_up), "waits");
  if (given_up == 0)
    return row(experiment, x, value);
  std::fprintf(stderr, "%s at %g: failed: %u waits were given up\n", experiment.c_str(), x, given_up);
  given_up = 0;
  check(cudaMemcpyToSymbol(waits_given_up, &given_up, sizeof given_up), "waits");
}

// Barriers, by their addresses in shared memory.

__device__ inline void start_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes new barriers, and what was stored to shared memory, known to copies and to the cluster's blocks. A
/// barrier of the threads that use them must follow.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
}

__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void arrive_and_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ inline bool try_wait(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

/// Tries until it comes true, for some milliseconds; returns whether it did.
template <class Try> __device__ bool wait_until(Try is_true) {
  constexpr long long patience = 1 << 24;
  if (is_true())
    return true;
  for (const long long begin = now(); now() - begin < patience;)
    if (is_true())
      return true;
  atomicAdd(&waits_given_up, 1U);
  return false;
}

/// Waits until the barrier's phase of that parity ends; returns whether it did in time.
__device__ inline bool wait(unsigned barrier, unsigned parity) {
  return wait_until([&] { return try_wait(barrier, parity); });
}

/// Waits until shared memory was read, or all was written, of all groups of bulk stores but the last ones.
template <int pending, bool read> __device__ void await_stores() {
  if constexpr (read)
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
  else
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

/// Returns whether the calling lane is the one of its warp that makes the copies. The assembler knows then
/// that there is one, and needs no loop over lanes around each copy.
__device__ inline bool elected() {
  unsigned elected;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(elected));
  return elected != 0;
}

/// Calls `issue(stage, number)`, which starts the `number`-th copy to one of `stages` places and arrives at
/// that place's barrier, for each place, and again when its last copy is there.
template <class Issue>
__device__ void keep_on_their_way(unsigned stages, unsigned pieces, unsigned first_barrier, Issue issue) {
  for (unsigned i = 0; i < stages && i < pieces; ++i)
    issue(i, i);
  unsigned stage = 0, parity = 0;
  for (unsigned i = 0; i < pieces && wait(first_barrier + stage * 8, parity); ++i) {
    if (i + stages < pieces)
      issue(stage, i + stages);
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

} // namespace measure
