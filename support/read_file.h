// Whole files, with every way in which that can go wrong as one line.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens {

/// The bytes of a regular file, a pipe or a device. The error names the file: it is not there, is a folder,
/// cannot be read, or is larger than the memory there is.
Expected<std::string> read_file(const std::filesystem::path& file);

} // namespace warplens
