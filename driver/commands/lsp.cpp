// `warplens lsp`: figures at the lines of a source in an editor, by the Language Server Protocol over stdio.

#include "driver/commands/commands.h"
#include "driver/help/groups.h"
#include "driver/lsp/server.h"
#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "support/process.h"
#include "toolchain/cache/cache_folder.h"
#include "toolchain/version.h"

#include <iostream>
#include <memory>

namespace warplens::driver {
namespace {

Expected<void> serve_editor(lsp::Settings settings, const std::vector<std::string>& arguments,
                            int& exit_code) {
  if (!settings.result.empty() && (!settings.profile.sources.empty() || !arguments.empty()))
    return fail("--result has the figures of a program that was profiled already: sources and --run do not "
                "go with it");
  TRY_LET(words, split_words(settings.profile.nvcc)); // later, an error would be one of each save
  settings.version = toolchain::version;
  settings.profiles &= settings.result.empty();
  settings.cache = toolchain::cache_folder().string();
  settings.profile.program_arguments = arguments;
  for (std::string& source : settings.profile.sources)
    source = std::filesystem::weakly_canonical(source).string();
  exit_code = lsp::serve(std::cin, std::cout, settings);
  return {};
}

} // namespace

void declare_lsp(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  int& exit_code = line.exit_code;
  auto* command =
      line.app.add_subcommand("lsp", "serve editors: figures and findings at the lines of a source (LSP)");
  auto settings = std::make_shared<lsp::Settings>();
  settings->profile.budget = "2s";
  command
      ->add_option(
          "files", settings->profile.sources,
          "the program's sources, where it has several; else a program is the .cu file that is saved")
      ->type_name("FILE.cu");
  command
      ->add_option("--result", settings->result,
                   "show this result, as --format json writes it, in place of profiles of our own")
      ->type_name("FILE");
  command
      ->add_option("--advice", settings->advice,
                   "offer the patches in this file of `warplens advise --format json`")
      ->type_name("FILE");
  command
      ->add_flag_callback(
          "--no-run", [settings] { settings->profiles = false; },
          "do not compile and run what is saved: show what is known from before")
      ->group(help::runs_group);
  command->add_option("--nvcc", settings->profile.nvcc, "what nvcc is given to compile it, as one word")
      ->type_name("ARGS")
      ->group(help::runs_group);
  command->add_option("--kernel", settings->profile.kernel, "only kernels whose name matches this regex")
      ->check(CLI::Validator(check_regex, ""))
      ->type_name("REGEX")
      ->group(help::runs_group);
  command
      ->add_option("--gpu", settings->profile.gpu,
                   "GPUs to model, by name (see `warplens gpus`) or as a file")
      ->type_name("NAME[,NAME...]")
      ->capture_default_str()
      ->group(help::modelled_group);
  command
      ->add_option("--budget", settings->profile.budget,
                   "end modelling after this time with what is known: 10, 10s, 2m")
      ->type_name("TIME")
      ->capture_default_str()
      ->group(help::modelled_group);
  set_usage(*command, "warplens lsp [FILE.cu...] [OPTIONS] [--run ARGS...]");
  command->footer("  --run ARGS...                   the rest of the line: the program's own arguments\n\n"
                  "An editor starts it as the command `warplens lsp`. When a file is saved, its program is "
                  "compiled and\nrun, with the rights of this process.");
  command->callback([settings, &rest, &chosen, &exit_code] {
    chosen = [settings, &rest, &exit_code] { return serve_editor(*settings, rest, exit_code); };
  });
}

} // namespace warplens::driver
