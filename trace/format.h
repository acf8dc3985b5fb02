// The trace file's layout in numbers; docs/trace-format.md describes it in full.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warplens::trace {

// The magic resembles PNG's: a byte above 127, both kinds of line ends and a DOS end-of-file reveal a file
// that was treated as text.
inline constexpr std::array<std::uint8_t, 8> file_magic{0x97, 'W', 'L', 'T', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t format_version = 15;
inline constexpr std::size_t file_header_bytes = 16; ///< magic, version, four zero bytes

inline constexpr std::uint32_t chunk_magic = 0x4b484357;   // "WCHK"
inline constexpr std::uint32_t trailer_magic = 0x4c525457; // "WTRL"
inline constexpr std::size_t chunk_header_bytes = 32;
inline constexpr std::size_t trailer_bytes =
    24; ///< magic, four zero bytes, offset of the index, checksum of these 16 bytes

/// A chunk's payload before compression is at most this long, so that a reader knows what a damaged length
/// can cost it.
inline constexpr std::uint32_t max_chunk_bytes = 16u << 20;
/// Payloads of all chunks but those of accesses together; they are kept in memory.
inline constexpr std::uint64_t max_metadata_bytes = 64u << 20;
inline constexpr std::uint64_t max_metadata_records = 4u << 20;
/// The writer leaves out cubins that would take the metadata beyond this.
inline constexpr std::uint64_t max_metadata_with_cubins = max_metadata_bytes / 2;
/// The writer completes a chunk of accesses once its payload is this long, or has this many shapes.
inline constexpr std::size_t full_chunk_bytes = 4u << 20;
inline constexpr std::size_t max_shapes = 4096;
/// A kernel's machine code has at most this many instructions: 256 MiB of them.
inline constexpr std::int64_t max_executed_instructions = 1 << 24;

enum class ChunkType : std::uint32_t {
#define WARPLENS_TRACE_RECORD(type, number, Record, list) type = number,
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
  accesses = 5,
  index = 8,
  executed = 11,
};

/// Returns whether a number is that of a chunk's type.
constexpr bool is_chunk_type(std::uint32_t number) {
  switch (ChunkType(number)) {
#define WARPLENS_TRACE_RECORD(type, number, Record, list) case ChunkType::type:
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
  case ChunkType::accesses:
  case ChunkType::index:
  case ChunkType::executed: return true;
  }
  return false;
}

/// The header before each payload, all little-endian 32-bit numbers behind chunk_magic, in this order; then
/// the checksum: the XXH64 of the stored payload, seeded with the XXH64 (seed 0) of the header's first 24
/// bytes.
struct ChunkHeader {
  ChunkType type = ChunkType::program;
  std::uint32_t launch = 0;       ///< for accesses, executed and launch_end; else 0
  std::uint32_t records = 0;      ///< the number of accesses, sites, … in the payload
  std::uint32_t stored_bytes = 0; ///< the size after compression by zstd
  std::uint32_t raw_bytes = 0;
  std::uint64_t checksum = 0;
};

/// One line of the index: a chunk and its offset.
struct IndexEntry {
  ChunkType type = ChunkType::program;
  std::uint32_t launch = 0;
  std::uint32_t records = 0;
  std::uint64_t offset = 0; ///< bytes from the start of the file
};

} // namespace warplens::trace
