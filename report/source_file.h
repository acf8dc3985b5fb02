// Reads a source file's text, if it still exists, and names its place for tools.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

/// Returns the text, or nothing if `name`, as it stands or below `root`, is no regular file of at most 32 MiB
/// that can be read: a result may be from anywhere and name anything.
std::optional<std::string> read_source(const std::string& name, const std::filesystem::path& root);

/// Returns the lines of a text without their ends (LF or CR LF).
std::vector<std::string> lines_in(std::string_view text);

/// Returns the file's name relative to the current folder if it lies in there; else absolute.
std::filesystem::path place_of(const std::string& name);

} // namespace warplens::report
