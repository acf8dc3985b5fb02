#include "driver/lsp/framing.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace warplens::driver::lsp {
namespace {

constexpr std::size_t max_header_line = 1024;
constexpr std::string_view length_name = "content-length:";

std::string lower_case(std::string text) {
  for (char& character : text)
    if (character >= 'A' && character <= 'Z')
      character = static_cast<char>(character - 'A' + 'a');
  return text;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<std::string> Input::next(rpc::Output& output) {
  std::optional<std::size_t> length;
  while (const auto line = header_line()) {
    if (const std::size_t place = lower_case(*line).find(length_name); place != std::string::npos) {
      if (place != 0)
        reject(output, rpc::parse_error, "there are bytes outside of a message");
      length = whole_number(std::string_view(*line).substr(place + length_name.size()));
      if (!length) {
        reject(output, rpc::parse_error, "Content-Length is not a whole number");
      } else if (*length > max_message) {
        reject(output, rpc::invalid_request, fmt::format("a message has at most {} bytes", max_message));
        length.reset();
      }
    } else if (!line->empty()) {
      if (!lower_case(*line).starts_with("content-type:"))
        reject(output, rpc::parse_error,
               "the header has a line that is neither Content-Length nor Content-Type");
    } else if (length) {
      std::string content(*length, '\0');
      if (stream_.sgetn(content.data(), std::streamsize(content.size())) != std::streamsize(content.size()))
        return std::nullopt;
      has_rejected_ = false;
      return content;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Input::header_line() {
  constexpr int end_of_input = std::streambuf::traits_type::eof();
  std::string line;
  for (int byte = stream_.sbumpc(); byte != end_of_input; byte = stream_.sbumpc()) {
    if (byte == '\n') {
      if (line.ends_with('\r'))
        line.pop_back();
      return line;
    }
    line += static_cast<char>(byte);
    if (line.size() > 2 * max_header_line)
      line.erase(0, max_header_line);
  }
  return std::nullopt;
}

void Input::reject(rpc::Output& output, int code, const std::string& message) {
  if (!has_rejected_)
    output.error(nullptr, code, message);
  has_rejected_ = true;
}

} // namespace warplens::driver::lsp
