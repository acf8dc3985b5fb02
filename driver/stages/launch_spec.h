// How a kernel without a program of its own is launched: the file of `warplens profile --launch`.
#pragma once

#include "support/expected.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warplens::driver {

/// An argument of the kernel.
struct LaunchArgument {
  std::size_t bytes = 0;          ///< of the parameter that it is passed to
  std::uint64_t buffer_bytes = 0; ///< of memory
  nlohmann::json plan;            ///< as runtime/cpu/launcher reads it
  std::uint32_t line = 0;         ///< in the file
};

struct LaunchSpec {
  std::filesystem::path file;
  std::string kernel; ///< mangled or demangled; empty: the only one
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0; ///< dynamic
  std::vector<LaunchArgument> arguments;
};

/// Reads the file, TOML; paths in it are relative to its folder. The error names the file and the line, and
/// says in one line what is wrong there.
Expected<LaunchSpec> read_launch_spec(const std::filesystem::path& file);

} // namespace warplens::driver
