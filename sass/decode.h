// The component's main flow: a cubin's bytes → the code table of its kernels.
#pragma once

#include "sass/code_table.h"
#include "support/expected.h"

#include <cstddef>
#include <span>

namespace warplens::sass {

/// Decodes a cubin for sm_75 or later, as CUDA 13's ptxas or nvlink makes it. Its bytes may be anything: the
/// error says in one line what is wrong with them.
Expected<CodeTable> decode(std::span<const std::byte> cubin);

} // namespace warplens::sass
