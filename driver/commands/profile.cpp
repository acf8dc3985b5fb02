// `warplens profile`, the main flow: instrument → build → run → model → report.

#include "driver/commands/commands.h"
#include "driver/help/groups.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/build_program.h"
#include "driver/stages/print.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "support/temporary.h"

#include <memory>

namespace warplens::driver {
namespace {

struct ProfileOptions {
  SourceOptions source;
  bool keep = false;
  ModelOptions model;
  OutputOptions output;
  TraceOptions trace;
};

Expected<void> profile(const ProfileOptions& options, const std::vector<std::string>& program_arguments) {
  const bool quiet = options.output.quiet;
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  if (options.keep) {
    directory->keep();
    complain(fmt::format("intermediate files stay in {}", directory->path().string()));
  }
  TRY_LET(program, build_program(options.source, options.trace, *gpus, directory->path(), quiet));

  RunRequest run;
  run.command = {program->string()};
  run.command.insert(run.command.end(), program_arguments.begin(), program_arguments.end());
  run.name = options.source.files.front();
  run.sources = options.source.files;
  run.nvcc = options.source.nvcc;
  run.options = options.trace;
  run.gpus = *gpus;
  run.snapshot_blocks = options.model.snapshot_blocks;
  if (options.source.no_probes) {
    const auto ended = run_program(run, quiet);
    return ended && !ended->empty() ? fail("{}", *ended) : ended.map([](const auto&) {});
  }
  run.trace = trace_path(options.trace, directory->path());
  run.stdout_to_stderr = options.output.file.empty();
  return trace_model_print(run, options.model, options.output);
}

} // namespace

void declare_profile(CLI::App& app, const std::vector<std::string>& rest, Action& chosen) {
  auto* command = app.add_subcommand(
      "profile", "profile a program of one or a few files: instrument, build, run, model and report");
  auto options = std::make_shared<ProfileOptions>();
  command->add_option("files", options->source.files, "the CUDA source, or all sources of the program")
      ->required()
      ->type_name("FILE.cu");
  add_source_options(*command, options->source);
  add_output_options(*command, options->output);
  add_quiet_option(*command, options->output.quiet);
  add_model_options(*command, options->model);
  add_registers_option(*command, options->model);
  add_trace_options(*command, options->trace);
  add_loops_option(*command, options->trace);
  command
      ->add_flag("--no-probes", options->source.no_probes,
                 "build and run it as it is, without a report (to compare)")
      ->group(help::runs_group);
  command->add_flag("--keep", options->keep, "leave the intermediate files in place and say where")
      ->group(help::rare_group);
  set_usage(*command, "warplens profile FILE.cu [FILE...] [OPTIONS] [--run ARGS...]");
  command->footer(
      "  --run ARGS...                   the rest of the line: the program's own arguments\n\n"
      "  warplens profile spmv.cu --gpu a100,h100-sxm --nvcc \"-O3 -Iinclude\" --run u 4096\n\n"
      "The program's output goes to stderr where the report goes to stdout, and stays on stdout with -o.");
  command->callback([options, &rest, &chosen] {
    choose_timeline(options->model, options->output.format->shows_timeline);
    chosen = [options, &rest] { return profile(*options, rest); };
  });
}

} // namespace warplens::driver
