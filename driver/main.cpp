// warplens: shows per source line what the memory hierarchy does to each access of a CUDA program.

#include "driver/commands/commands.h"
#include "driver/help/groups.h"
#include "driver/progress.h"
#include "toolchain/toolkit.h"
#include "toolchain/version.h"

#include <algorithm>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <optional>
#include <unistd.h>

namespace {

using namespace warplens;

std::string version_text() {
  const auto toolkit = toolchain::find_toolkit();
  return fmt::format("warplens {}\nLLVM {}\nCUDA {}", toolchain::version, toolchain::llvm_version,
                     toolkit ? fmt::format("{} ({})", toolchain::version_of(*toolkit), toolkit->root.string())
                             : "not found");
}

/// Takes the rest of the line in `profile … --run ARGS…` (`ab`, `baseline`, `gate` and `lsp` likewise), `run
/// … -- PROGRAM ARGS…` and `compile-commands … -- BUILD…`: it is the program's and not ours to parse.
std::vector<std::string> take_rest(std::vector<std::string>& arguments) {
  if (arguments.empty())
    return {};
  constexpr std::string_view take_sources[] = {"profile", "ab", "baseline", "gate", "lsp"};
  const bool takes_sources = std::ranges::find(take_sources, arguments.front()) != std::end(take_sources);
  const std::string separator = takes_sources ? "--run" : "--";
  const auto found = std::ranges::find(arguments, separator);
  if (found == arguments.end())
    return {};
  std::vector<std::string> rest(found + 1, arguments.end());
  arguments.erase(found, arguments.end());
  return rest;
}

/// Opens closed standard streams. A file opened while stdin, stdout or stderr is closed would take its number
/// and receive the output. The placeholders are open the wrong way round, so that using them fails as before.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// Returns `profile`, or `trace dump`: the part of the command line that was understood before the error, for
/// --help.
std::string help_for(const CLI::App& app) {
  std::string command = app.get_name();
  for (const CLI::App* chosen : app.get_subcommands())
    command += " " + help_for(*chosen);
  return command;
}

/// Returns a message about the word in a command's place, if there is such a word: CLI11 only says that a
/// command is missing.
std::optional<std::string> unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::size_t depth = 0;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    ++depth;
  }
  if (command->get_require_subcommand_min() == 0 || depth >= words.size())
    return std::nullopt;
  std::string known;
  for (const CLI::App* verb : command->get_subcommands([](const CLI::App*) { return true; }))
    known += (known.empty() ? "" : ", ") + verb->get_name();
  return fmt::format("there is no subcommand or option '{}'; there are {}", words[depth], known);
}

/// Returns whether the program was started in nvcc's place: as warplens-nvcc, or by a link that has nvcc's
/// own name, which build systems find in PATH.
bool stands_for_nvcc(const std::string& program) {
  const auto name = std::filesystem::path(program).filename();
  return name == "warplens-nvcc" || name == "nvcc";
}

/// Returns the words after `warplens nvcc`, or all of `warplens-nvcc`'s: not ours to parse.
std::optional<std::vector<std::string>> nvcc_words(const std::string& program,
                                                   const std::vector<std::string>& arguments) {
  if (stands_for_nvcc(program))
    return arguments;
  if (!arguments.empty() && arguments.front() == "nvcc")
    return std::vector<std::string>(arguments.begin() + 1, arguments.end());
  return std::nullopt;
}

/// Returns whether the command is `warplens nvcc --help` alone; the help of warplens-nvcc, and of an nvcc
/// that is named first, is nvcc's.
bool asks_for_nvcc_help(const std::string& program, const std::vector<std::string>& arguments) {
  return !stands_for_nvcc(program) && arguments.size() == 2 && arguments[0] == "nvcc" &&
         (arguments[1] == "--help" || arguments[1] == "-h");
}

/// Prints an error, if there is one.
int exit_code_of(const Expected<void>& done) {
  if (!done)
    driver::complain(done.error().message);
  return done ? 0 : 1;
}

int run_command_line(std::vector<std::string> arguments) {
  if (auto words = driver::profile_words(arguments))
    arguments = std::move(*words);
  CLI::App app(
      "Warplens shows, line by line, what the memory hierarchy does to each access of a CUDA program:\n"
      "how often it hits in L1 and L2, what latency to expect, and how sure that is. No GPU needed.\n\n"
      "  warplens FILE.cu --gpu a100 --run ARGS...     is where to start: profiles, and writes the page",
      "warplens");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.formatter(driver::help::help_layout());
  app.fallthrough(false);

  driver::Action chosen;
  const auto rest = take_rest(arguments);
  int exit_code = 0;
  driver::declare_commands({app, rest, chosen, exit_code});
  driver::help::add_help_all(app);

  const std::vector<std::string> words = arguments;
  std::ranges::reverse(arguments); // the order that CLI11 expects of a vector
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error);
    driver::complain(
        fmt::format("{} (see {} --help)", unknown_word(app, words).value_or(error.what()), help_for(app)));
    return 2;
  }
  const int failed = exit_code_of(chosen());
  return failed != 0 ? failed : exit_code;
}

} // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (asks_for_nvcc_help(argv[0], arguments))
      return exit_code_of(driver::print_nvcc_help());
    if (const auto words = nvcc_words(argv[0], arguments))
      return driver::nvcc_command(*words);
    if (!arguments.empty() && arguments.front() == "assemble")
      return exit_code_of(driver::assemble_command({arguments.begin() + 1, arguments.end()}));
    return run_command_line(arguments);
  } catch (const std::bad_alloc&) {
    driver::complain(
        "out of memory: fewer --threads, a smaller --snapshot-blocks or fewer --gpu names need less");
  } catch (const std::exception& error) {
    driver::complain(error.what());
  }
  return 1;
}
