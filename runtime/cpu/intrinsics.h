// What device code calls while it runs: the operations that need more than one thread, or the block. The
// lowering turns NVVM's intrinsics into these calls (its table: lowering/intrinsics.cpp). Meanings are those
// of the PTX ISA's instructions.
#pragma once

#include "runtime/cpu/abi.h"

#include <cstdint>

namespace warplens::cpu {

/// shfl.sync's modes.
enum class Shuffle : std::uint32_t { up, down, bfly, idx };
/// vote.sync's modes that give a predicate.
enum class Vote : std::uint32_t { any, all, uni };
/// redux.sync's operations, and barrier.red's.
enum class Reduction : std::uint32_t { add, and_, or_, xor_, min, max, umin, umax };

/// What a texture fetch's coordinates mean: tex's 1d, 2d, 3d, a1d, a2d, cube and acube.
enum class TextureShape : std::uint32_t { line, plane, volume, lines, planes, cube, cubes };

/// The value that shfl.sync gives, and its predicate: was the source lane in range?
struct ShuffleResult {
  std::uint32_t value;
  std::uint32_t in_range;
};

/// match.all.sync: the mask of lanes with the same value, or 0, and whether all have the same.
struct MatchResult {
  std::uint32_t mask;
  std::uint32_t all;
};

} // namespace warplens::cpu

extern "C" {
/// The lane that the calling fiber runs: what functions that could not be inlined into their kernel ask.
warplens::cpu::LaneContext* __warplens_cpu_current_lane();

// All of these may suspend the lane.

/// barrier.sync: waits for `threads` threads of the block at barrier `id` (0 to 15); 0 threads: all that have
/// not exited.
void __warplens_cpu_barrier(warplens::cpu::LaneContext* lane, std::uint32_t id, std::uint32_t threads);
/// barrier.red: the same at barrier 0, and combines the predicates: Reduction::add counts, and_, or_.
std::uint32_t __warplens_cpu_barrier_reduce(warplens::cpu::LaneContext* lane, std::uint32_t operation,
                                            std::uint32_t predicate);
void __warplens_cpu_warp_barrier(warplens::cpu::LaneContext* lane, std::uint32_t mask);
warplens::cpu::ShuffleResult __warplens_cpu_shuffle(warplens::cpu::LaneContext* lane, std::uint32_t mode,
                                                    std::uint32_t mask, std::uint32_t value,
                                                    std::uint32_t source, std::uint32_t clamp);
std::uint32_t __warplens_cpu_ballot(warplens::cpu::LaneContext* lane, std::uint32_t mask,
                                    std::uint32_t predicate);
std::uint32_t __warplens_cpu_vote(warplens::cpu::LaneContext* lane, std::uint32_t mode, std::uint32_t mask,
                                  std::uint32_t predicate);
std::uint32_t __warplens_cpu_match_any(warplens::cpu::LaneContext* lane, std::uint32_t mask,
                                       std::uint64_t value);
warplens::cpu::MatchResult __warplens_cpu_match_all(warplens::cpu::LaneContext* lane, std::uint32_t mask,
                                                    std::uint64_t value);
std::uint32_t __warplens_cpu_reduce(warplens::cpu::LaneContext* lane, std::uint32_t operation,
                                    std::uint32_t mask, std::uint32_t value);
/// activemask: the lanes of the warp that are at this place, `position` in program order, once all others
/// have come as far as they can.
std::uint32_t __warplens_cpu_active_mask(warplens::cpu::LaneContext* lane, std::uint32_t position);
/// In a loop that may wait for another thread: lets the others run.
void __warplens_cpu_yield(warplens::cpu::LaneContext* lane);

// These end the thread, or the kernel.

[[noreturn]] void __warplens_cpu_exit(warplens::cpu::LaneContext* lane);
/// The kernel fails; `reason` says why in a line.
[[noreturn]] void __warplens_cpu_abort_kernel(const char* reason);
[[noreturn]] void __warplens_cpu_trap(warplens::cpu::LaneContext* lane);
[[noreturn]] void __warplens_cpu_pure_virtual();

// These never suspend.

/// Before a call of the runtime that names the thread: tells which one it is, in code that runs without
/// fibers.
void __warplens_cpu_enter_lane(warplens::cpu::LaneContext* lane);

/// fns: the place of the mask's `offset`-th set bit, counted from bit `base` upwards (negative: downwards);
/// ~0: there is none.
std::uint32_t __warplens_cpu_find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset);

/// bfloat16, as bits: rounded to nearest even, once.
std::uint16_t __warplens_cpu_double_to_bfloat(double value);
std::uint16_t __warplens_cpu_bfloat_fma(std::uint16_t x, std::uint16_t y, std::uint16_t z);

/// tex: a filtered fetch. `layer` counts in lines, planes and cubes; only mip level 0 exists.
void __warplens_cpu_texture(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x, float y,
                            float z, std::uint32_t* texel);
/// tex with an integer coordinate (tex1Dfetch).
void __warplens_cpu_texel(std::uint64_t texture, std::int32_t x, std::uint32_t* texel);
/// tld4: one component of the four texels that a bilinear filter takes, anticlockwise from (0, 1).
void __warplens_cpu_texture_gather(std::uint64_t texture, std::uint32_t component, float x, float y,
                                   std::uint32_t* texel);
/// suld and sust: `x` counts bytes; `mode` is a cudaSurfaceBoundaryMode.
void __warplens_cpu_surface_read(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                 std::int32_t layer, std::uint32_t mode, void* value, std::uint32_t bytes);
void __warplens_cpu_surface_write(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                  std::int32_t layer, std::uint32_t mode, const void* value,
                                  std::uint32_t bytes);

/// %clock64 and %globaltimer: nanoseconds of a monotonic clock.
std::uint64_t __warplens_cpu_clock();
std::uint32_t __warplens_cpu_is_shared(warplens::cpu::LaneContext* lane, const void* address);
std::uint32_t __warplens_cpu_is_constant(const void* address);
std::uint32_t __warplens_cpu_is_local(const void* address);
}
