// `warplens patch`: prints the instrumentation as a unified diff.

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/steps/instrument.h"
#include "toolchain/steps/objection.h"

#include <memory>

namespace warplens::driver {
namespace {

struct InstrumentationPatchOptions {
  std::string file, nvcc, output;
};

Expected<void> print_instrumentation_patch(const InstrumentationPatchOptions& options) {
  TRY_LET(words, split_words(options.nvcc));
  TRY_LET(nvcc, toolchain::parse_nvcc_arguments(*words));
  TRY_LET(toolkit, toolchain::find_toolkit());
  const auto diff =
      toolchain::instrumentation_patch(options.file, toolchain::clang_arguments(*nvcc, *toolkit));
  if (!diff) {
    const auto directory = TemporaryDirectory::create();
    return tl::unexpected(directory ? toolchain::with_nvccs_opinion(diff.error(), options.file, *nvcc,
                                                                    *toolkit, directory->path())
                                    : diff.error());
  }
  return print_text(*diff, options.output);
}

} // namespace

void declare_patch(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "patch", "print the instrumentation of a .cu file as a unified diff (patch -p0 takes it)");
  auto options = std::make_shared<InstrumentationPatchOptions>();
  command->add_option("file", options->file, "the CUDA source")->required()->type_name("FILE.cu");
  command->add_option("--nvcc", options->nvcc, "what nvcc is given to compile it, as one word")
      ->type_name("ARGS");
  command->add_option("-o,--output", options->output, "write to a file instead of stdout")->type_name("FILE");
  command->callback(
      [options, &chosen] { chosen = [options] { return print_instrumentation_patch(*options); }; });
}

} // namespace warplens::driver
