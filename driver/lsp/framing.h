// The messages of a language client, each behind a header with its length.
#pragma once

#include "driver/rpc/json_rpc.h"

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace warplens::driver::lsp {

class Input {
public:
  /// No client sends more: a document of that size is no source.
  static constexpr std::size_t max_message = std::size_t{64} << 20;

  explicit Input(std::istream& stream) : stream_(*stream.rdbuf()) {}

  /// Returns the next message's content, or nothing at the end of the input. The sender of bytes that are no
  /// message gets an error, once for all of them, up to the next "Content-Length:". JSON on one line cannot
  /// have a whole header in it.
  std::optional<std::string> next(rpc::Output& output);

private:
  /// Returns the next line without its end, of a long one only the last bytes; nothing at the end.
  std::optional<std::string> header_line();
  void reject(rpc::Output& output, int code, const std::string& message);

  std::streambuf& stream_;
  bool has_rejected_ = false; ///< since the last message
};

} // namespace warplens::driver::lsp
