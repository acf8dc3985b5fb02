#include "support/content_cache.h"

#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>
#include <vector>

namespace warplens {

namespace fs = std::filesystem;

namespace {

/// The digits of a key that name its folder: other folders beside those are not the cache's.
constexpr std::size_t prefix_digits = 2;

/// Returns this program's identity: another build of it may compile differently.
const std::string& this_program() {
  static const std::string identity = content_hash(read_file("/proc/self/exe").value_or(""));
  return identity;
}

} // namespace

std::string ContentCache::key(std::string_view ingredients) {
  return content_hash(this_program() + std::string(ingredients));
}

fs::path ContentCache::path_of(const std::string& key) const {
  return folder_ / key.substr(0, prefix_digits) / key.substr(prefix_digits);
}

std::optional<std::string> ContentCache::find(const std::string& key) const {
  if (!enabled())
    return std::nullopt;
  const auto path = path_of(key);
  std::string stored = read_file(path).value_or("");
  if (stored.size() <= content_hash_bytes || content_hash(std::string_view(stored).substr(
                                                 content_hash_bytes)) != stored.substr(0, content_hash_bytes))
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // marks its last use
  return stored.substr(content_hash_bytes);
}

void ContentCache::store(const std::string& key, std::string_view content) const {
  store_file(key, [&](const fs::path& path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << content_hash(content) << content;
    file.close();
    return !file.fail();
  });
}

std::optional<fs::path> ContentCache::find_file(const std::string& key) const {
  const auto path = path_of(key);
  std::error_code problem;
  fs::last_write_time(path, fs::file_time_type::clock::now(), problem); // marks its last use
  return problem ? std::nullopt : std::optional(path);
}

bool ContentCache::store_file(const std::string& key,
                              const std::function<bool(const fs::path&)>& make) const {
  if (!enabled())
    return false;
  static std::atomic<unsigned> number{0};
  const auto path = path_of(key);
  const auto temporary = fmt::format("{}.{}.{}", path.string(), getpid(), number++);
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  const bool made = make(temporary);
  if (made)
    fs::rename(temporary, path, problem);
  if (made && !problem)
    return has_grown_ = true;
  fs::remove(temporary, problem);
  return false;
}

void ContentCache::evict() const {
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
    if (at.depth() == 0 && at->path().filename().native().size() != prefix_digits) { // not of this cache
      at.disable_recursion_pending();
      continue;
    }
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

} // namespace warplens
