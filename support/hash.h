// Stable hashes for identities that go into files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warplens {

/// Returns xxHash64 with seed 0 of the bytes.
std::uint64_t stable_hash(std::string_view bytes);

/// Returns the XXH3 hash of 128 bits with seed 0 of the bytes, as hexadecimal digits: contents with the same
/// one count as the same. It resists accidents, not attackers.
std::string content_hash(std::string_view bytes);
constexpr std::size_t content_hash_bytes = 32;

} // namespace warplens
