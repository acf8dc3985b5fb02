// Private temporary folders that are gone afterwards, also after SIGINT, SIGTERM, SIGHUP and SIGPIPE.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <utility>

namespace warplens {

class TemporaryDirectory {
public:
  /// mkdtemp in $TMPDIR or /tmp, mode 0700.
  static Expected<TemporaryDirectory> create();
  /// Its name says nothing but `name`, unless there is one of that name already. For files whose path gets
  /// into what is made of them.
  static Expected<TemporaryDirectory> create(const std::string& name);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }
  /// Leaves the folder in place.
  void keep();

private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  bool kept_ = false;
};

} // namespace warplens
