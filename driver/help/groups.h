// The groups of a command's options in --help, in the order in which a person needs them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace warplens::driver::help {

/// Options without a group of their own, which come first: those that only this command has.
inline constexpr const char* own_group = "Options";
inline constexpr const char* runs_group = "What runs";
inline constexpr const char* modelled_group = "What is modelled";
inline constexpr const char* printed_group = "What is printed";
inline constexpr const char* checks_group = "Checks of the program";
/// --help leaves these options out, and --help-all has them.
inline constexpr const char* rare_group = "Rarely used";

/// Puts the options that are added to the command while this exists into the group.
class GroupScope {
public:
  GroupScope(CLI::App& command, const char* group) : command_(command) {
    command_.option_defaults()->group(group);
  }
  ~GroupScope() { command_.option_defaults()->group(own_group); }
  GroupScope(const GroupScope&) = delete;
  GroupScope& operator=(const GroupScope&) = delete;

private:
  CLI::App& command_;
};

/// Returns the groups of the command's options in the order of --help.
std::vector<std::string> groups_of(const CLI::App& command);

/// Returns the layout of --help. `usage`: its first line, where CLI11 does not know of all words.
std::shared_ptr<CLI::Formatter> help_layout(const std::string& usage = "");

/// Adds --help-all to each command that has options which --help leaves out, and to the program itself.
void add_help_all(CLI::App& app);

} // namespace warplens::driver::help
