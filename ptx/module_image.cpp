#include "ptx/module_image.h"

#include "support/files.h"
#include "support/pattern.h"
#include "support/process.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <string_view>
#include <unistd.h>
#include <zstd.h>

namespace warplens {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view elf_magic("\177ELF", 4);
constexpr std::uint32_t fatbin_wrapper_magic = 0x466243b1, fatbin_magic = 0xba55ed50;

constexpr int oldest_architecture = 75; ///< that today's compilers know

/// Returns the length of an ELF file in memory: to the end of its last section, segment or table.
std::size_t elf_bytes(const char* file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header);
  std::size_t end = std::max<std::size_t>(header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize,
                                          header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, file + header.e_shoff + std::size_t{i} * header.e_shentsize, sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

Expected<std::string> assemble(const std::string& ptx, int capability, const fs::path& assembler) {
  if (assembler.empty())
    return fail("a module of PTX needs NVIDIA's assembler, and there is no ptxas in CUDA_PATH, PATH or "
                "/usr/local/cuda");
  static const Pattern target("\\.target[ \t]+sm_([0-9]+)([af]?)");
  const auto match = target.first_match(ptx);
  if (!match)
    return fail("the module is neither a cubin, nor a fatbin, nor PTX");
  // PTX for one architecture alone runs on that one; other PTX on it and later ones.
  const int newest = std::max(capability, oldest_architecture);
  const bool is_portable = (*match)[2].empty() && (*match)[1].size() < 4 && std::stoi((*match)[1]) <= newest;
  const std::string architecture =
      is_portable ? fmt::format("sm_{}", newest) : "sm_" + (*match)[1] + (*match)[2];
  std::string pattern = (fs::temp_directory_path() / "warplens-module-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    return fail("{}: cannot be made", pattern);
  const fs::path folder = pattern, source = folder / "module.ptx", made = folder / "module.cubin";
  Expected<std::string> cubin = fail("{}: cannot be written", source.string());
  if (write_file(source, ptx)) {
    const auto finished = run({.arguments = {assembler.string(), "-arch=" + architecture, "-lineinfo",
                                             source.string(), "-o", made.string()},
                               .capture_output = true});
    if (!finished)
      cubin = tl::unexpected(finished.error());
    else if (!fs::exists(made))
      cubin = fail("{}", finished->output.substr(0, finished->output.find('\n')));
    else
      cubin = read_file(made);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return cubin;
}

/// The begin of a fatbin. The format is not documented: these fields are what nvcc's fatbinary writes.
struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes; ///< of the entries
};
/// The begin of an entry of a fatbin.
struct FatbinEntry {
  std::uint16_t kind, version; ///< kind 1: PTX, 2: a cubin
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t architecture, name_offset, name_bytes;
  std::uint64_t flags, reserved, uncompressed_bytes;
};
constexpr std::uint64_t compressed_by_zstd = 0x8000, compressed_by_lz4 = 0x2000;

Expected<std::string> contents_of(const FatbinEntry& entry, std::string_view payload) {
  if (entry.flags & compressed_by_lz4)
    return fail("the fatbin is compressed by LZ4, which is not supported: compile it with -Xfatbin "
                "--no-compress, or without");
  if ((entry.flags & compressed_by_zstd) == 0)
    return std::string(payload);
  constexpr std::uint64_t max_bytes = 1u << 30;
  if (entry.compressed_bytes > payload.size() || entry.uncompressed_bytes > max_bytes)
    return fail("the fatbin is damaged");
  std::string text(entry.uncompressed_bytes, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), payload.data(), entry.compressed_bytes);
  if (ZSTD_isError(got))
    return fail("the fatbin is damaged");
  text.resize(got);
  return text;
}

/// Chooses the newest cubin that the GPU can run, else PTX, else the newest cubin.
Expected<std::string> from_fatbin(std::string_view fatbin, int capability, const fs::path& assembler) {
  FatbinHeader header;
  if (fatbin.size() < sizeof header)
    return fail("the fatbin is damaged");
  std::memcpy(&header, fatbin.data(), sizeof header);
  if (header.header_bytes > fatbin.size() || header.bytes > fatbin.size() - header.header_bytes)
    return fail("the fatbin is damaged");
  std::string_view left = fatbin.substr(header.header_bytes, header.bytes);
  struct Choice {
    int rank = -1;
    FatbinEntry entry;
    std::string_view payload;
  } best;
  while (left.size() >= sizeof(FatbinEntry)) {
    FatbinEntry entry;
    std::memcpy(&entry, left.data(), sizeof entry);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left.size() ||
        entry.bytes > left.size() - entry.header_bytes)
      return fail("the fatbin is damaged");
    const int architecture = int(entry.architecture);
    const int rank = entry.kind == 2   ? (runs_on(architecture, capability) ? 10000 : 0) + architecture
                     : entry.kind == 1 ? 5000 + architecture
                                       : -1;
    if (rank > best.rank)
      best = {rank, entry, left.substr(entry.header_bytes, entry.bytes)};
    left.remove_prefix(entry.header_bytes + entry.bytes);
  }
  if (best.rank < 0)
    return fail("the fatbin has no code");
  TRY_LET(contents, contents_of(best.entry, best.payload));
  return best.entry.kind == 2 ? *contents : assemble(contents->c_str(), capability, assembler);
}

/// Returns the first four bytes as a number; those behind a null, where PTX ends, count as null.
std::uint32_t magic_of(const char* bytes) {
  std::uint32_t magic = 0;
  for (unsigned i = 0; i < sizeof magic; ++i)
    if (const char byte = bytes[i]; byte != 0 || i != 0)
      magic |= std::uint32_t{static_cast<unsigned char>(byte)} << (8 * i);
    else
      break;
  return magic;
}

bool is_elf(std::uint32_t magic) {
  return std::memcmp(&magic, elf_magic.data(), elf_magic.size()) == 0;
}

} // namespace

