// Reads the figures of a GPU file: each is `key = { value = …, source = "…" }`, its source one of the file's
// [sources].
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <toml++/toml.h>
#include <vector>

namespace warplens::model {

/// Keeps the first error; reading on after it is harmless. A path is "table.key", or "key" at the top.
class TomlFigures {
public:
  static Expected<TomlFigures> open(const std::filesystem::path& path);

  /// A plain string or boolean at the top of the file.
  void text(const std::string& path, std::string& value);
  void flag(const std::string& path, bool& value);

  /// Numbers within [low, high].
  void number(const std::string& path, std::uint32_t& value, std::uint32_t low, std::uint32_t high);
  void number(const std::string& path, std::uint64_t& value, std::uint64_t low, std::uint64_t high);
  void number(const std::string& path, double& value, double low, double high);
  /// Ascending, at least one.
  void numbers(const std::string& path, std::vector<std::uint32_t>& values, std::uint32_t low,
               std::uint32_t high);
  void boolean(const std::string& path, bool& value);
  /// One of the words, as its index.
  std::size_t choice(const std::string& path, const std::vector<std::string>& words);

  /// A requirement that spans figures: where it does not hold, the error names the line of `path`.
  void require(bool holds, const std::string& path, const std::string& expected);

  /// The first error, or that for a key nobody asked for.
  Expected<void> finish();

  /// Every figure with its value and source, for people.
  std::string describe() const;

private:
  TomlFigures(std::string file, toml::table root) : file_(std::move(file)), root_(std::move(root)) {}
  const toml::node* find(const std::string& path);
  const toml::node* figure(const std::string& path);
  void wrong(const toml::node* where, const std::string& what);

  std::string file_;
  toml::table root_;
  std::set<std::string> asked_;
  std::string error_;
};

} // namespace warplens::model
