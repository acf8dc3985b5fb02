#include "trace/chunk_file.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <xxhash.h>
#include <zstd.h>

namespace warplens::trace {
namespace {

constexpr int compression_level = 1; // higher levels gain little on delta-coded addresses and cost much time

/// Returns the maximum size of a stored chunk: zstd's own bound, and for each part a block that is not full.
std::size_t stored_bound(std::size_t raw_bytes) {
  return ZSTD_compressBound(raw_bytes) + 1024;
}

std::uint64_t checksum_of(std::span<const std::uint8_t> payload, std::span<const std::uint8_t> header) {
  return XXH64(payload.data(), payload.size(), XXH64(header.data(), header.size(), 0));
}

Bytes header_without_checksum(const ChunkHeader& header) {
  Bytes bytes;
  for (std::uint32_t number : {chunk_magic, static_cast<std::uint32_t>(header.type), header.launch,
                               header.records, header.stored_bytes, header.raw_bytes})
    put_fixed(bytes, number);
  return bytes;
}

} // namespace

FileHandle::FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

int FileHandle::release() {
  return std::exchange(descriptor_, -1);
}

// ---- writing

struct Packer::State {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  Bytes stored;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ZSTD_freeCCtx(context); }

  /// Compresses the parts into one frame in `stored`. Each part begins a block of its own, hence with tables
  /// of its own. Returns zstd's status.
  std::size_t compress(std::span<const Bytes> parts, std::size_t raw_bytes) {
    ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setPledgedSrcSize(context, raw_bytes);
    stored.resize(stored_bound(raw_bytes));
    ZSTD_outBuffer out{stored.data(), stored.size(), 0};
    std::size_t status = 0;
    for (const Bytes& part : parts) {
      ZSTD_inBuffer in{part.data(), part.size(), 0};
      while (!ZSTD_isError(status = ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)) && status != 0) {
      }
      if (ZSTD_isError(status))
        return status;
    }
    ZSTD_inBuffer nothing{nullptr, 0, 0};
    while (!ZSTD_isError(status = ZSTD_compressStream2(context, &out, &nothing, ZSTD_e_end)) && status != 0) {
    }
    stored.resize(out.pos);
    return status;
  }
};

Packer::Packer() : state_(std::make_unique<State>()) {}
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;
Packer::~Packer() = default;

Expected<PackedPayload> Packer::pack(std::uint32_t records, std::span<const Bytes> payload) {
  std::size_t raw_bytes = 0;
  for (const Bytes& part : payload)
    raw_bytes += part.size();
  if (raw_bytes > max_chunk_bytes)
    return fail("cannot write the trace: a record of {} bytes is too long", raw_bytes);
  const std::size_t status = state_->compress(payload, raw_bytes);
  if (ZSTD_isError(status))
    return fail("cannot write the trace: zstd: {}", ZSTD_getErrorName(status));
  return PackedPayload{records, static_cast<std::uint32_t>(raw_bytes), state_->stored};
}

ChunkOutput::ChunkOutput(std::filesystem::path path, FileHandle file)
    : path_(std::move(path)), file_(std::move(file)) {}

Expected<ChunkOutput> ChunkOutput::create(const std::filesystem::path& path) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open())
    return fail("cannot write the trace {}: {}", path.string(), std::strerror(errno));
  ChunkOutput output(path, std::move(file));
  Bytes header(file_magic.begin(), file_magic.end());
  put_fixed(header, format_version);
  put_fixed(header, std::uint32_t{0});
  TRY(output.write_all(header));
  return output;
}

Expected<std::uint64_t> ChunkOutput::write(ChunkType type, std::uint32_t launch,
                                           const PackedPayload& payload) {
  const auto stored = payload.stored;
  const ChunkHeader header{
      type, launch, payload.records, static_cast<std::uint32_t>(stored.size()), payload.raw_bytes, 0};
  Bytes chunk = header_without_checksum(header);
  put_fixed(chunk, checksum_of(stored, chunk));
  chunk.insert(chunk.end(), stored.begin(), stored.end());
  const std::uint64_t offset = offset_;
  TRY(write_all(chunk));
  return offset;
}

Expected<void> ChunkOutput::write_trailer(std::uint64_t index_offset) {
  Bytes trailer;
  put_fixed(trailer, trailer_magic);
  put_fixed(trailer, std::uint32_t{0});
  put_fixed(trailer, index_offset);
  put_fixed(trailer, checksum_of({}, trailer));
  return write_all(trailer);
}

