#include "driver/lsp/documents.h"

#include <charconv>
#include <optional>

namespace warplens::driver::lsp {
namespace {

using rpc::Json;

/// Returns the text with its %XX replaced by bytes; nothing if one is broken or stands for a zero byte.
std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2 || byte == 0)
      return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

} // namespace

std::size_t units_of(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::utf8)
    return text.size();
  std::size_t units = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

std::filesystem::path path_of_uri(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme))
    return {};
  uri.remove_prefix(scheme.size());
  if (uri.starts_with("localhost/"))
    uri.remove_prefix(std::string_view("localhost").size());
  const auto path = unescaped(uri);
  if (!path || !path->starts_with('/'))
    return {};
  std::error_code problem;
  const std::filesystem::path real = std::filesystem::weakly_canonical(*path, problem);
  return problem ? std::filesystem::path(*path).lexically_normal() : real;
}

Json range_in_line(std::size_t line, std::size_t begin, std::size_t end) {
  return {{"start", {{"line", line}, {"character", begin}}}, {"end", {{"line", line}, {"character", end}}}};
}

Json range_of_line(const Document& document, std::size_t line, Encoding encoding) {
  return range_in_line(line, 0, units_of(document.lines[line], encoding));
}

} // namespace warplens::driver::lsp
