#include "runtime/host/channel_memory.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace warplens::ring {
namespace {

/// Allocates consecutive parts, each on cache lines of its own.
class Parts {
public:
  explicit Parts(void* memory) : memory_(reinterpret_cast<std::uintptr_t>(memory)) {}

  template <class T> T* take(std::size_t count) {
    T* const part = reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return part;
  }
  std::size_t used() const { return used_; }

private:
  std::uintptr_t memory_; ///< an integer: it may be null, or a device's address
  std::size_t used_ = 0;
};

std::size_t place_local(Channel& channel, void* memory) {
  Parts parts(memory);
  const std::size_t rings = std::size_t{channel.buffers} * channel.warps;
  channel.stopped = parts.take<std::uint32_t>(1);
  channel.launch = parts.take<std::uint64_t>(1);
  channel.block_buffers = parts.take<BlockBuffer>(channel.buffers);
  channel.rings = parts.take<Ring>(rings);
  channel.buffer_of_block = parts.take<std::uint32_t>(channel.blocks);
  return parts.used();
}

std::size_t place_shared(Channel& channel, void* memory) {
  Parts parts(memory);
  const std::size_t rings = std::size_t{channel.buffers} * channel.warps;
  channel.stop = parts.take<std::uint32_t>(1);
  channel.entered = parts.take<std::uint32_t>(channel.buffers);
  channel.drained = parts.take<std::uint64_t>(rings);
  channel.slots = parts.take<Slot>(rings * channel.capacity);
  return parts.used();
}

Channel without_memory(const Extent& extent) {
  Channel channel{};
  channel.first_block = extent.first_block;
  channel.blocks = extent.blocks;
  channel.buffers = extent.buffers;
  channel.warps = extent.warps;
  channel.capacity = extent.capacity;
  channel.first_choices = extent.first_choices;
  return channel;
}

} // namespace

std::size_t Extent::local_bytes() const {
  Channel channel = without_memory(*this);
  return place_local(channel, nullptr);
}

std::size_t Extent::shared_bytes() const {
  Channel channel = without_memory(*this);
  return place_shared(channel, nullptr);
}

Channel lay_out(const Extent& extent, void* local, void* shared) {
  Channel channel = without_memory(extent);
  place_local(channel, local);
  place_shared(channel, shared);
  return channel;
}

void clear_shared(const Channel& channel) {
  const std::size_t rings = std::size_t{channel.buffers} * channel.warps;
  *channel.stop = 0;
  std::fill_n(channel.entered, channel.buffers, 0);
  std::fill_n(channel.drained, rings, 0);
  for (Slot* slot = channel.slots; slot != channel.slots + rings * channel.capacity; ++slot)
    slot->committed = 0;
}

HostMemory::HostMemory(std::size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data_ == MAP_FAILED)
    throw std::bad_alloc();
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostMemory::~HostMemory() {
  if (data_)
    munmap(data_, bytes_);
}

} // namespace warplens::ring
