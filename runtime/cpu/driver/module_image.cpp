#include "runtime/cpu/driver/module_image.h"

#include "runtime/cpu/device/device_description.h"
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
#include <vector>
#include <zstd.h>

namespace warplens::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view elf_magic("\177ELF", 4);
constexpr std::uint32_t fatbin_wrapper_magic = 0x466243b1, fatbin_magic = 0xba55ed50;

int capability() {
  return device().major * 10 + device().minor;
}

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

/// Returns where ptxas is: in the toolkit that the environment names, in PATH, or at the usual place.
std::string assembler() {
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
      return (folder / "ptxas").string();
  return {};
}

Expected<std::string> assemble(const std::string& ptx) {
  const std::string program = assembler();
  if (program.empty())
    return fail("a module of PTX needs NVIDIA's assembler, and there is no ptxas in CUDA_PATH, PATH or "
                "/usr/local/cuda");
  static const Pattern target("\\.target[ \t]+sm_([0-9]+)([af]?)");
  const auto match = target.first_match(ptx);
  if (!match)
    return fail("the module is neither a cubin, nor a fatbin, nor PTX");
  // PTX for one architecture alone runs on that one; other PTX on it and later ones.
  const bool is_portable = (*match)[2].empty() && std::stoi((*match)[1]) <= capability();
  const std::string architecture =
      is_portable ? fmt::format("sm_{}", capability()) : "sm_" + (*match)[1] + (*match)[2];
  std::string pattern = (fs::temp_directory_path() / "warplens-module-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    return fail("{}: cannot be made", pattern);
  const fs::path folder = pattern, source = folder / "module.ptx", made = folder / "module.cubin";
  Expected<std::string> cubin = fail("{}: cannot be written", source.string());
  if (write_file(source, ptx)) {
    const auto finished =
        run({.arguments = {program, "-arch=" + architecture, source.string(), "-o", made.string()},
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

/// An entry of a fatbin. The format is not documented: these fields are what nvcc's fatbinary writes.
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

Expected<std::string> contents_of(const FatbinEntry& entry, const char* payload) {
  if (entry.flags & compressed_by_lz4)
    return fail("the fatbin is compressed by LZ4, which is not supported: compile it with -Xfatbin "
                "--no-compress, or without");
  if ((entry.flags & compressed_by_zstd) == 0)
    return std::string(payload, entry.bytes);
  std::string text(entry.uncompressed_bytes, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), payload, entry.compressed_bytes);
  if (ZSTD_isError(got))
    return fail("the fatbin is damaged");
  text.resize(got);
  return text;
}

/// Chooses the newest cubin that the GPU can run, else PTX, else the newest cubin.
Expected<std::string> from_fatbin(const char* fatbin) {
  std::uint16_t header_bytes = 0;
  std::uint64_t bytes = 0;
  std::memcpy(&header_bytes, fatbin + 6, sizeof header_bytes);
  std::memcpy(&bytes, fatbin + 8, sizeof bytes);
  const char *at = fatbin + header_bytes, *const end = at + bytes;
  struct Choice {
    int rank = -1;
    FatbinEntry entry;
    const char* payload;
  } best;
  while (at + sizeof(FatbinEntry) <= end) {
    FatbinEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    const char* const payload = at + entry.header_bytes;
    if (entry.header_bytes == 0 || payload + entry.bytes > end)
      return fail("the fatbin is damaged");
    const int architecture = int(entry.architecture);
    const bool runs = architecture <= capability() && architecture / 10 == capability() / 10;
    const int rank = entry.kind == 2   ? (runs ? 10000 : 0) + architecture
                     : entry.kind == 1 ? 5000 + architecture
                                       : -1;
    if (rank > best.rank)
      best = {rank, entry, payload};
    at = payload + entry.bytes;
  }
  if (best.rank < 0)
    return fail("the fatbin has no code");
  TRY_LET(contents, contents_of(best.entry, best.payload));
  return best.entry.kind == 2 ? *contents : assemble(contents->c_str());
}

} // namespace

Expected<std::string> cubin_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  std::uint32_t magic = 0;
  for (std::size_t i = 0; i < sizeof magic; ++i) // PTX may be shorter
    if (const char byte = bytes[i]; byte != 0 || i != 0)
      magic |= std::uint32_t{static_cast<unsigned char>(byte)} << (8 * i);
    else
      break;
  if (magic == fatbin_wrapper_magic) {
    std::memcpy(&bytes, bytes + 8, sizeof bytes);
    return from_fatbin(bytes);
  }
  if (magic == fatbin_magic)
    return from_fatbin(bytes);
  if (std::memcmp(&magic, elf_magic.data(), elf_magic.size()) == 0)
    return std::string(bytes, elf_bytes(bytes));
  return assemble(bytes);
}

} // namespace warplens::cpu
