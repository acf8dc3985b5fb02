// The address spaces of NVPTX that the passes tell apart: LLVM, "User Guide for NVPTX Back-end".
#pragma once

namespace warplens::lowering {

constexpr unsigned shared_space = 3;

} // namespace warplens::lowering
