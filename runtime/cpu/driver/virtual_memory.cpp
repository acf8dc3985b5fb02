// Address ranges and the memory that is mapped to them: CUDA Driver API, "Virtual Memory Management". A
// handle is a file in memory, which each of its mappings shares.
#include "runtime/cpu/driver/result.h"
#include "runtime/cpu/memory/memory.h"

#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace warplens::cpu;

namespace {

constexpr std::size_t granularity = 2 << 20; ///< a GPU's large page

struct Handle {
  int file = -1;
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};
  unsigned references = 1; ///< the program's, and its mappings
};

struct Mapping {
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
  bool is_accessible = false;
};

struct Range {
  void* allocation = nullptr; ///< which holds the range, whose begin is aligned
  std::size_t bytes = 0;
};

std::mutex mutex;
std::map<CUmemGenericAllocationHandle, Handle> handles;
std::map<CUdeviceptr, Range> ranges;
std::map<CUdeviceptr, Mapping> mappings;
CUmemGenericAllocationHandle next_handle = 1;

bool is_whole(std::size_t bytes) {
  return bytes != 0 && bytes % granularity == 0;
}

void release(CUmemGenericAllocationHandle number) {
  const auto found = handles.find(number);
  if (--found->second.references != 0)
    return;
  close(found->second.file);
  handles.erase(found);
}

/// Replaces the pages of a range by fresh ones.
bool renew(CUdeviceptr address, std::size_t bytes, int protection) {
  return mmap(pointer(address), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
              -1, 0) != MAP_FAILED;
}

/// Returns whether the addresses lie in one range, or in one's mappings.
bool is_reserved(CUdeviceptr address, std::size_t bytes) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin())
    return false;
  const auto& [begin, range] = *std::prev(after);
  return address - begin < range.bytes && bytes <= range.bytes - (address - begin);
}
bool overlaps_mapping(CUdeviceptr address, std::size_t bytes) {
  const auto after = mappings.lower_bound(address + bytes);
  return after != mappings.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address;
}

/// Calls `then(address, mapping)` for the mappings that make up exactly these addresses; returns false, and
/// calls nothing, if there are none.
template <class Then> bool for_each_mapping(CUdeviceptr address, std::size_t bytes, Then then) {
  const auto first = mappings.find(address);
  auto last = first;
  CUdeviceptr end = address;
  for (; last != mappings.end() && last->first == end && end < address + bytes; ++last)
    end += last->second.bytes;
  if (end != address + bytes || first == last)
    return false;
  for (auto one = first; one != last; ++one)
    if (!then(one->first, one->second))
      return false;
  return true;
}

} // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return driver_entry([&] {
    if (!bytes || !properties)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = granularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long) {
  return driver_entry([&] {
    alignment = std::max(alignment, granularity);
    if (!address || !is_whole(bytes) || (alignment & (alignment - 1)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    void* const allocation = DeviceMemory::instance().allocate(bytes + alignment);
    if (!allocation)
      return CUDA_ERROR_OUT_OF_MEMORY;
    const auto at = reinterpret_cast<CUdeviceptr>(allocation);
    *address = (at + alignment - 1) / alignment * alignment;
    const std::scoped_lock lock(mutex);
    ranges.emplace(*address, Range{allocation, bytes});
    return renew(*address, bytes, PROT_NONE) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    const auto found = ranges.find(address);
    if (found == ranges.end() || found->second.bytes != bytes || overlaps_mapping(address, bytes) ||
        !renew(address, bytes, PROT_READ | PROT_WRITE))
      return CUDA_ERROR_INVALID_VALUE;
    DeviceMemory::instance().free(found->second.allocation);
    ranges.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  return driver_entry([&] {
    if (!handle || !properties || !is_whole(bytes) ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const int file = memfd_create("warplens device memory", MFD_CLOEXEC);
    if (file < 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
    if (ftruncate(file, off_t(bytes)) != 0) {
      close(file);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const std::scoped_lock lock(mutex);
    *handle = next_handle++;
    handles.emplace(*handle, Handle{file, bytes, *properties});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    if (!properties || !handles.contains(handle))
      return CUDA_ERROR_INVALID_VALUE;
    *properties = handles.at(handle).properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    if (!handles.contains(handle))
      return CUDA_ERROR_INVALID_VALUE;
    release(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    const auto found = handles.find(handle);
    if (found == handles.end() || !is_whole(bytes) || offset != 0 || bytes > found->second.bytes ||
        address % granularity != 0 || !is_reserved(address, bytes) || overlaps_mapping(address, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second.file, 0) == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    ++found->second.references;
    mappings.emplace(address, Mapping{bytes, handle});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    const bool all = for_each_mapping(address, bytes, [](CUdeviceptr at, const Mapping& mapping) {
      release(mapping.handle);
      return renew(at, mapping.bytes, PROT_NONE);
    });
    if (!all)
      return CUDA_ERROR_INVALID_VALUE;
    mappings.erase(mappings.find(address), mappings.lower_bound(address + bytes));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  return driver_entry([&] {
    if (!access || count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        access->location.id != 0)
      return CUDA_ERROR_INVALID_VALUE;
    // The host reads what kernels may write: one process is both.
    const int protection = access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
                           : access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                                            : PROT_READ | PROT_WRITE;
    const std::scoped_lock lock(mutex);
    return for_each_mapping(address, bytes,
                            [&](CUdeviceptr at, Mapping& mapping) {
                              mapping.is_accessible = protection != PROT_NONE;
                              return mprotect(pointer(at), mapping.bytes, protection) == 0;
                            })
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    const auto after = mappings.upper_bound(address);
    if (!flags || !location || after == mappings.begin() ||
        address - std::prev(after)->first >= std::prev(after)->second.bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = std::prev(after)->second.is_accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return driver_entry([&] {
    const std::scoped_lock lock(mutex);
    const auto after = mappings.upper_bound(reinterpret_cast<CUdeviceptr>(address));
    if (!handle || after == mappings.begin() ||
        reinterpret_cast<CUdeviceptr>(address) - std::prev(after)->first >= std::prev(after)->second.bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *handle = std::prev(after)->second.handle;
    ++handles.at(*handle).references;
    return CUDA_SUCCESS;
  });
}
}
