#include "driver/help/command_tree.h"

#include "driver/help/groups.h"
#include "support/lines.h"

#include <algorithm>
#include <sstream>

namespace warplens::driver::help {
namespace {

/// Returns the words of CLI::IsMember, which describes itself as {a,b}.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos)
    return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');)
    words.push_back(word);
  return words;
}

/// Returns the value as --help shows it: the text that replaces it, or the type with the default.
std::string value_of(const CLI::Option& option) {
  if (!option.get_option_text().empty())
    return option.get_option_text();
  if (option.get_type_size() == 0)
    return "";
  std::string type = option.get_type_name();
  type.resize(std::min(type.find(':'), type.size()));
  const std::string initial = option.get_default_str();
  return initial.empty() ? type : type + "=" + initial;
}

/// Returns "warplens diff [OPTIONS] BEFORE AFTER".
std::string usage_of(const CLI::App& app, const std::string& path) {
  const auto* formatter = dynamic_cast<const CLI::Formatter*>(app.get_formatter().get());
  if (formatter == nullptr)
    return path;
  const std::vector<std::string> lines = lines_of(formatter->make_usage(&app, path));
  constexpr std::string_view before = "Usage: ";
  const auto usage =
      std::ranges::find_if(lines, [&](const std::string& line) { return line.starts_with(before); });
  return usage == lines.end() ? path : usage->substr(before.size());
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  if (option.get_positional()) {
    text.names = {option.get_type_name().substr(0, option.get_type_name().find(':'))};
  } else {
    for (const std::string& name : option.get_snames())
      text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
      text.names.push_back("--" + name);
    text.value = value_of(option);
  }
  text.description = option.get_description();
  text.group = option.get_group();
  text.words = words_of(option);
  return text;
}

void add(const CLI::App& app, const std::string& name, std::vector<CommandText>& commands) {
  CommandText command;
  command.name = name;
  command.summary = app.get_description();
  command.footer = app.get_footer();
  std::string path = "warplens";
  if (!name.empty())
    path += " " + name;
  command.usage = usage_of(app, path);
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      command.positionals.push_back(text_of(*option));
  for (const std::string& group : groups_of(app))
    for (const CLI::Option* option : app.get_options())
      if (!option->get_positional() && option->get_group() == group)
        command.options.push_back(text_of(*option));
  commands.push_back(std::move(command));
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; }))
    add(*child, name.empty() ? child->get_name() : name + " " + child->get_name(), commands);
}

} // namespace

std::vector<CommandText> commands_of(const CLI::App& app) {
  std::vector<CommandText> commands;
  add(app, "", commands);
  return commands;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

} // namespace warplens::driver::help
