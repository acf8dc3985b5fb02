#include "driver/help/formats.h"
#include "driver/help/groups.h"

#include <fmt/ranges.h>

namespace warplens::driver::help {
namespace {

/// Escapes what would end a table's cell or become HTML.
std::string cell(const std::string& text) {
  std::string result;
  for (const char character : text)
    switch (character) {
    case '|': result += "\\|"; break;
    case '<': result += "&lt;"; break;
    case '\n': result += "<br>"; break;
    default: result += character;
    }
  return result;
}

std::string row(const OptionText& option) {
  const std::string value = option.value.empty() ? "" : " " + option.value;
  std::string names = fmt::format("{}{}", fmt::join(option.names, ", "), value);
  for (std::size_t at = 0; (at = names.find('|', at)) != std::string::npos; at += 2)
    names.insert(at, "\\");
  return fmt::format("| `{}` | {} |\n", names, cell(option.description));
}

} // namespace

std::string markdown(const std::vector<CommandText>& commands) {
  std::string text = "# Commands and options\n\n"
                     "Written by `warplens help --format markdown`; `ctest -R command_tree` checks it.\n"
                     "[The command line](command-line.md) has what this page leaves out.\n";
  for (const CommandText& command : commands) {
    text += command.name.empty() ? "\n## warplens\n" : fmt::format("\n## warplens {}\n", command.name);
    if (!command.name.empty())
      text += fmt::format("\n{}.\n\n```\n{}\n```\n", cell(command.summary), command.usage);
    if (command.positionals.empty() && command.options.empty())
      continue;
    text += "\n| | |\n|---|---|\n";
    for (const OptionText& option : command.positionals)
      text += row(option);
    std::string group = own_group;
    for (const OptionText& option : command.options) {
      if (option.group != group)
        text += fmt::format("| **{}** | |\n", group = option.group);
      text += row(option);
    }
    if (!command.footer.empty())
      text += fmt::format("\n```\n{}\n```\n", command.footer);
  }
  return text;
}

} // namespace warplens::driver::help
