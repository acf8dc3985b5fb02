// --memcheck's calls, which check that a kernel may access the memory that it is about to access.
#pragma once

#include "runtime/abi/abi.h"

namespace warplens::cpu {

enum class AccessMode : std::uint32_t { read, write, atomic };

} // namespace warplens::cpu

extern "C" {
/// Checks an access that may be to shared or allocated memory, before it, for --racecheck and --initcheck.
void __warplens_cpu_check_use(warplens::cpu::LaneContext* lane, const void* address, std::uint64_t bytes,
                              std::uint32_t mode);
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
