// The subcommands, which commands.def lists. Each declares itself on the command line; the Expected that it
// returns when chosen determines the exit code.
#pragma once

#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::driver {

/// The work that main() runs once the command line has been parsed. An error is printed and ends with exit
/// code 1.
using Action = std::function<Expected<void>()>;

/// The command line that commands declare themselves on.
struct CommandLine {
  CLI::App& app;                        ///< holds every subcommand by the time that an action runs
  const std::vector<std::string>& rest; ///< the words after `--run` or `--`
  Action& chosen;                       ///< that of the command which was chosen
  int& exit_code; ///< of an action that succeeds: the verdict for --exit-code, a gate's outcome; at first 0
};

// Declare a subcommand each.
#define WARPLENS_COMMAND(name) void declare_##name(const CommandLine& line);
#include "driver/commands/commands.def"
#undef WARPLENS_COMMAND

/// Declares all of them, in the order of --help.
inline void declare_commands(const CommandLine& line) {
#define WARPLENS_COMMAND(name) declare_##name(line);
#include "driver/commands/commands.def"
#undef WARPLENS_COMMAND
}

/// Returns the command line of `profile` for the words of `warplens FILE.cu …`, which writes the page beside
/// the report unless they choose an output; nothing if they do not begin with a file.
std::optional<std::vector<std::string>> profile_words(const std::vector<std::string>& words);

/// Runs `warplens assemble WORDS...`, which only programs start.
Expected<void> assemble_command(const std::vector<std::string>& words);

/// Prints the text of `warplens nvcc --help`: the options that nvcc does not have. `warplens-nvcc --help` is
/// nvcc's own, as build systems expect it.
Expected<void> print_nvcc_help();

/// Runs `warplens nvcc WORDS...`, whose command line is nvcc's. Returns the exit code, as nvcc's.
int nvcc_command(std::vector<std::string> words);

} // namespace warplens::driver
