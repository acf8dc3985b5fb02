// The calls of --memcheck, --racecheck and --initcheck: a kernel makes them before an access, a fence, or the
// end of a group of asynchronous copies.
#pragma once

#include "runtime/abi/abi.h"

namespace warplens::cpu {

/// `atomic` both reads and writes. The `atomic_` and `volatile_` ones are single loads and stores, which PTX
/// calls strong: two of them are no race, except in shared memory, where a volatile access stands for the
/// lock step of older GPUs. `async_write` is the destination of an asynchronous copy, which may be written
/// until the thread has waited for it.
enum class AccessMode : std::uint32_t {
  read,
  write,
  atomic,
  atomic_read,
  atomic_write,
  volatile_read,
  volatile_write,
  async_write,
};

constexpr bool reads(AccessMode mode) {
  return mode == AccessMode::read || mode == AccessMode::atomic || mode == AccessMode::atomic_read ||
         mode == AccessMode::volatile_read;
}
constexpr bool writes(AccessMode mode) {
  return !reads(mode) || mode == AccessMode::atomic;
}

/// The thread waits for all its asynchronous copies.
inline constexpr std::uint32_t all_copies = ~0U;

} // namespace warplens::cpu

extern "C" {
/// Checks an access that may be to shared or allocated memory, before it, for --racecheck and --initcheck.
void __warplens_cpu_check_use(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                              std::uint32_t mode);
/// Follows a fence of the device's or the system's scope, for --racecheck.
void __warplens_cpu_check_fence(warplens::cpu::LaneContext* lane);
/// Ends a group of asynchronous copies, and waits until at most `pending` groups are left, for --racecheck:
/// the copies themselves are done at once. `all_copies`: waits for those in no group, too.
void __warplens_cpu_check_copies_end(warplens::cpu::LaneContext* lane);
void __warplens_cpu_check_copies_wait(warplens::cpu::LaneContext* lane, std::uint32_t pending);

/// Observes the access in traced code where lanes are held in lock step: reports notes only.
void __warplens_cpu_observe(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                            std::uint32_t mode, const char* place);

/// Ends the kernel, and then the program, with a message if `bytes` bytes at `address` are not all in one
/// allocation, variable or other memory of the kernel's, or not at a multiple of `alignment`.
void __warplens_cpu_check(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                          std::uint32_t alignment, std::uint32_t mode);
/// Checks in the same way an access that is known to be meant for the variable `name`.
void __warplens_cpu_check_within(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                                 std::uint32_t alignment, std::uint32_t mode, const void* variable,
                                 std::uint64_t variable_bytes, const char* name);
}