Expected<void> ChunkOutput::write_all(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail("cannot write the trace {}: {}", path_.string(), std::strerror(errno));
    offset_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Expected<void> ChunkOutput::close() {
  if (::close(file_.release()) != 0)
    return fail("cannot write the trace {}: {}", path_.string(), std::strerror(errno));
  return {};
}

// ---- reading

ChunkInput::ChunkInput(std::filesystem::path path, FileHandle file, std::uint64_t size)
    : path_(std::move(path)), file_(std::move(file)), size_(size) {}

Expected<ChunkInput> ChunkInput::open(const std::filesystem::path& path) {
  FileHandle file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a pipe without a writer must not block
  if (!file.is_open())
    return fail("cannot read the trace {}: {}", path.string(), std::strerror(errno));
  struct stat status{};
  if (fstat(file.get(), &status) != 0)
    return fail("cannot read the trace {}: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail("cannot read the trace {}: it is not a regular file", path.string());
  ChunkInput input(path, std::move(file), static_cast<std::uint64_t>(status.st_size));

  std::array<std::uint8_t, file_header_bytes> header{};
  const std::size_t there = std::min<std::size_t>(input.size_, header.size());
  if (!input.read_at(0, std::span<std::uint8_t>(header).first(there)))
    return fail("cannot read the trace {}: {}", path.string(), std::strerror(errno));
  if (there == 0)
    return fail("{} is not a Warplens trace: it is empty", path.string());
  if (!std::equal(header.begin(), header.begin() + std::min(there, file_magic.size()), file_magic.begin()))
    return fail("{} is not a Warplens trace: its first bytes are not a trace's", path.string());
  if (there < header.size())
    return input.cut_short();
  ByteReader reader(std::span<const std::uint8_t>(header).subspan(file_magic.size()));
  const auto version = reader.fixed<std::uint32_t>();
  if (version == 0 || reader.fixed<std::uint32_t>() != 0)
    return input.damage(file_magic.size(), "its header makes no sense");
  if (version > format_version)
    return fail("the trace {} has format version {}, this warplens reads up to {}: use the warplens that "
                "wrote it, or a newer one",
                path.string(), version, format_version);
  if (version < format_version)
    return fail("the trace {} has format version {}, this warplens reads {}: record it again", path.string(),
                version, format_version);
  return input;
}

tl::unexpected<Error> ChunkInput::damage(std::uint64_t offset, std::string_view what) const {
  return fail("the trace {} is damaged at byte {}: {}; record it again", path_.string(), offset, what);
}

tl::unexpected<Error> ChunkInput::cut_short() const {
  return fail("the trace {} was cut short before its first record: nothing in it can be used",
              path_.string());
}

bool ChunkInput::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Expected<std::uint64_t> ChunkInput::index_offset() const {
  if (size_ < file_header_bytes + trailer_bytes)
    return 0;
  const std::uint64_t offset = size_ - trailer_bytes;
  std::array<std::uint8_t, trailer_bytes> bytes{};
  if (!read_at(offset, bytes))
    return damage(offset, "it cannot be read");
  ByteReader reader(bytes);
  if (reader.fixed<std::uint32_t>() != trailer_magic)
    return 0;
  const auto zero = reader.fixed<std::uint32_t>();
  const auto index = reader.fixed<std::uint64_t>();
  if (reader.fixed<std::uint64_t>() != checksum_of({}, std::span<const std::uint8_t>(bytes).first(16)) ||
      zero != 0 || index < file_header_bytes || index >= offset)
    return damage(offset, "the trailer's checksum does not match");
  return index;
}

bool ChunkInput::is_trailer(std::uint64_t offset) const {
  std::array<std::uint8_t, 4> bytes{};
  return size_ - offset == trailer_bytes && read_at(offset, bytes) &&
         ByteReader(bytes).fixed<std::uint32_t>() == trailer_magic;
}

Expected<ChunkHeader> ChunkInput::header_at(std::uint64_t offset) const {
  std::array<std::uint8_t, chunk_header_bytes> bytes{};
  if (offset > size_ || size_ - offset < bytes.size() || !read_at(offset, bytes))
    return damage(offset, "a chunk's header cannot be read");
  ByteReader reader(bytes);
  if (reader.fixed<std::uint32_t>() != chunk_magic)
    return damage(offset, "there is no chunk where one should start");
  ChunkHeader header;
  const auto type = reader.fixed<std::uint32_t>();
  header.type = static_cast<ChunkType>(type);
  header.launch = reader.fixed<std::uint32_t>();
  header.records = reader.fixed<std::uint32_t>();
  header.stored_bytes = reader.fixed<std::uint32_t>();
  header.raw_bytes = reader.fixed<std::uint32_t>();
  header.checksum = reader.fixed<std::uint64_t>();
  if (!is_chunk_type(type))
    return damage(offset, fmt::format("a chunk has the unknown type {}", type));
  if (header.raw_bytes > max_chunk_bytes || header.stored_bytes > stored_bound(header.raw_bytes))
    return damage(offset, fmt::format("a chunk of {} bytes that become {} is too long", header.stored_bytes,
                                      header.raw_bytes));
  return header;
}

bool ChunkInput::is_complete(std::uint64_t offset, const ChunkHeader& header) const {
  return size_ - offset >= chunk_header_bytes + std::uint64_t{header.stored_bytes};
}

Expected<Bytes> ChunkInput::payload_at(std::uint64_t offset, const ChunkHeader& header) const {
  if (!is_complete(offset, header))
    return damage(offset, "the file ends within a chunk");
  Bytes stored(header.stored_bytes);
  if (!read_at(offset + chunk_header_bytes, stored))
    return damage(offset, "a chunk cannot be read");
  if (checksum_of(stored, header_without_checksum(header)) != header.checksum)
    return damage(offset, "a chunk's checksum does not match");
  Bytes payload(header.raw_bytes);
  if (ZSTD_decompress(payload.data(), payload.size(), stored.data(), stored.size()) != payload.size())
    return damage(offset, "a chunk does not decompress to the length it states");
  return payload;
}

} // namespace warplens::trace
