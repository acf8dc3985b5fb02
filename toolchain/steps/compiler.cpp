#include "toolchain/steps/compiler.h"

#include "support/files.h"
#include "toolchain/steps/user_text.h"

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string_view>

namespace warplens::toolchain {
namespace {

std::string first_error(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("linker command failed") != std::string::npos)
      continue; // Clang's own line, after the linker's message
    if (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos ||
        line.find(" fatal") != std::string::npos)
      return line;
    if (first.empty())
      first = line;
  }
  return first.empty() ? "it printed nothing" : first;
}

/// Returns a stage's tasks at the time of a signal: LLVM prints them, each as "1.\tlowering spmv.cu", the
/// outermost first. The result names that one and the innermost.
std::string interrupted_tasks(const std::string& output) {
  std::istringstream lines(output.substr(std::min(output.find("Stack dump:"), output.size())));
  std::vector<std::string> tasks;
  for (std::string line; std::getline(lines, line);)
    if (const auto digits = line.find_first_not_of("0123456789"); digits > 0 && line[digits] == '.')
      if (const auto task = line.find_first_not_of("\t ", digits + 1); task != std::string::npos)
        tasks.push_back(line.substr(task));
  if (!tasks.empty() && tasks.front().starts_with("Program arguments:"))
    tasks.erase(tasks.begin());
  if (tasks.empty())
    return "";
  return " while " + tasks.front() + (tasks.size() > 1 ? ", " + tasks.back() : "");
}

std::string describe_signal(const Command& command, const Finished& finished, const std::string& output) {
  auto name = std::filesystem::path(command.arguments.front()).filename().string();
  if (name == "warplens-compile" && command.arguments.size() > 1)
    name += " " + command.arguments[1];
  const auto tasks = interrupted_tasks(output);
  if (finished.signal == SIGXCPU)
    return fmt::format("{} was stopped{}: it took more processor time than it may (WARPLENS_STAGE_SECONDS "
                       "sets how many seconds, 0 for no limit)",
                       name, tasks);
  return fmt::format("{} was ended by signal {} ({}){}{}", name, finished.signal, strsignal(finished.signal),
                     tasks, finished.signal == SIGKILL ? "; is the machine short of memory?" : "");
}

/// Returns the limit after which a stage ends in SIGXCPU. The longest known, for sources with hundreds of
/// kernels, take a few minutes.
std::chrono::seconds longest_stage() {
  constexpr std::chrono::seconds usual{1200};
  const char* const wanted = std::getenv("WARPLENS_STAGE_SECONDS");
  std::uint32_t seconds = 0;
  const auto whole = std::string_view(wanted ? wanted : "");
  const auto [end, problem] = std::from_chars(whole.begin(), whole.end(), seconds);
  return problem == std::errc() && end == whole.end() ? std::chrono::seconds(seconds) : usual;
}

} // namespace

Expected<std::string> run_compiler(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  return run_compiler(std::move(command));
}

Expected<std::string> run_compiler(Command command) {
  command.capture_output = command.stderr_file.empty();
  command.processor_time = longest_stage();
  TRY_LET(finished, run(command));
  if (finished->exit_code == 0)
    return std::move(finished->output);
  const auto output =
      without_probes(command.capture_output ? finished->output : read_file(command.stderr_file).value_or(""));
  return fail("{}",
              finished->signal != 0 ? describe_signal(command, *finished, output) : first_error(output));
}

} // namespace warplens::toolchain
