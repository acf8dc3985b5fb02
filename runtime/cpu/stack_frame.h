// What the lowering and the runtime agree on about a lane's stack.
#pragma once

#include <cstdint>

namespace warplens::cpu {

/// What KernelRecord::stack_bytes has beyond a kernel's locals, for what the compiler spills.
inline constexpr std::uint64_t spill_bytes = 8192;

} // namespace warplens::cpu
