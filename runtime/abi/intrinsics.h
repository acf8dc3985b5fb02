// The runtime calls of running device code: the operations that need more than one thread, or the block. The
// lowering turns NVVM's intrinsics into these calls (its table: lowering/intrinsics.cpp). Their semantics are
// those of the PTX ISA's instructions.
#pragma once

#include "runtime/abi/abi.h"

#include <cstdint>

namespace warplens::cpu {

/// shfl.sync's modes.
enum class Shuffle : std::uint32_t { up, down, bfly, idx };
/// vote.sync's modes that return a predicate.
enum class Vote : std::uint32_t { any, all, uni };
/// redux.sync's operations, and barrier.red's.
enum class Reduction : std::uint32_t { add, and_, or_, xor_, min, max, umin, umax };

/// The value that shfl.sync returns, and its predicate: whether the source lane was in range.
struct ShuffleResult {
  std::uint32_t value;
  std::uint32_t in_range;
};

/// match.all.sync's result: the mask of lanes with the same value, or 0, and whether all have the same.
struct MatchResult {
  std::uint32_t mask;
  std::uint32_t all;
};

/// The barrier of barrier.cluster.wait, after the sixteen barriers of a block. A cluster has one block.
inline constexpr std::uint32_t cluster_barrier = 16;

} // namespace warplens::cpu

extern "C" {
/// Returns the lane that the calling fiber runs, for functions that could not be inlined into their kernel.
warplens::cpu::LaneContext* __warplens_cpu_current_lane();

// All of these may suspend the lane.

/// barrier.sync: waits for `threads` threads of the block at barrier `id` (0 to 15), counted by whole warps;
/// 0 threads: all that have not exited.
void __warplens_cpu_barrier(warplens::cpu::LaneContext* lane, std::uint32_t id, std::uint32_t threads);
/// barrier.red: waits likewise and combines the predicates: Reduction::add counts, and_, or_.
std::uint32_t __warplens_cpu_barrier_reduce(warplens::cpu::LaneContext* lane, std::uint32_t id,
                                            std::uint32_t threads, std::uint32_t operation,
                                            std::uint32_t predicate);
/// barrier.arrive: counts as one of the threads, and waits for no other warp.
void __warplens_cpu_barrier_arrive(warplens::cpu::LaneContext* lane, std::uint32_t id, std::uint32_t threads);
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
/// activemask: returns the lanes of the warp that are at `position` in program order, once all others have
/// run as far as they can.
std::uint32_t __warplens_cpu_active_mask(warplens::cpu::LaneContext* lane, std::uint32_t position);
/// Waits for the lanes of the warp that are before `position` in program order, as on a GPU that runs them in
/// lock step.
void __warplens_cpu_lock_step(warplens::cpu::LaneContext* lane, std::uint32_t position);
/// Lets other threads run, in a loop that may wait for one. `position` is that of the loop's end, or larger
/// than any other.
void __warplens_cpu_yield(warplens::cpu::LaneContext* lane, std::uint32_t position);

/// nanosleep.
void __warplens_cpu_sleep(warplens::cpu::LaneContext* lane);
/// mbarrier.test_wait and try_wait: returns whether the phase of that parity has completed. If not, other
/// threads run before a second test.
std::uint32_t __warplens_cpu_mbarrier_wait(warplens::cpu::LaneContext* lane, const std::uint64_t* barrier,
                                           std::uint32_t parity);

/// Marks the waiting threads in a block that runs as loops and whose threads are at different places. next[t]
/// is thread t's next region, `ended` if it has exited; positions[n] is the position in program order at
/// which region n begins if lanes of a warp are there in lock step, else 0xffffffff.
void __warplens_cpu_choose_threads(std::uint32_t* next, std::uint64_t threads, const std::uint32_t* positions,
                                   std::uint32_t ended);

// These end the thread, or the kernel.

[[noreturn]] void __warplens_cpu_exit(warplens::cpu::LaneContext* lane);
/// Makes the kernel fail; `reason` is one line.
[[noreturn]] void __warplens_cpu_abort_kernel(const char* reason);
[[noreturn]] void __warplens_cpu_trap(warplens::cpu::LaneContext* lane);
[[noreturn]] void __warplens_cpu_pure_virtual();

// These never suspend.

/// Sets the current thread in code that runs without fibers, before a call of the runtime that names the
/// thread.
void __warplens_cpu_enter_lane(warplens::cpu::LaneContext* lane);

/// Ends the kernel if the stack has less than `bytes` free. Called at the begin of a function that could not
/// be inlined, and before stack memory is allocated.
void __warplens_cpu_check_stack(std::uint64_t bytes);

/// fns: returns the position of the mask's `offset`-th set bit, counted from bit `base` upwards (negative:
/// downwards); ~0 if there is none.
std::uint32_t __warplens_cpu_find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset);

