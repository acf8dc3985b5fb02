// A source file's lines, where it can still be read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warplens::report {

/// The lines without their ends. Empty where `name`, as it stands or below `root`, is no regular file of at
/// most 32 MiB that can be read: a result may come from anywhere and name anything.
std::optional<std::vector<std::string>> read_lines(const std::string& name,
                                                   const std::filesystem::path& root);

} // namespace warplens::report
