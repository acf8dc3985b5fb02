// `warplens run`: runs a program that was built with probes; models and reports when it ends.

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/stages/capabilities.h"
#include "driver/stages/print.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "support/temporary.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace warplens::driver {
namespace {

struct RunOptions {
  ModelOptions model;
  OutputOptions output;
  TraceOptions trace;
};

Expected<void> run_and_report(const RunOptions& options, const std::vector<std::string>& program) {
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  RunRequest run;
  run.command = program;
  run.name = program.front();
  run.options = options.trace;
  run.gpus = *gpus;
  run.assembled_for = capabilities_of(*gpus);
  if (!options.trace.keep_trace.empty()) // it may be modelled for other GPUs later
    std::ranges::copy(known_capabilities(), std::back_inserter(run.assembled_for));
  run.snapshot_blocks = options.model.snapshot_blocks;
  run.trace = trace_path(options.trace, directory->path());
  run.stdout_to_stderr = options.output.file.empty();
  return trace_model_print(run, options.model, options.output);
}

} // namespace

void declare_run(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "run", "run a program that was built with probes; model and report when it ends");
  auto options = std::make_shared<RunOptions>();
  add_output_options(*command, options->output);
  add_quiet_option(*command, options->output.quiet);
  add_model_options(*command, options->model);
  add_registers_option(*command, options->model);
  add_trace_options(*command, options->trace);
  add_loops_option(*command, options->trace);
  set_usage(*command, "warplens run [OPTIONS] -- PROGRAM [ARGS...]");
  command->footer(
      "  -- PROGRAM ARGS...              what to run: a program that `warplens profile --keep` left, for "
      "example\n\n"
      "The program's output goes to stderr where the report goes to stdout, and stays on stdout with -o.");
  command->callback([options, &rest, &chosen] {
    if (rest.empty())
      throw CLI::RequiredError("-- PROGRAM");
    choose_timeline(options->model, options->output.format->shows_timeline);
    chosen = [options, &rest] { return run_and_report(*options, rest); };
  });
}

} // namespace warplens::driver
