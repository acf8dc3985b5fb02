// The command tree in the formats of those who read it.
#pragma once

#include "driver/help/command_tree.h"

namespace warplens::driver::help {

/// Return scripts that complete commands, options and their words; other words are files.
std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);
std::string fish_completion(const std::vector<CommandText>& commands);

/// Returns the manual page warplens(1), in roff with the man macros (man(7)).
std::string man_page(const std::vector<CommandText>& commands, const std::string& version);

/// Returns docs/commands.md.
std::string markdown(const std::vector<CommandText>& commands);

} // namespace warplens::driver::help
