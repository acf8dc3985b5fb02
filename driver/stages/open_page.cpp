#include "driver/stages/open_page.h"

#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace warplens::driver {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the commands to try, in order.
std::vector<std::string> browsers() {
  std::vector<std::string> commands;
  std::istringstream named(variable("BROWSER"));
  for (std::string command; std::getline(named, command, ':');)
    if (!command.empty())
      commands.push_back(command);
  const bool has_display = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
  if (commands.empty() && has_display)
    commands.emplace_back("xdg-open");
  return commands;
}

/// Returns whether the command opened the page.
bool opens(const std::string& command, const std::string& page) {
  auto words = split_words(command);
  if (!words || words->empty())
    return false;
  if (const auto place = std::ranges::find(*words, "%s"); place != words->end())
    *place = page;
  else
    words->push_back(page);
  const auto finished = run({.arguments = std::move(*words), .capture_output = true});
  return finished && finished->exit_code == 0;
}

} // namespace

Expected<std::filesystem::path> file_for_page() {
  TRY_LET(folder, TemporaryDirectory::create());
  folder->keep();
  return folder->path() / "warplens.html";
}

Expected<void> open_in_browser(const std::filesystem::path& page) {
  std::error_code ignored;
  const std::string file = std::filesystem::absolute(page, ignored).string();
  const std::vector<std::string> commands = browsers();
  if (commands.empty())
    return fail("there is no display to open the page on: it is {}; BROWSER can name a program that opens it",
                file);
  for (const std::string& command : commands)
    if (opens(command, file))
      return {};
  return fail("{} did not open the page: it is {}; BROWSER can name another program", commands.back(), file);
}

} // namespace warplens::driver
