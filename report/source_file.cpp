#include "report/source_file.h"

#include <fstream>

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

std::optional<std::vector<std::string>> read_lines(const std::string& name,
                                                   const std::filesystem::path& root) {
  std::filesystem::path path = name;
  if (!is_readable_source(path)) {
    path = root / path;
    if (root.empty() || !is_readable_source(path))
      return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace warplens::report
