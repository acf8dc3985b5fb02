// `warplens model`: trace to result.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/processes.h"
#include "driver/stages/manifest.h"
#include "driver/stages/print.h"
#include "driver/stages/simulate.h"

#include <memory>

namespace warplens::driver {
namespace {

struct Options {
  std::string trace;
  std::string kernel; ///< regex; empty: every kernel
  ModelOptions model;
  OutputOptions output;
};

Expected<Result> replay(const Options& options) {
  TRY(check_format(*options.output.format));
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(trace, trace::Reader::open(options.trace));
  auto result = simulate(*trace, *gpus, options.model, options.output, options.kernel);
  if (result)
    result->manifest = make_manifest(options.model.gpus);
  return result;
}

Expected<void> model_and_print(Options options) {
  const Processes processes;
  options.model.ranks = processes.ranks();
  options.output.quiet |= !processes.is_first();
  const auto result = replay(options);
  if (!result)
    return tl::unexpected(processes.failed(result.error()));
  if (!processes.is_first())
    return {};
  TRY(print(*result, options.trace, options.output));
  if (result->trace_truncated)
    return fail("{}: the trace was cut short; the result covers what was collected", options.trace);
  return {};
}

} // namespace

void declare_model(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("model", "replay a trace through the model of one or more GPUs");
  auto options = std::make_shared<Options>();
  command->add_option("trace", options->trace, "a trace, as --trace keeps it")
      ->required()
      ->type_name("TRACE");
  command->add_option("--kernel", options->kernel, "model only kernels whose name matches")
      ->type_name("REGEX")
      ->check(CLI::Validator(check_regex, ""));
  add_output_options(*command, options->output, "json");
  add_quiet_option(*command, options->output.quiet);
  add_model_options(*command, options->model);
  add_registers_option(*command, options->model);
  command->callback([options, &chosen] {
    choose_timeline(options->model, options->output.format->shows_timeline);
    chosen = [options] { return model_and_print(*options); };
  });
}

} // namespace warplens::driver
