#include "sass/elf.h"

#include <algorithm>
#include <string>

namespace warplens::sass {
namespace {

constexpr std::uint32_t no_bits = 8; // SHT_NOBITS
constexpr std::uint16_t cuda = 190;  // EM_CUDA

/// Returns the architecture, which CUDA 13 keeps in other bits of e_flags than earlier toolkits: 80 for
/// sm_80.
int architecture_of(std::uint32_t flags, std::uint8_t abi_version) {
  return static_cast<int>(abi_version >= 8 ? flags >> 8 & 0xff : flags & 0xff);
}

Expected<std::vector<Symbol>> read_symbols(Bytes table, Bytes strings) {
  constexpr std::size_t symbol_bytes = 24;
  if (table.size() % symbol_bytes != 0)
    return fail("the cubin's table of symbols ends within a symbol");
  std::vector<Symbol> symbols(table.size() / symbol_bytes);
  ByteReader reader(table);
  for (Symbol& symbol : symbols) {
    symbol.name = text_at(strings, reader.u32());
    symbol.type = reader.u8() & 0xf;
    symbol.other = reader.u8();
    symbol.section = reader.u16();
    symbol.value = reader.u64();
    symbol.size = reader.u64();
  }
  return symbols;
}

} // namespace

std::uint64_t ByteReader::number(std::size_t size) {
  std::uint64_t value = 0;
  const Bytes bytes = take(size);
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

std::uint64_t ByteReader::unsigned_leb128() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = u8();
    if (shift < 64)
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return value;
  }
}

std::int64_t ByteReader::signed_leb128() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;;) {
    const std::uint8_t byte = u8();
    if (shift < 64)
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0)
      continue;
    if ((byte & 0x40) != 0 && shift < 64)
      value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
}

std::string_view ByteReader::text() {
  const std::string_view found = text_at(bytes_, failed_ ? bytes_.size() : at_);
  take(found.size() + 1);
  return failed_ ? std::string_view() : found;
}

Bytes ByteReader::take(std::uint64_t size) {
  failed_ = failed_ || size > bytes_.size() - at_;
  if (failed_)
    return {};
  at_ += static_cast<std::size_t>(size);
  return bytes_.subspan(at_ - static_cast<std::size_t>(size), static_cast<std::size_t>(size));
}

std::string_view text_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size())
    return {};
  const auto begin = strings.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto end = std::find(begin, strings.end(), std::byte{0});
  if (end == strings.end())
    return {};
  return {reinterpret_cast<const char*>(&*begin), static_cast<std::size_t>(end - begin)};
}

const Section* Elf::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

std::vector<Relocation> Elf::relocations_of(std::string_view section) const {
  std::vector<Relocation> relocations;
  for (const std::string_view prefix : {".rel", ".rela"}) {
    const Section* found = find(std::string(prefix) + std::string(section));
    for (ByteReader reader(found ? found->bytes : Bytes()); !reader.at_end();) {
      Relocation relocation;
      relocation.offset = reader.u64();
      relocation.type = reader.u32();
      relocation.symbol = reader.u32();
      relocation.has_addend = prefix == ".rela";
      if (relocation.has_addend)
        relocation.addend = reader.u64();
      if (!reader.failed())
        relocations.push_back(relocation);
    }
  }
  std::ranges::stable_sort(relocations, {}, &Relocation::offset);
  return relocations;
}

Expected<Elf> read_elf(Bytes cubin) {
  constexpr std::size_t section_bytes = 64;
  ByteReader header(cubin);
  if (header.u32() != 0x464c457f || header.u16() != 0x0102) // "\x7fELF", 64 bits, little-endian
    return fail("not a cubin: it does not begin as a 64-bit ELF file does");
  header.take(2); // the version of ELF, the ABI
  const std::uint8_t abi_version = header.u8();
  header.take(7);
  const std::uint16_t type = header.u16();
  if (header.u16() != cuda)
    return fail("not a cubin: an ELF file for another machine than a CUDA GPU");
  header.take(4 + 8 + 8);
  const std::uint64_t sections_at = header.u64();
  Elf elf;
  elf.is_linked = type == 2; // ET_EXEC
  elf.architecture = architecture_of(header.u32(), abi_version);
  header.take(6);
  const std::uint16_t section_size = header.u16(), count = header.u16(), names_at = header.u16();
  if (header.failed())
    return fail("the cubin ends within its header");
  if (elf.architecture < 70)
    return fail("the cubin is for sm_{}, whose instructions are not of 128 bits", elf.architecture);
  if (section_size != section_bytes || sections_at > cubin.size() ||
      count > (cubin.size() - sections_at) / section_bytes || names_at >= count)
    return fail("the cubin's table of sections is not inside the file");

  struct NameAndLink {
    std::uint32_t name = 0, link = 0;
  };
  std::vector<NameAndLink> places(count);
  elf.sections.resize(count);
  ByteReader table(cubin, static_cast<std::size_t>(sections_at));
  for (std::size_t i = 0; i < count; ++i) {
    Section& section = elf.sections[i];
    places[i].name = table.u32();
    section.type = table.u32();
    table.take(8 + 8); // flags, address
    const std::uint64_t offset = table.u64();
    section.size = table.u64();
    places[i].link = table.u32();
    section.info = table.u32();
    table.take(8 + 8); // alignment, size of an entry
    if (section.type == no_bits || section.type == 0)
      continue;
    if (offset > cubin.size() || section.size > cubin.size() - offset)
      return fail("section {} of the cubin is not inside the file", i);
    section.bytes = cubin.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(section.size));
  }
  for (std::size_t i = 0; i < count; ++i)
    elf.sections[i].name = text_at(elf.sections[names_at].bytes, places[i].name);

  const auto symbols = std::ranges::find(elf.sections, 2u, &Section::type); // SHT_SYMTAB
  if (symbols == elf.sections.end())
    return fail("the cubin has no table of symbols");
  const std::uint32_t strings = places[static_cast<std::size_t>(symbols - elf.sections.begin())].link;
  if (strings >= count)
    return fail("the cubin's table of symbols has no names");
  TRY_LET(read, read_symbols(symbols->bytes, elf.sections[strings].bytes));
  elf.symbols = std::move(*read);
  return elf;
}

} // namespace warplens::sass
