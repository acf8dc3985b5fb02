#include "driver/stages/compiler.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace warplens::driver {
namespace {

std::string first_error(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("linker command failed") != std::string::npos)
      continue; // Clang's, after the linker itself has said what was wrong
    if (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos ||
        line.find(" fatal") != std::string::npos)
      return line;
    if (first.empty())
      first = line;
  }
  return first.empty() ? "it said nothing" : first;
}

} // namespace

Expected<std::string> run_compiler(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  return run_compiler(std::move(command));
}

Expected<std::string> run_compiler(Command command) {
  command.capture_output = command.stderr_file.empty();
  auto finished = run(command);
  if (!finished)
    return tl::unexpected(finished.error());
  if (finished->signal != 0)
    return fail("{} was ended by signal {}", command.arguments.front(), finished->signal);
  if (finished->exit_code != 0) {
    std::ifstream said(command.stderr_file);
    return fail("{}",
                first_error(command.capture_output ? finished->output
                                                   : std::string(std::istreambuf_iterator<char>(said), {})));
  }
  return std::move(finished->output);
}

} // namespace warplens::driver
