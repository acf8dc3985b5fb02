// Device code's calls for output and its own memory. The lowering turns vprintf, __assertfail, malloc and
// free of device code into these calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace warplens::cpu {

/// Returns whether an assertion has failed in a kernel since the last call.
bool take_failed_assertion();

/// Prints CUDA's message of a failed assertion, and notes it.
void fail_assertion(const char* message, const char* file, unsigned line, const char* function);

/// Returns the output of printf with `format` for arguments packed as CUDA packs them: one after the other,
/// each aligned to its size, floats as doubles, smaller integers as ints. Sets `count` to the number of
/// arguments used.
/// Strings are read by `text_at`, where it is not empty.
using TextAt = std::function<std::string(std::uint64_t address)>;
std::string format_packed(const char* format, const char* arguments, int& count, const TextAt& text_at = {});
/// Prints it in one piece; returns what printf of device code returns.
int print_packed(const char* format, const char* arguments, const TextAt& text_at = {});

} // namespace warplens::cpu

extern "C" {
/// Prints in one piece. Returns the number of arguments, or -1 without a format (CUDA C++ Programming Guide,
/// "Formatted Output").
int __warplens_cpu_vprintf(const char* format, const char* arguments);
/// Prints CUDA's message and makes the kernel fail with cudaErrorAssert.
[[noreturn]] void __warplens_cpu_assertfail(const char* message, const char* file, unsigned line,
                                            const char* function, std::size_t character_bytes);
/// Allocates from the device heap; returns null if it is exhausted.
void* __warplens_cpu_malloc(std::size_t bytes);
void __warplens_cpu_free(void* pointer);
}
