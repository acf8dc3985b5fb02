// A cache of files in a folder, keyed by what they were made from.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace warplens {

/// A folder of files, one for each key, that several processes may use at once: a file appears complete or
/// not at all, and a damaged one counts as missing. A cache that cannot be written to stores nothing; that is
/// no error.
class ContentCache {
public:
  static constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;

  /// An empty folder name disables the cache.
  explicit ContentCache(std::filesystem::path folder, std::uint64_t max_bytes = default_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  bool enabled() const { return !folder_.empty(); }

  /// Returns the key of what is made of `ingredients` by this build of the program.
  static std::string key(std::string_view ingredients);

  std::optional<std::string> find(const std::string& key) const;
  void store(const std::string& key, std::string_view content) const;
  /// Returns the path of a file that store_file() kept, for who maps it into memory. Its content is not
  /// checked, and it may vanish.
  std::optional<std::filesystem::path> find_file(const std::string& key) const;
  /// Keeps the file that `make` writes to the path it is given, if it returns true. Returns whether it is
  /// kept.
  bool store_file(const std::string& key,
                  const std::function<bool(const std::filesystem::path&)>& make) const;
  /// Returns whether this instance stored anything.
  bool has_grown() const { return has_grown_; }
  /// Removes the least recently used files until three quarters of the bound are left, if it is exceeded.
  void evict() const;

private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  mutable std::atomic<bool> has_grown_{false};
};

} // namespace warplens
