// The GPU back end's half of the probes: turns the lanes that arrive together at a probe into a line in their
// warp's ring. Compiled by nvcc within the user's files; needs C++14 and sm_75.
#pragma once

#include "module_channel.h"

namespace warplens {
namespace detail {

#if defined(__CUDA_ARCH__)

__device__ inline uint64_t linear_block() {
  return blockIdx.x + uint64_t{gridDim.x} * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
}
__device__ inline uint32_t linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// Returns whether the channel belongs to this launch. Kernels of other streams may run meanwhile and see the
/// same variable: the shape must be the traced launch's, and the first launch of that shape keeps the
/// channel.
__device__ inline bool is_traced_launch(const ring::Channel& channel) {
  if (gridDim.x != channel.grid[0] || gridDim.y != channel.grid[1] || gridDim.z != channel.grid[2] ||
      blockDim.x != channel.block[0] || blockDim.y != channel.block[1] || blockDim.z != channel.block[2])
    return false;
  uint64_t self;
  asm("mov.u64 %0, %%gridid;" : "=l"(self));
  self += 1; // 0 means that no launch has taken it
  uint64_t owner = scoped::load_relaxed(channel.launch);
  if (owner == 0 && scoped::compare_exchange(channel.launch, owner, self))
    owner = self;
  return owner == self;
}

/// Channel::buffer_of_block contains one of these, or a buffer's index plus `entry_buffers`.
enum : uint32_t { entry_none = 0, entry_pending = 1, entry_refused = 2, entry_buffers = 3 };

/// Returns the buffer of this thread's block; the first calling thread takes one for the block. Null: not
/// traced.
__device__ inline ring::BlockBuffer* buffer_of_this_block() {
  ring::Channel& channel = module_channel;
  const uint64_t block = linear_block();
  if (block - channel.first_block >= channel.blocks || !is_traced_launch(channel))
    return nullptr;
  uint32_t* const entry = &channel.buffer_of_block[block - channel.first_block];
  uint32_t found = scoped::load_acquire(entry);
  if (found == entry_none && scoped::compare_exchange(entry, found, uint32_t{entry_pending})) {
    ring::BlockBuffer* const buffer = ring::enter(&channel, block, blockDim.x * blockDim.y * blockDim.z);
    found = buffer ? buffer->index + entry_buffers : uint32_t{entry_refused};
    scoped::store_release(entry, found);
  }
  // The thread that is taking the buffer leaves enter() at the latest when the host sets the stop word.
  while (found == entry_pending) {
    scoped::relax();
    found = scoped::load_acquire(entry);
  }
  return found == entry_refused ? nullptr : &channel.block_buffers[found - entry_buffers];
}

/// An address in a trace's terms.
struct Place {
  uint64_t address;
  uint32_t space; ///< Space
};

__device__ inline Place place_of(const volatile void* pointer) {
  const void* const plain = const_cast<const void*>(pointer);
  if (__isShared(plain)) {
    uint32_t reserved = 0;
#if __CUDA_ARCH__ >= 800
    // The system's part is first, of this size (PTX ISA, "%reserved_smem_offset_<begin, end, cap, 2>"); what
    // of it is in use ends before: on an H100 at 32 to 288 of 1024 bytes.
    asm("mov.b32 %0, %%reserved_smem_offset_cap;" : "=r"(reserved));
#endif
    return {__cvta_generic_to_shared(plain) - reserved, 2};
  }
  if (__isConstant(plain))
    return {reinterpret_cast<uint64_t>(plain), 4};
  if (__isLocal(plain)) {
    // Local memory is laid out so that consecutive 32-bit words are accessed by consecutive thread ids (CUDA
    // Programming Guide, "Local Memory"); each warp gets a range of its own, of 32 times the 512 KiB that a
    // thread may have.
    const uint64_t offset = __cvta_generic_to_local(plain);
    const uint64_t warps = (uint64_t{blockDim.x} * blockDim.y * blockDim.z + 31) / 32;
    const uint64_t warp = linear_block() * warps + linear_thread() / 32;
    return {(warp << 24) + offset / 4 * 128 + linear_thread() % 32 * 4 + offset % 4, 3};
  }
  return {reinterpret_cast<uint64_t>(plain), 1};
}

/// Writes one line for the lanes of `group`; all of them call it.
__device__ inline void push_together(ring::BlockBuffer* buffer, uint32_t group, uint64_t site, Place place,
                                     unsigned bytes, unsigned kind) {
  const uint32_t lane = linear_thread() % 32;
  const uint32_t leader = __ffs(group) - 1;
  ring::Reservation reservation{nullptr, 0};
  if (lane == leader)
    reservation = ring::reserve(buffer, linear_thread() / 32);
  ring::Slot* const slot = reinterpret_cast<ring::Slot*>(
      __shfl_sync(group, reinterpret_cast<unsigned long long>(reservation.slot), leader));
  if (!slot)
    return;
  slot->line.addresses[lane] = place.address;
  if (lane == leader) {
    slot->block = buffer->block;
    slot->line.site = site;
    slot->line.active = group;
    slot->line.bytes = static_cast<uint16_t>(bytes);
    slot->line.space = static_cast<uint8_t>(place.space);
    slot->line.kind = static_cast<uint8_t>(kind);
  }
  __syncwarp(group); // orders the lanes' writes before the leader's release
  if (lane == leader)
    ring::commit(reservation);
}

__device__ inline void record_place(unsigned long long site, Place place, unsigned bytes, unsigned kind) {
  const uint32_t arrived = __activemask();
  ring::BlockBuffer* const buffer = buffer_of_this_block(); // the same for all of a block
  if (!buffer)
    return;
  // Lanes that arrive together may still differ in space, in width if they fetch from different textures, and
  // in site if the compiler has merged two calls.
  const uint32_t space_and_width = place.space | bytes << 8;
  for (uint32_t left = arrived;;) {
    const uint32_t leader = __ffs(left) - 1;
    const bool same_site = __shfl_sync(left, site, leader) == site;
    const bool same_kind = __shfl_sync(left, space_and_width, leader) == space_and_width;
    const bool with_leader = same_site && same_kind;
    const uint32_t group = __ballot_sync(left, with_leader);
    if (with_leader)
      return push_together(buffer, group, site, place, bytes, kind);
    left &= ~group;
  }
}

/// Never inlined, so that an untraced launch only pays for a test and a branch.
static __device__ __noinline__ void record_traced(unsigned long long site, const volatile void* pointer,
                                                  unsigned bytes, unsigned kind) {
  record_place(site, place_of(pointer), bytes, kind);
}

__device__ __forceinline__ void record_on_gpu(unsigned long long site, const volatile void* pointer,
                                              unsigned bytes, unsigned kind) {
  if (module_channel.blocks != 0)
    record_traced(site, pointer, bytes, kind);
}

/// Records the arrival at a barrier, without a space and an address. The lanes that arrive together wait for
/// each other only.
static __device__ __noinline__ void record_traced_barrier(unsigned long long site, unsigned kind) {
  record_place(site, {0, 0}, 0, kind);
}

__device__ __forceinline__ void record_barrier_on_gpu(unsigned long long site, unsigned kind) {
  if (module_channel.blocks != 0)
    record_traced_barrier(site, kind);
}

static __device__ __noinline__ void leave_traced() {
  const uint32_t group = __activemask();
  ring::BlockBuffer* const buffer = buffer_of_this_block(); // the same for all of a block
  if (!buffer)
    return;
  __syncwarp(group);
  if (linear_thread() % 32 == static_cast<uint32_t>(__ffs(group) - 1))
    ring::leave(buffer, __popc(group));
}

#endif

} // namespace detail

/// The first statement in the body of a kernel: its block takes a buffer, and releases it as the block's
/// threads return. Without it a block keeps its buffer to the kernel's end.
struct KernelScope {
  __device__ __forceinline__ KernelScope() {
#if defined(__CUDA_ARCH__)
    if (detail::module_channel.blocks != 0)
      detail::buffer_of_this_block();
#endif
  }
  __device__ __forceinline__ ~KernelScope() {
#if defined(__CUDA_ARCH__)
    if (detail::module_channel.blocks != 0)
      detail::leave_traced();
#endif
  }
};

} // namespace warplens
