// `warplens profile`, the main flow: instrument → build → run → model → report.

#include "driver/arguments/checks.h"
#include "driver/arguments/clang_arguments.h"
#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/build.h"
#include "driver/stages/instrument.h"
#include "driver/stages/objection.h"
#include "driver/stages/print.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <memory>

namespace warplens::driver {
namespace {

struct ProfileOptions {
  std::vector<std::string> files;
  Backend backend = Backend::automatic;
  std::string nvcc;
  bool no_probes = false;
  bool keep = false;
  ModelOptions model;
  OutputOptions output;
  TraceOptions trace;
};

Backend chosen_backend(const ProfileOptions& options) {
  if (options.backend != Backend::automatic)
    return options.backend;
  const bool needs_cpu = options.trace.checks.any() || options.trace.deterministic;
  return gpu_present() && !needs_cpu ? Backend::gpu : Backend::cpu;
}

Expected<BuildRequest> prepare(const ProfileOptions& options, const model::Gpu& gpu,
                               const std::filesystem::path& directory) {
  TRY_LET(words, split_words(options.nvcc));
  auto all = *words;
  all.insert(all.end(), options.files.begin(), options.files.end());
  TRY_LET(nvcc, parse_nvcc_arguments(all));
  TRY_LET(toolkit, find_toolkit());
  BuildRequest request;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const auto& file = options.files[i];
    const bool is_cuda =
        options.files.size() == 1 || std::ranges::find(nvcc->cuda_inputs, file) != nvcc->cuda_inputs.end();
    request.sources.push_back({file, file, is_cuda, directory / std::to_string(i)});
    std::error_code problem; // writing there will report a missing folder
    std::filesystem::create_directories(request.sources.back().directory, problem);
  }
  request.clang_arguments = clang_arguments(*nvcc, *toolkit, gpu.capability());
  request.nvcc = std::move(*nvcc);
  request.toolkit = std::move(*toolkit);
  request.directory = directory;
  request.checks = options.trace.checks;
  return request;
}

/// Starts to determine the machine code. It takes nvcc as long as all our stages until the program starts, so
/// it begins first.
void start_machine_code(BuildRequest& request, const std::vector<int>& capabilities) {
  for (auto& source : request.sources)
    if (source.is_cuda && !capabilities.empty())
      source.machine_code = driver::start_machine_code(
          {request.nvcc, request.toolkit, source.original, source.directory, capabilities});
}

/// Returns the asynchronous copies without a probe, with their places: what they move is missing in all
/// figures of memory.
std::string unseen_copies(const std::vector<UnseenAccess>& unseen) {
  std::string text;
  for (const UnseenAccess& access : unseen)
    if (access.reason.starts_with("asynchronous copy"))
      text += fmt::format("; {}:{}: {} without a probe", access.file, access.line, access.reason);
  return text;
}

Expected<void> instrument_sources(BuildRequest& request, bool quiet) {
  for (auto& source : request.sources) {
    if (!source.is_cuda)
      continue;
    Stage stage("instrument", quiet);
    const auto instrumented = instrument(source.original, request.clang_arguments, source.directory);
    if (!instrumented)
      return tl::unexpected(with_nvccs_opinion(instrumented.error(), source.original, request.nvcc,
                                               request.toolkit, source.directory));
    source.source = instrumented->file;
    source.site_table = instrumented->site_table;
    stage.done(fmt::format("{}: {} accesses probed, {} removed by the compiler, {} not seen{}",
                           source.original.string(), instrumented->accesses, instrumented->removed,
                           instrumented->unseen.size(), unseen_copies(instrumented->unseen)));
  }
  return {};
}

Expected<std::filesystem::path> build(const BuildRequest& request, Backend backend, bool quiet) {
  Stage stage("build", quiet);
  auto program = backend == Backend::gpu ? build_for_gpu(request) : build_for_cpu(request);
  if (program)
    stage.done(backend == Backend::gpu ? "for the GPU, with nvcc" : "for the CPU back end, with Clang");
  return program;
}

Expected<void> profile(const ProfileOptions& options, const std::vector<std::string>& program_arguments) {
  const bool quiet = options.output.quiet;
  TRY_LET(gpus, load_gpus(options.model));
  if (options.backend == Backend::gpu)
    for (const cpu::CheckName& check : cpu::check_names)
      if (options.trace.checks.has(check.check))
        return fail("--{} works on the CPU back end{}", check.name, on_a_gpu(check.check));
  TRY_LET(directory, TemporaryDirectory::create());
  if (options.keep) {
    directory->keep();
    complain(fmt::format("intermediate files stay in {}", directory->path().string()));
  }
  TRY_LET(request, prepare(options, gpus->front(), directory->path()));

  const auto backend = chosen_backend(options);
  if (backend == Backend::cpu)
    start_machine_code(*request, capabilities_of(*gpus));
  if (!options.no_probes)
    TRY(instrument_sources(*request, quiet));
  TRY_LET(program, build(*request, backend, quiet));

  RunRequest run;
  run.command = {program->string()};
  run.command.insert(run.command.end(), program_arguments.begin(), program_arguments.end());
  run.name = options.files.front();
  run.options = options.trace;
  run.gpus = *gpus;
  run.snapshot_blocks = options.model.snapshot_blocks;
  if (options.no_probes) {
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
  command->add_option("files", options->files, "the CUDA source, or all sources of the program")
      ->required()
      ->type_name("FILE.cu");
  command
      ->add_option_function<std::string>(
          "--backend",
          [options](const std::string& name) {
            options->backend = name == "gpu"   ? Backend::gpu
                               : name == "cpu" ? Backend::cpu
                                               : Backend::automatic;
          },
          "where the program runs: auto takes the GPU where there is one")
      ->check(CLI::IsMember({"auto", "gpu", "cpu"}))
      ->default_str("auto");
  command
      ->add_option("--nvcc", options->nvcc,
                   "what nvcc is given to compile it, as one word: --nvcc \"-O3 -Iinclude\"")
      ->type_name("ARGS");
  add_model_options(*command, options->model);
  add_trace_options(*command, options->trace);
  add_output_options(*command, options->output, Format::text);
  command->add_flag("--no-probes", options->no_probes,
                    "build and run it as it is, without a report (to compare)");
  command->add_flag("--keep", options->keep, "leave the intermediate files in place and say where");
  set_usage(*command, "warplens profile FILE.cu [FILE...] [OPTIONS] [--run ARGS...]");
  command->footer(
      "  --run ARGS...                   the rest of the line: the program's own arguments\n\n"
      "  warplens profile spmv.cu --gpu a100,h100-sxm --nvcc \"-O3 -Iinclude\" --run u 4096\n\n"
      "The program's output goes to stderr where the report goes to stdout, and stays on stdout with -o.");
  command->callback([options, &rest, &chosen] {
    options->model.timeline |= shows_timeline(options->output.format);
    chosen = [options, &rest] { return profile(*options, rest); };
  });
}

} // namespace warplens::driver
