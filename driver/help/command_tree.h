// The commands and options as CLI11 has them, for what describes them: man pages, completion, documentation.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warplens::driver::help {

struct OptionText {
  std::vector<std::string> names; ///< "-o", "--output"; of a positional one its name in the usage: "RESULT"
  std::string value;              ///< "FILE", or "NAME=text" with a default; empty: a flag
  std::string description;        ///< may have several lines
  std::string group;              ///< the heading in --help
  std::vector<std::string> words; ///< the values that there are, if they are words
};

struct CommandText {
  std::string name; ///< "diff"; of a subcommand "trace dump"
  std::string summary, usage, footer;
  std::vector<OptionText> positionals, options; ///< options: by group, in the order of --help
};

/// Returns the program itself, then each command and subcommand, in the order of --help. `nvcc` has no
/// options here: its command line is nvcc's.
std::vector<CommandText> commands_of(const CLI::App& app);

/// Returns the first line of a text.
std::string first_line(const std::string& text);

} // namespace warplens::driver::help
