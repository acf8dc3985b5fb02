// The texts that a language client has open.
#pragma once

#include "driver/rpc/json_rpc.h"
#include "support/expected.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver::lsp {

/// How columns count: in code units of UTF-16, which is the protocol's default, or in bytes.
enum class Encoding { utf16, utf8 };

/// Returns how many units the text takes.
std::size_t units_of(std::string_view text, Encoding encoding);

/// Returns the path that a file's URI names, without symbolic links as far as it exists; an empty one for
/// URIs of another kind, as texts have that were never saved.
std::filesystem::path path_of_uri(std::string_view uri);

struct Document {
  std::filesystem::path path; ///< empty: it is no file
  std::int64_t version = 0;
  std::vector<std::string> lines; ///< without their ends
};

/// The open documents by URI, which the client spells.
using Documents = std::map<std::string, Document>;

/// Returns a range of the protocol within one line, from 0 on.
rpc::Json range_in_line(std::size_t line, std::size_t begin, std::size_t end);

/// Returns the range of the whole line.
rpc::Json range_of_line(const Document& document, std::size_t line, Encoding encoding);

} // namespace warplens::driver::lsp
