#include "driver/help/formats.h"

#include <fmt/ranges.h>

namespace warplens::driver::help {
namespace {

/// Returns the text with each of these characters escaped by a backslash.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char character : text) {
    if (special.find(character) != std::string_view::npos)
      result += '\\';
    result += character;
  }
  return result;
}

/// Returns a POSIX shell's word for the text.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char character : text)
    result += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return result + "'";
}

std::vector<std::string> option_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Returns the words that may follow the command: its subcommands.
std::vector<std::string> children_of(const CommandText& command, const std::vector<CommandText>& commands) {
  const std::string prefix = command.name.empty() ? "" : command.name + " ";
  std::vector<std::string> names;
  for (const CommandText& other : commands)
    if (other.name.size() > prefix.size() && other.name.starts_with(prefix) &&
        other.name.find(' ', prefix.size()) == std::string::npos)
      names.push_back(other.name.substr(prefix.size()));
  return names;
}

} // namespace

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::string text = R"(# bash completion for warplens, written by `warplens help --format bash`.
_warplens() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= index options= words=
  for ((index = 1; index < COMP_CWORD; ++index)); do
    case "${command:+$command }${COMP_WORDS[index]}" in
)";
  std::vector<std::string> names;
  for (const CommandText& command : commands)
    if (!command.name.empty())
      names.push_back(quoted(command.name));
  text += fmt::format("      {}) command=${{command:+$command }}${{COMP_WORDS[index]}} ;;\n",
                      fmt::join(names, "|"));
  text += R"(    esac
  done
  case "$command" in
)";
  for (const CommandText& command : commands) {
    text +=
        fmt::format("    {})\n      options={}\n      words={}\n      case \"$before\" in\n",
                    quoted(command.name), quoted(fmt::format("{}", fmt::join(option_names(command), " "))),
                    quoted(fmt::format("{}", fmt::join(children_of(command, commands), " "))));
    for (const OptionText& option : command.options)
      if (!option.words.empty())
        text += fmt::format("        {}) COMPREPLY=($(compgen -W {} -- \"$word\")); return ;;\n",
                            fmt::join(option.names, "|"),
                            quoted(fmt::format("{}", fmt::join(option.words, " "))));
    text += "        *) ;;\n      esac ;;\n";
  }
  return text + R"(  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _warplens warplens
)";
}

std::string zsh_completion(const std::vector<CommandText>& commands) {
  std::string text =
      "#compdef warplens\n# zsh completion for warplens, written by `warplens help --format zsh`.\n"
      "local command= word\n"
      "for word in ${words[2,CURRENT-1]}; do\n  case \"${command:+$command }$word\" in\n";
  std::vector<std::string> names;
  for (const CommandText& command : commands)
    if (!command.name.empty())
      names.push_back(fmt::format("({})", escaped(command.name, " ")));
  text +=
      fmt::format("    {}) command=\"${{command:+$command }}$word\" ;;\n  esac\ndone\ncase \"$command\" in\n",
                  fmt::join(names, "|"));
  for (const CommandText& command : commands) {
    text += fmt::format("  {})\n    _arguments \\\n", quoted(command.name));
    for (const OptionText& option : command.options)
      for (const std::string& name : option.names) {
        const std::string about = escaped(first_line(option.description), "[]:\\");
        const std::string value = option.value.empty() ? ""
                                  : option.words.empty()
                                      ? ":value:_files"
                                      : fmt::format(":value:({})", fmt::join(option.words, " "));
        text += fmt::format("      {} \\\n", quoted(fmt::format("{}[{}]{}", name, about, value)));
      }
    const std::vector<std::string> children = children_of(command, commands);
    text += children.empty() ? "      '*:file:_files' ;;\n"
                             : fmt::format("      '*:command:({})' ;;\n", fmt::join(children, " "));
  }
  return text + "esac\n";
}

std::string fish_completion(const std::vector<CommandText>& commands) {
  std::string text = "# fish completion for warplens, written by `warplens help --format fish`.\n";
  const auto word = [](const std::string& name) { return "'" + escaped(name, "\\'") + "'"; };
  // The condition under which a command has been typed: each of its words has.
  const auto condition = [&](const CommandText& command) {
    std::string all;
    std::string name;
    for (std::istringstream names(command.name); names >> name;)
      all += fmt::format("{}__fish_seen_subcommand_from {}", all.empty() ? "" : "; and ", name);
    const std::vector<std::string> children = children_of(command, commands);
    if (!children.empty())
      all += fmt::format("{}not __fish_seen_subcommand_from {}", all.empty() ? "" : "; and ",
                         fmt::join(children, " "));
    return all;
  };
  for (const CommandText& command : commands) {
    for (const std::string& child : children_of(command, commands)) {
      const std::string name = command.name.empty() ? child : command.name + " " + child;
      for (const CommandText& other : commands)
        if (other.name == name)
          text += fmt::format("complete -c warplens -f -n {} -a {} -d {}\n", word(condition(command)), child,
                              word(first_line(other.summary)));
    }
    for (const OptionText& option : command.options) {
      text += fmt::format("complete -c warplens -n {}", word(condition(command)));
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.words.empty())
        text += fmt::format(" -x -a {}", word(fmt::format("{}", fmt::join(option.words, " "))));
      else if (!option.value.empty())
        text += " -r";
      text += fmt::format(" -d {}\n", word(first_line(option.description)));
    }
  }
  return text;
}

} // namespace warplens::driver::help
