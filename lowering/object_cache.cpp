#include "lowering/object_cache.h"

#include "support/files.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/BLAKE3.h>
#include <unistd.h>
#include <vector>

namespace warplens::lowering {

namespace fs = std::filesystem;

namespace {

llvm::BLAKE3Result<> digest(std::string_view bytes) {
  return llvm::BLAKE3::hash(
      llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string_view bytes_of(const llvm::BLAKE3Result<>& result) {
  return {reinterpret_cast<const char*>(result.data()), result.size()};
}

/// Returns this program's identity: another build of it may compile differently.
const std::string& this_program() {
  static const std::string identity =
      std::string(bytes_of(digest(read_file("/proc/self/exe").value_or("")))) + LLVM_VERSION_STRING;
  return identity;
}

} // namespace

std::string ObjectCache::key(std::string_view ingredients) {
  const auto result = digest(this_program() + std::string(ingredients));
  return llvm::toHex(llvm::ArrayRef(result.data(), result.size()), /*LowerCase=*/true);
}

fs::path ObjectCache::path_of(const std::string& key) const {
  return folder_ / key.substr(0, 2) / key.substr(2);
}

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (!enabled())
    return std::nullopt;
  const auto path = path_of(key);
  std::string stored = read_file(path).value_or("");
  constexpr std::size_t digest_bytes = LLVM_BLAKE3_OUT_LEN;
  if (stored.size() <= digest_bytes ||
      bytes_of(digest(std::string_view(stored).substr(digest_bytes))) != stored.substr(0, digest_bytes))
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // marks its last use
  return stored.substr(digest_bytes);
}

void ObjectCache::store(const std::string& key, std::string_view object) const {
  if (!enabled())
    return;
  static std::atomic<unsigned> number{0};
  const auto path = path_of(key);
  const auto temporary = fmt::format("{}.{}.{}", path.string(), getpid(), number++);
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << bytes_of(digest(object)) << object;
  file.close();
  if (file)
    fs::rename(temporary, path, problem);
  if (file && !problem)
    has_grown_ = true;
  else
    fs::remove(temporary, problem);
}

void ObjectCache::evict() const {
  struct Entry {
    fs::path path;
    std::uint64_t bytes;
    fs::file_time_type last_use;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder_, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code error; // another process may remove files, too
    if (!at->is_regular_file(error) || error)
      continue;
    const std::uint64_t bytes = at->file_size(error);
    const auto last_use = error ? fs::file_time_type{} : at->last_write_time(error);
    if (error)
      continue;
    entries.push_back({at->path(), bytes, last_use});
    total += bytes;
  }
  if (total <= max_bytes_)
    return;
  std::ranges::sort(entries, {}, &Entry::last_use);
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ / 4 * 3)
      return;
    fs::remove(entry.path, problem);
    total -= entry.bytes;
  }
}

} // namespace warplens::lowering
