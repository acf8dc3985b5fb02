// `warplens help`: the help of a command; and all commands for a shell, a manual or the documentation.

#include "driver/commands/commands.h"
#include "driver/help/formats.h"
#include "driver/stages/print.h"
#include "toolchain/version.h"

#include <memory>

namespace warplens::driver {
namespace {

struct HelpOptions {
  std::vector<std::string> command;
  std::string format = "text";
  OutputOptions output;
};

/// Returns the help of the command that the words name, such as `trace dump`.
Expected<std::string> help_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* chosen = &app;
  std::string parents; // CLI11 adds the command's own name
  for (const std::string& word : words) {
    const auto children =
        chosen->get_subcommands([&](const CLI::App* child) { return child->get_name() == word; });
    if (children.empty())
      return fail("there is no command '{}': see warplens --help", word);
    parents += (parents.empty() ? "" : " ") + chosen->get_name();
    chosen = children.front();
  }
  // CLI::App::help() would describe the command that runs, which is this one.
  return chosen->get_formatter()->make_help(
      chosen, parents.empty() ? chosen->get_name() : parents + " " + chosen->get_name(),
      CLI::AppFormatMode::Normal);
}

Expected<void> print_help(const CLI::App& app, const HelpOptions& options) {
  const std::string& file = options.output.file;
  if (options.format == "text") {
    TRY_LET(text, help_of(app, options.command));
    return print_text(*text, file);
  }
  const std::vector<help::CommandText> commands = help::commands_of(app);
  if (options.format == "man")
    return print_text(help::man_page(commands, toolchain::version), file);
  if (options.format == "markdown")
    return print_text(help::markdown(commands), file);
  if (options.format == "bash")
    return print_text(help::bash_completion(commands), file);
  if (options.format == "zsh")
    return print_text(help::zsh_completion(commands), file);
  return print_text(help::fish_completion(commands), file);
}

} // namespace

void declare_help(const CommandLine& line) {
  CLI::App& app = line.app;
  Action& chosen = line.chosen;
  auto* command =
      app.add_subcommand("help", "the help of a command; or all commands for a shell, as a manual page");
  auto options = std::make_shared<HelpOptions>();
  command->add_option("command", options->command, "the command (default: all)")->type_name("COMMAND");
  command
      ->add_option("--format", options->format,
                   "text; bash, zsh, fish: a script that completes command lines; man: a manual page;\n"
                   "markdown: docs/commands.md")
      ->check(CLI::IsMember({"text", "bash", "zsh", "fish", "man", "markdown"}))
      ->option_text("FORMAT=text");
  command->add_option("-o,--output", options->output.file, "write to a file instead of stdout")
      ->type_name("FILE");
  command->footer("  warplens help --format bash > ~/.local/share/bash-completion/completions/warplens");
  command->callback([&app, options, &chosen] {
    if (!options->command.empty() && options->format != "text")
      throw CLI::ValidationError("COMMAND", "--format describes all commands");
    chosen = [&app, options] { return print_help(app, *options); };
  });
}

} // namespace warplens::driver
