#include "driver/stages/profile_in_child.h"

#include "driver/stages/read_result.h"
#include "support/temporary.h"

#include <csignal>
#include <filesystem>

namespace warplens::driver {
namespace {

constexpr std::size_t max_output = 4000; // bytes of compilers and programs that a client is shown

/// Returns the end of a long text, where compilers and programs say what went wrong.
std::string end_of(const std::string& text) {
  if (text.size() <= max_output)
    return text;
  const std::size_t line = text.find('\n', text.size() - max_output);
  return "…\n" + text.substr(line == std::string::npos ? text.size() - max_output : line + 1);
}

} // namespace

Expected<Result> profile_in_child(const ProfileRequest& request, Cancellation& cancellation) {
  for (const std::string& source : request.sources)
    if (std::error_code ignored; !std::filesystem::exists(source, ignored))
      return fail("{}: there is no such file; paths are relative to {}", source,
                  std::filesystem::current_path(ignored).string());
  TRY_LET(folder, TemporaryDirectory::create());
  const std::filesystem::path file = folder->path() / "result.json";
  Command command;
  command.arguments = {(executable_directory() / "warplens").string(), "profile"};
  command.arguments.insert(command.arguments.end(), request.sources.begin(), request.sources.end());
  for (std::string word : {std::string("--backend=cpu"), std::string("--quiet"), std::string("--format=json"),
                           "--output=" + file.string(), "--gpu=" + request.gpu})
    command.arguments.push_back(std::move(word));
  const std::pair<const char*, const std::string&> given[] = {
      {"--nvcc=", request.nvcc}, {"--kernel=", request.kernel}, {"--budget=", request.budget}};
  for (const auto& [name, value] : given)
    if (!value.empty())
      command.arguments.push_back(name + value);
  command.arguments.push_back("--run");
  command.arguments.insert(command.arguments.end(), request.program_arguments.begin(),
                           request.program_arguments.end());
  command.has_no_input = true; // ours has the client's messages
  command.capture_output = true;
  command.cancellation = &cancellation;
  const auto finished = run(command);
  if (const int signal = last_signal_passed_on(); signal != 0)
    std::raise(signal); // it was meant for us, too
  if (!finished)
    return tl::unexpected(finished.error());
  if (finished->exit_code != 0)
    return fail("warplens profile failed with exit code {}:\n{}", finished->exit_code,
                end_of(finished->output));
  return read_result(file.string());
}

} // namespace warplens::driver
