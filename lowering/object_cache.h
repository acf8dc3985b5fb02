// Objects of kernels that were compiled before, kept by what they were made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::lowering {

/// A folder of files, one for each key, that several processes may use at once: a file appears complete or
/// not at all, and one that was damaged is as good as none. A cache that cannot be written to keeps nothing;
/// that is no error.
class ObjectCache {
public:
  static constexpr std::uint64_t default_bytes = std::uint64_t{1} << 30;

  /// An empty folder's name means: keep nothing.
  explicit ObjectCache(std::filesystem::path folder, std::uint64_t max_bytes = default_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  bool enabled() const { return !folder_.empty(); }

  /// The key of something made of `ingredients` by this very program.
  static std::string key(std::string_view ingredients);

  std::optional<std::string> find(const std::string& key) const;
  void store(const std::string& key, std::string_view object) const;
  /// Did this one store something?
  bool has_grown() const { return has_grown_; }
  /// Removes what was not used for longest until three quarters of the bound are left, where it is exceeded.
  void evict() const;

private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  mutable std::atomic<bool> has_grown_{false};
};

} // namespace warplens::lowering
