// Memory pools: CUDA Runtime API, "Stream Ordered Memory Allocator". Freed memory returns to the device at
// once, so a pool only counts.
#include "runtime/cpu/cudart/capture.h"
#include "runtime/cpu/cudart/error.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

struct CUmemPoolHandle_st {
  cudaMemPoolProps properties{};
  std::map<cudaMemPoolAttr, std::uint64_t> attributes = {{cudaMemPoolReuseFollowEventDependencies, 1},
                                                         {cudaMemPoolReuseAllowOpportunistic, 1},
                                                         {cudaMemPoolReuseAllowInternalDependencies, 1},
                                                         {cudaMemPoolAttrReleaseThreshold, 0}};
  std::size_t used = 0, max_used = 0;
};

using namespace warplens::cpu;

namespace {

using Pool = std::shared_ptr<CUmemPoolHandle_st>;

struct Pools {
  std::mutex mutex;
  std::map<cudaMemPool_t, Pool> all;
  Pool default_pool = std::make_shared<CUmemPoolHandle_st>(), current = default_pool;
  struct Allocation {
    Pool pool;
    std::size_t bytes;
  };
  std::map<void*, Allocation> allocations;

  Pools() {
    default_pool->properties.allocType = cudaMemAllocationTypePinned;
    default_pool->properties.location = {cudaMemLocationTypeDevice, 0};
    all.emplace(default_pool.get(), default_pool);
  }
};
Pools& pools() {
  static auto& instance = *new Pools;
  return instance;
}

/// Calls `then(pool)` for a live pool, holding the mutex.
template <class Then> cudaError_t with_valid_handle(cudaMemPool_t pool, Then then) {
  return cuda_entry([&] {
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().all.find(pool);
    return found == pools().all.end() ? cudaErrorInvalidValue : then(*found->second);
  });
}

bool is_device(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice && location.id == 0;
}

bool is_switch(cudaMemPoolAttr name) {
  return name >= cudaMemPoolReuseFollowEventDependencies && name <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t allocate(void** pointer, std::size_t bytes, const Pool& pool) {
  const std::size_t limit = pool->properties.maxSize;
  if (limit && bytes > limit - std::min(limit, pool->used))
    return cudaErrorMemoryAllocation;
  const cudaError_t error = allocate_memory(pointer, bytes, "cudaMallocAsync");
  if (error != cudaSuccess || bytes == 0)
    return error;
  pool->used += bytes;
  pool->max_used = std::max(pool->max_used, pool->used);
  pools().allocations[*pointer] = {pool, bytes};
  return cudaSuccess;
}

/// Makes the allocation, in a stream under capture, a node whose memory belongs to the graph.
cudaError_t capture_allocation(void** pointer, std::size_t bytes, cudaStream_t stream,
                               const cudaMemPoolProps& properties) {
  auto allocation = reserve_graph_memory(bytes);
  if (!allocation)
    return cudaErrorMemoryAllocation;
  *pointer = allocation->address;
  return add_to_capture(stream, Allocate{{properties, nullptr, 0, bytes, allocation->address}, allocation});
}

/// Allocates from a pool; null is the device's current pool.
cudaError_t allocate_on(void** pointer, std::size_t bytes, cudaMemPool_t from, cudaStream_t stream) {
  if (!pointer)
    return cudaErrorInvalidValue;
  if (!is_stream(stream))
    return cudaErrorInvalidResourceHandle;
  const StreamState state = state_of(stream);
  if (state.error != cudaSuccess)
    return state.error;
  const std::lock_guard lock(pools().mutex);
  const auto found = from ? pools().all.find(from) : pools().all.find(pools().current.get());
  if (found == pools().all.end())
    return cudaErrorInvalidValue;
  return state.captured ? capture_allocation(pointer, bytes, stream, found->second->properties)
                        : allocate(pointer, bytes, found->second);
}

cudaError_t give_pool(cudaMemPool_t* pool, bool may, const Pool& which) {
  return cuda_entry([&] {
    if (!pool || !may)
      return cudaErrorInvalidValue;
    const std::lock_guard lock(pools().mutex);
    *pool = which.get();
    return cudaSuccess;
  });
}

bool is_device_pinned(const cudaMemLocation* location, cudaMemAllocationType type) {
  return location && is_device(*location) && type == cudaMemAllocationTypePinned;
}

} // namespace

namespace warplens::cpu {

void leave_pool(void* pointer) {
  const std::lock_guard lock(pools().mutex);
  const auto found = pools().allocations.find(pointer);
  if (found == pools().allocations.end())
    return;
  found->second.pool->used -= found->second.bytes;
  pools().allocations.erase(found);
}

} // namespace warplens::cpu

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return cuda_entry([&] { return allocate_on(pointer, bytes, nullptr, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cuda_entry([&] { return pool ? allocate_on(pointer, bytes, pool, stream) : cudaErrorInvalidValue; });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return cuda_entry([&] { return issue(stream, Release{pointer}); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return cuda_entry([&] {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        !is_device(properties->location))
      return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
      return cudaErrorNotSupported; // no other process can reach this one's device memory
    auto made = std::make_shared<CUmemPoolHandle_st>();
    made->properties = *properties;
    const std::lock_guard lock(pools().mutex);
    *pool = made.get();
    pools().all.emplace(*pool, std::move(made));
    return cudaSuccess;
  });
}

/// Destroys the pool; its allocations stay.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_valid_handle(pool, [&](const CUmemPoolHandle_st&) {
    if (pool == pools().default_pool.get())
      return cudaErrorInvalidValue;
    if (pool == pools().current.get())
      pools().current = pools().default_pool;
    pools().all.erase(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return with_valid_handle(pool, [&](CUmemPoolHandle_st& described) {
    if (!value)
      return cudaErrorInvalidValue;
    if (is_switch(name)) {
      described.attributes[name] = *static_cast<int*>(value) != 0;
      return cudaSuccess;
    }
    const std::uint64_t number = *static_cast<std::uint64_t*>(value);
    switch (name) {
    case cudaMemPoolAttrReleaseThreshold: described.attributes[name] = number; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: // can only be reset
      if (number != 0)
        return cudaErrorInvalidValue;
      described.max_used = described.used;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return with_valid_handle(pool, [&](CUmemPoolHandle_st& described) {
    if (!value)
      return cudaErrorInvalidValue;
    if (is_switch(name)) {
      *static_cast<int*>(value) = static_cast<int>(described.attributes[name]);
      return cudaSuccess;
    }
    std::uint64_t& number = *static_cast<std::uint64_t*>(value);
    switch (name) {
    case cudaMemPoolAttrReleaseThreshold: number = described.attributes[name]; return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: number = described.used; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: number = described.max_used; return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return with_valid_handle(pool,
                           [](const CUmemPoolHandle_st&) { return cudaSuccess; }); // pools cache nothing
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, std::size_t count) {
  return with_valid_handle(pool, [&](const CUmemPoolHandle_st&) {
    for (std::size_t i = 0; i < count; ++i)
      if (!access || !is_device(access[i].location) || access[i].flags != cudaMemAccessFlagsProtReadWrite)
        return cudaErrorInvalidValue; // a device always has access to its own memory
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return with_valid_handle(pool, [&](const CUmemPoolHandle_st&) {
    if (!flags || !location)
      return cudaErrorInvalidValue;
    *flags = is_device(*location) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number) {
  return number == 0 ? give_pool(pool, true, pools().default_pool) : report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int number) {
  return number == 0 ? give_pool(pool, true, pools().current) : report(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  if (number != 0)
    return report(cudaErrorInvalidDevice);
  return with_valid_handle(pool, [&](const CUmemPoolHandle_st&) {
    pools().current = pools().all.at(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return give_pool(pool, is_device_pinned(location, type), pools().default_pool);
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return give_pool(pool, is_device_pinned(location, type), pools().current);
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return is_device_pinned(location, type) ? cudaDeviceSetMemPool(0, pool) : report(cudaErrorInvalidValue);
}

} // extern "C"

PER_THREAD_NAME(cudaMallocAsync, ptsz)
PER_THREAD_NAME(cudaFreeAsync, ptsz)
PER_THREAD_NAME(cudaMallocFromPoolAsync, ptsz)
