// Files of chunks: compressed, checksummed, at known offsets. What the chunks mean is not known here.
#pragma once

#include "support/expected.h"
#include "trace/bytes.h"
#include "trace/format.h"

#include <filesystem>
#include <memory>
#include <span>

namespace warplens::trace {

/// An open file, closed when it goes.
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

/// A chunk's payload as it stands in the file.
struct PackedPayload {
  std::uint32_t records = 0; ///< how many accesses, sites, … it holds
  std::uint32_t raw_bytes = 0;
  std::span<const std::uint8_t> stored; ///< its packer's, until that packs the next
};

/// Compresses payloads; for one thread at a time.
class Packer {
public:
  Packer();
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;
  ~Packer();
  /// Parts of unlike statistics compress better told apart.
  Expected<PackedPayload> pack(std::uint32_t records, std::span<const Bytes> payload);

private:
  struct State;
  std::unique_ptr<State> state_;
};

class ChunkOutput {
public:
  /// Makes the file, or empties it, and writes its header.
  static Expected<ChunkOutput> create(const std::filesystem::path& path);

  /// Gives the chunk's offset.
  Expected<std::uint64_t> write(ChunkType type, std::uint32_t launch, const PackedPayload& payload);
  Expected<void> write_trailer(std::uint64_t index_offset);
  bool is_open() const { return file_.is_open(); }
  /// A full disk may show only now.
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

  /// The offset of the index, or 0 where the file does not end in a trailer.
  Expected<std::uint64_t> index_offset() const;

  /// What stands at an offset: a header that makes sense, whether or not its whole payload is there.
  Expected<ChunkHeader> header_at(std::uint64_t offset) const;
  /// Does the chunk end within the file?
  bool is_complete(std::uint64_t offset, const ChunkHeader& header) const;
  /// Is there a trailer at this offset, with nothing behind it?
  bool is_trailer(std::uint64_t offset) const;
  /// The payload, checked and decompressed.
  Expected<Bytes> payload_at(std::uint64_t offset, const ChunkHeader& header) const;

  /// One line for what is wrong at an offset.
  tl::unexpected<Error> damage(std::uint64_t offset, std::string_view what) const;
  /// One line for a file that ends before anything of use.
  tl::unexpected<Error> cut_short() const;

private:
  ChunkInput(std::filesystem::path path, FileHandle file, std::uint64_t size);
  /// False where the file ends before, or cannot be read.
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

  std::filesystem::path path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

} // namespace warplens::trace
