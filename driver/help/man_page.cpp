#include "driver/help/formats.h"
#include "driver/help/groups.h"
#include "support/lines.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace warplens::driver::help {
namespace {

/// Escapes what roff would read as a request or an escape.
std::string roff(const std::string& text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\''))
    result += "\\&";
  for (const char character : text)
    switch (character) {
    case '\\': result += "\\e"; break;
    case '-': result += "\\-"; break;
    default: result += character;
    }
  return result;
}

std::string paragraph(const std::string& text) {
  std::string result;
  for (const std::string& line : lines_of(text)) {
    if (!result.empty())
      result += ".br\n";
    result += roff(line) + "\n";
  }
  return result;
}

/// Returns lines as they stand: a footer has examples and columns.
std::string verbatim(const std::string& text) {
  std::string result = ".nf\n";
  for (const std::string& line : lines_of(text))
    result += roff(line) + "\n";
  return result + ".fi\n";
}

std::string options(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.positionals)
    text += fmt::format(".TP\n.I {}\n{}", roff(fmt::format("{}", fmt::join(option.names, ", "))),
                        paragraph(option.description));
  std::string group = own_group;
  for (const OptionText& option : command.options) {
    if (option.group != group)
      text += fmt::format(".PP\n.I {}:\n", roff(group = option.group));
    text += fmt::format(".TP\n.B {}{}\n{}", roff(fmt::format("{}", fmt::join(option.names, ", "))),
                        option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR",
                        paragraph(option.description));
  }
  return text;
}

} // namespace

std::string man_page(const std::vector<CommandText>& commands, const std::string& version) {
  const CommandText& program = commands.front();
  std::string text = fmt::format(
      ".\\\" Written by `warplens help --format man`.\n.TH WARPLENS 1 \"\" \"warplens {}\" \"User "
      "Commands\"\n"
      ".SH NAME\nwarplens, warplens\\-nvcc \\- memory profiler for CUDA programs that needs no GPU\n"
      ".SH SYNOPSIS\n.B warplens\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.br\n.B "
      "warplens\\-nvcc\n[\\fINVCC\\-OPTIONS\\fR]\n"
      ".SH DESCRIPTION\n",
      version);
  text += verbatim(program.summary);
  text += ".PP\n.B warplens\\-nvcc\nis the command nvcc of this program, under a name that build systems "
          "accept.\n.SH OPTIONS\n" +
          options(program);
  text += ".SH COMMANDS\n";
  for (const CommandText& command : commands) {
    if (command.name.empty())
      continue;
    text += fmt::format(".SS {}\n{}.PP\n.B {}\n", roff(command.name), paragraph(command.summary),
                        roff(command.usage));
    text += options(command);
    if (!command.footer.empty())
      text += ".PP\n" + verbatim(command.footer);
  }
  return text + ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe work failed; a line on standard error says what "
                "failed, where, and what to do\n"
                ".TP\n2\nthe command line is wrong\n";
}

} // namespace warplens::driver::help
