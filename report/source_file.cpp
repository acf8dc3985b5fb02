#include "report/source_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace warplens::report {
namespace {

constexpr std::uintmax_t largest_file = 32u << 20;

bool is_readable_source(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem) || problem)
    return false;
  const std::uintmax_t bytes = std::filesystem::file_size(path, problem);
  return !problem && bytes <= largest_file;
}

} // namespace

std::optional<std::string> read_source(const std::string& name, const std::filesystem::path& root) {
  std::filesystem::path path = name;
  if (!is_readable_source(path)) {
    path = root / path;
    if (root.empty() || !is_readable_source(path))
      return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return file.bad() ? std::nullopt : std::optional(std::move(text).str());
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::filesystem::path place_of(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::current_path(ignored);
  const std::filesystem::path place = (here / name).lexically_normal();
  const std::filesystem::path relative = place.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? place : relative;
}

} // namespace warplens::report
