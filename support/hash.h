// A stable 64-bit hash for identities that go into files.
#pragma once

#include <cstdint>
#include <string_view>

namespace warplens {

/// Returns xxHash64 with seed 0 of the bytes.
std::uint64_t stable_hash(std::string_view bytes);

} // namespace warplens
