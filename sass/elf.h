// Reads the ELF file that a cubin is: sections, symbols and relocations. CUDA's files differ from others in
// where they keep the architecture, and in their relocations.
#pragma once

#include "support/expected.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::sass {

using Bytes = std::span<const std::byte>;

/// Reads little-endian numbers from bytes that may be anything: a read beyond the end yields zero, and makes
/// the reader fail.
class ByteReader {
public:
  explicit ByteReader(Bytes bytes, std::size_t at = 0) : bytes_(bytes), at_(at), failed_(at > bytes.size()) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::uint64_t unsigned_leb128();
  std::int64_t signed_leb128();
  /// Returns the text up to the next zero byte, and skips both.
  std::string_view text();
  /// Returns the next bytes, and skips them; none, and fails, where there are fewer.
  Bytes take(std::uint64_t size);

  std::size_t position() const { return at_; }
  bool at_end() const { return failed_ || at_ == bytes_.size(); }
  bool failed() const { return failed_; }

private:
  std::uint64_t number(std::size_t size);

  Bytes bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// Returns the text at an offset of a table of strings; an empty one if it is not inside.
std::string_view text_at(Bytes strings, std::uint64_t offset);

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t info = 0;
  std::uint64_t size = 0; ///< also of a section without bytes, such as shared memory
  Bytes bytes;            ///< those in the file
};

struct Symbol {
  std::string_view name;
  std::uint8_t type = 0;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0, size = 0;

  bool is_function() const { return type == 2; }
  /// Returns whether the symbol is a kernel: STO_CUDA_ENTRY.
  bool is_kernel() const { return is_function() && (other & 0x10) != 0; }
};

struct Relocation {
  std::uint64_t offset = 0, addend = 0;
  std::uint32_t symbol = 0;
  std::uint32_t type = 0;
  bool has_addend = false; ///< else it is what the section has at the offset
};

/// Views into a cubin's bytes, which must outlive it.
struct Elf {
  int architecture = 0;   ///< 80 for sm_80
  bool is_linked = false; ///< not with -rdc, before the device link
  std::vector<Section> sections;
  std::vector<Symbol> symbols;

  /// Returns the section of the name, or null.
  const Section* find(std::string_view name) const;
  /// Returns the relocations of the section of the name, by offset.
  std::vector<Relocation> relocations_of(std::string_view section) const;
};

/// Refuses whatever is not an ELF file for a CUDA GPU with instructions of 128 bits, and counts or offsets
/// that lead outside of it.
Expected<Elf> read_elf(Bytes cubin);

} // namespace warplens::sass
