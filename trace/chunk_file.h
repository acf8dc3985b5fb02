// Files of chunks: compressed, checksummed, at known offsets. The meaning of the chunks is not known here.
#pragma once

#include "support/expected.h"
#include "trace/bytes.h"
#include "trace/format.h"

#include <filesystem>
#include <memory>
#include <span>

namespace warplens::trace {

/// An open file, closed by the destructor.
class FileHandle {
public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();
  int get() const { return descriptor_; }
  /// Gives up the file without closing it.
  int release();
  bool is_open() const { return descriptor_ >= 0; }

private:
  int descriptor_ = -1;
};

/// A chunk's payload in its stored form.
struct PackedPayload {
  std::uint32_t records = 0; ///< the number of accesses, sites, … that it holds
  std::uint32_t raw_bytes = 0;
  std::span<const std::uint8_t> stored; ///< the packer's buffer, valid until that packs the next
};

/// Compresses payloads; for one thread at a time.
class Packer {
public:
  Packer();
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;
  ~Packer();
  /// Compresses one payload. Parts of unlike statistics compress better apart.
  Expected<PackedPayload> pack(std::uint32_t records, std::span<const Bytes> payload);

private:
  struct State;
  std::unique_ptr<State> state_;
};

class ChunkOutput {
public:
  /// Makes the file, or empties it, and writes its header.
  static Expected<ChunkOutput> create(const std::filesystem::path& path);

  /// Writes a chunk and returns its offset.
  Expected<std::uint64_t> write(ChunkType type, std::uint32_t launch, const PackedPayload& payload);
  Expected<void> write_trailer(std::uint64_t index_offset);
  bool is_open() const { return file_.is_open(); }
  /// Closes the file; a full disk may show only now.
  Expected<void> close();

private:
  ChunkOutput(std::filesystem::path path, FileHandle file);
  Expected<void> write_all(std::span<const std::uint8_t> bytes);

  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t offset_ = 0;
};

class ChunkInput {
public:
  /// Checks magic and version.
  static Expected<ChunkInput> open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }

  /// Returns the offset of the index, or 0 if the file does not end in a trailer.
  Expected<std::uint64_t> index_offset() const;

  /// Returns the header at an offset, if it is valid; its payload may be incomplete.
  Expected<ChunkHeader> header_at(std::uint64_t offset) const;
  /// Returns whether the chunk ends within the file.
  bool is_complete(std::uint64_t offset, const ChunkHeader& header) const;
  /// Returns whether there is a trailer at this offset, with nothing behind it.
  bool is_trailer(std::uint64_t offset) const;
  /// Returns the payload, checked and decompressed.
  Expected<Bytes> payload_at(std::uint64_t offset, const ChunkHeader& header) const;

  /// Returns the error for damage at an offset, in one line.
  tl::unexpected<Error> damage(std::uint64_t offset, std::string_view what) const;
  /// Returns the error for a file that ends before any useful data, in one line.
  tl::unexpected<Error> cut_short() const;

private:
  ChunkInput(std::filesystem::path path, FileHandle file, std::uint64_t size);
  /// Returns false if the file ends before, or cannot be read.
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

} // namespace warplens::trace