/// mbarrier.init: for `count` arrivals in each phase.
void __warplens_cpu_mbarrier_init(std::uint64_t* barrier, std::uint32_t count);
/// mbarrier.arrive and, with `drop`, arrive_drop; first expects `bytes` bytes more. Returns the barrier's
/// previous state.
std::uint64_t __warplens_cpu_mbarrier_arrive(std::uint64_t* barrier, std::uint32_t count, std::uint32_t drop,
                                             std::uint32_t expected_bytes);
/// mbarrier.complete_tx, or expect_tx.
void __warplens_cpu_mbarrier_transact(std::uint64_t* barrier, std::uint32_t bytes, std::uint32_t complete);
/// Return, for a state that arrive returned, the number of its pending arrivals and the parity of its phase.
std::uint32_t __warplens_cpu_mbarrier_pending(std::uint64_t state);
std::uint32_t __warplens_cpu_mbarrier_parity(std::uint64_t state);

/// Return the bits of a bfloat16, rounded once to nearest even.
std::uint16_t __warplens_cpu_double_to_bfloat(double value);
std::uint16_t __warplens_cpu_bfloat_fma(std::uint16_t x, std::uint16_t y, std::uint16_t z);
/// Convert to the bits of the nearest eight-bit number, e4m3 or e5m2, with clamping to the largest, and back.
std::uint32_t __warplens_cpu_to_float8(float value, std::uint32_t is_e5m2);
float __warplens_cpu_from_float8(std::uint32_t bits, std::uint32_t is_e5m2);
/// Return the previous value.
std::uint16_t __warplens_cpu_atomic_add_bfloat(std::uint16_t* place, std::uint16_t value);

/// tex: a filtered fetch. `shape` is a texels::Shape; `layer` counts in lines, planes and cubes. Of a
/// mipmap level 0 is meant, that which the second says, or that for three gradients along x and three along
/// y.
void __warplens_cpu_texture(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x, float y,
                            float z, std::uint32_t* texel);
void __warplens_cpu_texture_level(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x,
                                  float y, float z, float level, std::uint32_t* texel);
void __warplens_cpu_texture_gradients(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer,
                                      float x, float y, float z, const float* gradients,
                                      std::uint32_t* texel);
/// tex with an integer coordinate (tex1Dfetch).
void __warplens_cpu_texel(std::uint64_t texture, std::int32_t x, std::uint32_t* texel);
/// tld4: returns one component of the four texels of a bilinear filter, anticlockwise from (0, 1).
void __warplens_cpu_texture_gather(std::uint64_t texture, std::uint32_t component, float x, float y,
                                   std::uint32_t* texel);
/// suld and sust: `x` counts bytes; `mode` is a cudaSurfaceBoundaryMode.
void __warplens_cpu_surface_read(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                 std::int32_t layer, std::uint32_t mode, void* value, std::uint32_t bytes);
void __warplens_cpu_surface_write(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                  std::int32_t layer, std::uint32_t mode, const void* value,
                                  std::uint32_t bytes);

/// Return, for probes, the address of the texel at one corner of a fetch (texels::texel), the bytes of a
/// texel, and the address of a surface access; 0 if no memory is accessed.
std::uint64_t __warplens_texel_address(std::uint64_t texture, std::uint32_t shape, std::int32_t index,
                                       float x, float y, float z, std::uint32_t corner);
std::uint32_t __warplens_texel_bytes(std::uint64_t texture);
std::uint64_t __warplens_surface_address(std::uint64_t surface, std::int32_t x, std::int32_t y,
                                         std::int32_t z, std::int32_t layer, std::uint32_t mode,
                                         std::uint32_t bytes);

/// %clock64 and %globaltimer: nanoseconds of a monotonic clock.
std::uint64_t __warplens_cpu_clock();
std::uint32_t __warplens_cpu_is_shared(warplens::cpu::LaneContext* lane, const void* address);
std::uint32_t __warplens_cpu_is_constant(const void* address);
std::uint32_t __warplens_cpu_is_local(const void* address);
}
