// `warplens patch`: the instrumentation as a unified diff.

#include "driver/arguments/clang_arguments.h"
#include "driver/commands/commands.h"
#include "driver/stages/instrument.h"
#include "driver/stages/objection.h"
#include "driver/stages/print.h"
#include "support/process.h"
#include "support/temporary.h"

#include <memory>

namespace warplens::driver {
namespace {

struct PatchOptions {
  std::string file, nvcc, output;
};

Expected<void> print_instrumentation(const PatchOptions& options) {
  const auto words = split_words(options.nvcc);
  if (!words)
    return tl::unexpected(words.error());
  const auto nvcc = parse_nvcc_arguments(*words);
  if (!nvcc)
    return tl::unexpected(nvcc.error());
  const auto toolkit = find_toolkit();
  if (!toolkit)
    return tl::unexpected(toolkit.error());
  const auto diff = instrument_as_patch(options.file, clang_arguments(*nvcc, *toolkit));
  if (!diff) {
    const auto directory = TemporaryDirectory::create();
    return tl::unexpected(
        directory ? with_nvccs_opinion(diff.error(), options.file, *nvcc, *toolkit, directory->path())
                  : diff.error());
  }
  return print_text(*diff, options.output);
}

} // namespace

void declare_patch(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand(
      "patch", "print the instrumentation of a .cu file as a unified diff (patch -p0 takes it)");
  auto options = std::make_shared<PatchOptions>();
  command->add_option("file", options->file, "the CUDA source")->required()->type_name("FILE.cu");
  command->add_option("--nvcc", options->nvcc, "what nvcc is given to compile it, as one word")
      ->type_name("ARGS");
  command->add_option("-o,--output", options->output, "write to a file instead of stdout")->type_name("FILE");
  command->callback([options, &chosen] { chosen = [options] { return print_instrumentation(*options); }; });
}

} // namespace warplens::driver
