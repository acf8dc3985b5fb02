// The lowering's and the runtime's common assumption about a lane's stack.
#pragma once

#include <cstdint>

namespace warplens::cpu {

/// The part of KernelRecord::stack_bytes beyond a kernel's locals, for the compiler's spills.
inline constexpr std::uint64_t spill_bytes = 8192;

} // namespace warplens::cpu
