// Reader of the figures of a GPU file: each is `key = { value = …, source = "…" }`, its source one of the
// file's [sources]. Where it is not known, it can have alternatives to the value, `or = […]`, with the
// weights of all, `weights = […]`, or a range, `between = [low, high]`, from which machines draw.
#pragma once

#include "model/gpu/stated_figures.h"
#include "support/expected.h"
#include "vocabulary/access.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <toml++/toml.h>
#include <vector>

namespace warplens::model {

/// Reads figures by their paths, "table.key", or "key" at the top. It keeps the first error, after which
/// reading on is harmless.
class TomlFigures {
public:
  static Expected<TomlFigures> open(const std::filesystem::path& path);

  /// Returns a reader that has read nothing and reads the figures of a machine (drawn_figures.h); those of
  /// the first one are the values.
  TomlFigures of_machine(std::uint32_t machine) const;
  /// Returns the paths of the figures that machines draw, of those that were read.
  const std::vector<std::string>& drawn() const { return drawn_; }

  /// Returns whether the file has this table.
  bool has(const std::string& table) const { return root_.contains(table); }
  /// Returns whether the file has this key, "table.key".
  bool has_key(const std::string& path) const { return bool(root_.at_path(path)); }
  /// Reads a plain string, without a source.
  void text(const std::string& path, std::string& value);
  /// Reads a plain list of strings, without a source.
  void texts(const std::string& path, std::vector<std::string>& values);
  /// Reads a plain number within [low, high], without a source.
  void plain_number(const std::string& path, double& value, double low, double high);

  /// Reads a number within [low, high].
  void number(const std::string& path, std::uint32_t& value, std::uint32_t low, std::uint32_t high);
  void number(const std::string& path, std::uint64_t& value, std::uint64_t low, std::uint64_t high);
  void number(const std::string& path, double& value, double low, double high);
  /// Reads a list of ascending numbers within [low, high], at least one.
  void numbers(const std::string& path, std::vector<std::uint32_t>& values, std::uint32_t low,
               std::uint32_t high);
  /// Reads a list of numbers within [low, high], at least one.
  void numbers(const std::string& path, std::vector<double>& values, double low, double high);
  /// Reads a number within [low, high] and the interval in which it lies, `interval = […, …]`.
  void estimate(const std::string& path, double& value, double& value_low, double& value_high, double low,
                double high);
  void boolean(const std::string& path, bool& value);
  /// Reads one of the words, and returns its index.
  std::size_t choice(const std::string& path, const std::vector<std::string>& words);
  /// Reads one of the enumeration's names.
  template <Named Enumeration> Enumeration choice(const std::string& path) {
    return Enumeration(
        choice(path, std::vector<std::string>(names_of<Enumeration>.begin(), names_of<Enumeration>.end())));
  }

  /// Checks a requirement that spans figures: where it does not hold, the error names the line of `path`.
  void require(bool holds, const std::string& path, const std::string& expected);

  /// Returns the first error, or that for a key that was not read.
  Expected<void> finish();

  /// Returns every figure as the file states it, in the order of their paths.
  std::vector<StatedFigure> stated() const;
  /// Returns a text with every figure, its value and its source.
  std::string describe() const;

  /// Returns every figure as the file writes it, without its source, by path: "value = 8, or = [4, 16]".
  std::map<std::string, std::string> without_sources() const;

private:
  TomlFigures(std::string file, toml::table root) : file_(std::move(file)), root_(std::move(root)) {}
  const toml::node* find(const std::string& path);
  const toml::node* figure(const std::string& path);
  const toml::node* drawn_value(const std::string& path, const toml::table& figure);
  const toml::node* drawn_of_range(const std::string& path, double stated, const toml::array& range);
  void read_number(const toml::node& node, const std::string& path, double& value, double low, double high);
  void set_error(const toml::node* where, const std::string& what);

  std::string file_;
  toml::table root_;
  std::set<std::string> read_paths_;
  std::string error_;
  std::uint32_t machine_ = 0;
  std::vector<std::string> drawn_;
  toml::array made_; ///< the value that was drawn from a range last
};

} // namespace warplens::model
