#include "runtime/cpu/machine/readable_memory.h"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace warplens::cpu {
namespace {

/// Takes a hexadecimal number, and the character behind it, off the line's front.
std::uint64_t take_number(std::string_view& line) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  line.remove_prefix(std::min<std::size_t>(std::size_t(end - line.data()) + 1, line.size()));
  return error == std::errc() ? number : 0;
}

} // namespace

std::vector<machine::Range> readable_memory() {
  std::vector<machine::Range> ranges;
  std::ifstream maps("/proc/self/maps"); // proc(5): "begin-end rwxp offset device inode name"
  for (std::string text; std::getline(maps, text);) {
    std::string_view line = text;
    const std::uint64_t begin = take_number(line), end = take_number(line);
    // The kernel's own pages, [vvar] and [vsyscall], do not all let themselves be read.
    if (begin >= end || line.empty() || line.front() != 'r' || line.find("[v") != line.npos)
      continue;
    const bool is_writable = line.size() > 1 && line[1] == 'w';
    if (!ranges.empty() && ranges.back().address + ranges.back().bytes == begin &&
        ranges.back().is_writable == is_writable)
      ranges.back().bytes += end - begin;
    else
      ranges.push_back({begin, end - begin, reinterpret_cast<const std::byte*>(begin), is_writable});
  }
  return ranges;
}

} // namespace warplens::cpu
