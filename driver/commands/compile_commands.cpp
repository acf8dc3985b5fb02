// `warplens compile-commands`: runs a build that uses the drop-in nvcc, and leaves a compile_commands.json
// with which clangd and other tools of Clang's read its CUDA sources.

#include "driver/commands/commands.h"
#include "driver/progress.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/steps/compile_log.h"

#include <memory>

namespace warplens::driver {
namespace {

Expected<void> write_database(const std::string& output, const std::vector<std::string>& build) {
  if (build.empty())
    return fail("no build to run: warplens compile-commands -- make NVCC=warplens-nvcc, for example");
  TRY_LET(folder, TemporaryDirectory::create());
  const auto log = folder->path() / "log";
  TRY_LET(finished,
          run({.arguments = build, .environment = {{toolchain::compile_log_variable, log.string()}}}));
  TRY_LET(count, toolchain::merge_compile_log(log, output));
  if (finished->exit_code != 0)
    return fail("{} exited with code {}; {} holds what was compiled until then", build.front(),
                finished->exit_code, output);
  if (*count == 0)
    return fail("{} compiled no CUDA source with warplens-nvcc: is it the build's nvcc, and was anything to "
                "be built?",
                build.front());
  complain(fmt::format("{}: {} CUDA sources", output, *count));
  return {};
}

} // namespace

void declare_compile_commands(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("compile-commands",
                                          "run a build with warplens-nvcc: -- make …, and write what it "
                                          "compiled to a compile_commands.json for clangd");
  auto output = std::make_shared<std::string>("compile_commands.json");
  command->add_option("-o,--output", *output, "the file; entries for other sources stay in it")
      ->type_name("FILE")
      ->capture_default_str();
  command->callback(
      [output, &rest, &chosen] { chosen = [output, &rest] { return write_database(*output, rest); }; });
}

} // namespace warplens::driver