std::string_view module_image_at(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (magic_of(bytes) == fatbin_wrapper_magic)
    std::memcpy(&bytes, bytes + 8, sizeof bytes);
  const std::uint32_t magic = magic_of(bytes);
  if (magic == fatbin_magic) {
    FatbinHeader header;
    std::memcpy(&header, bytes, sizeof header);
    return {bytes, header.header_bytes + header.bytes};
  }
  return is_elf(magic) ? std::string_view(bytes, elf_bytes(bytes)) : std::string_view(bytes);
}

fs::path find_assembler() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* value = std::getenv(variable))
      folders.push_back(fs::path(value) / "bin");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (std::error_code error; fs::exists(folder / "ptxas", error))
      return folder / "ptxas";
  return {};
}

bool runs_on(int architecture, int capability) {
  return architecture / 10 == capability / 10 &&
         (architecture <= capability || architecture == oldest_architecture);
}

Expected<std::string> cubin_for(std::string_view image, int capability, const fs::path& assembler) {
  const std::string padded(image.substr(0, 4));
  const std::uint32_t magic = magic_of(padded.size() == 4 ? padded.data() : "\0\0\0\0");
  if (magic == fatbin_magic)
    return from_fatbin(image, capability, assembler);
  return is_elf(magic) ? std::string(image) : assemble(std::string(image), capability, assembler);
}

std::string make_fatbin(const std::vector<ArchitectureCubin>& cubins) {
  std::string entries;
  for (const ArchitectureCubin& cubin : cubins) {
    FatbinEntry entry{.kind = 2,
                      .version = 0x101,
                      .header_bytes = sizeof(FatbinEntry),
                      .bytes = (cubin.bytes.size() + 7) / 8 * 8,
                      .compressed_bytes = 0,
                      .options = 0,
                      .minor = 0,
                      .major = 0,
                      .architecture = static_cast<std::uint32_t>(cubin.architecture),
                      .name_offset = 0,
                      .name_bytes = 0,
                      .flags = 0,
                      .reserved = 0,
                      .uncompressed_bytes = 0};
    entries.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    entries += cubin.bytes;
    entries.append(entry.bytes - cubin.bytes.size(), '\0');
  }
  const FatbinHeader header{fatbin_magic, 1, sizeof(FatbinHeader), entries.size()};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + entries;
}

} // namespace warplens
