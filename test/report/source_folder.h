// A folder with the sample's source, removed afterwards.
#pragma once

#include "test/catch.h"
#include "test/result/sample_result.h"

#include <filesystem>
#include <fstream>
#include <stdlib.h>

namespace warplens::test {

class SourceFolder {
public:
  SourceFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "warplens-report-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    write("spmv.cu", sample_source);
  }
  SourceFolder(const SourceFolder&) = delete;
  ~SourceFolder() { std::filesystem::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace warplens::test
