// Private temporary folders that are removed afterwards, also after SIGINT, SIGTERM, SIGHUP and SIGPIPE.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <utility>

namespace warplens {

class TemporaryDirectory {
public:
  /// Makes a folder by mkdtemp in $TMPDIR or /tmp, mode 0700.
  static Expected<TemporaryDirectory> create();
  /// Makes a folder whose path depends on `name` alone, unless there is one of that name already. It is for
  /// files whose path gets into their results.
  static Expected<TemporaryDirectory> create(const std::string& name);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }
  /// Leaves the folder in place after the program.
  void keep();

private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  bool kept_ = false;
};

} // namespace warplens
