// Short names of the integers that registers hold, for the component's own files.
#pragma once

#include <cstdint>

namespace warplens::machine {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

} // namespace warplens::machine
