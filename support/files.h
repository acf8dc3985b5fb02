// Reads and writes whole files, with one line for each possible failure.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace warplens {

/// Returns the bytes of a regular file, a pipe or a device. The error names the file and says why: it does
/// not exist, is a folder, cannot be read, or is larger than the available memory.
Expected<std::string> read_file(const std::filesystem::path& file);

/// Writes the file, which then holds `bytes` alone; its folder must exist. The error names the file and says
/// why: no such folder, no right, a full disk.
Expected<void> write_file(const std::filesystem::path& file, std::string_view bytes);

/// Returns a path's last part, by which source files are compared, as compilers and users spell paths in
/// several ways.
std::string file_name(const std::string& path);

} // namespace warplens
