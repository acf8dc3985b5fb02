// Files read and written whole, with every way in which that can go wrong as one line.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace warplens {

/// The bytes of a regular file, a pipe or a device. The error names the file: it is not there, is a folder,
/// cannot be read, or is larger than the memory there is.
Expected<std::string> read_file(const std::filesystem::path& file);

/// The file then holds `bytes` alone; its folder has to be there. The error names the file and says why: no
/// such folder, no right, a full disk.
Expected<void> write_file(const std::filesystem::path& file, std::string_view bytes);

} // namespace warplens
