// --memcheck: is what a kernel is about to access memory that it may access?
#pragma once

#include "runtime/cpu/abi.h"

namespace warplens::cpu {

enum class AccessMode : std::uint32_t { read, write, atomic };

/// Does the environment ask for checks (WARPLENS_MEMCHECK)? Then a kernel that was built without them is an
/// error.
bool memcheck_wanted();

} // namespace warplens::cpu

extern "C" {
/// Once per object file that was built with checks, before main: from now on memory that is freed stays
/// recognisable, and allocations keep a distance.
void __warplens_cpu_enable_memcheck();

/// Ends the kernel, and then the program, with a message if `bytes` bytes at `address` are not all in one
/// allocation, variable or other memory of the kernel's, or not at a multiple of `alignment`.
void __warplens_cpu_check(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                          std::uint32_t alignment, std::uint32_t mode);
/// The same for an access that is known to be meant for the variable `name`.
void __warplens_cpu_check_within(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                                 std::uint32_t alignment, std::uint32_t mode, const void* variable,
                                 std::uint64_t variable_bytes, const char* name);
}
