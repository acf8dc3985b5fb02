// `warplens profile`, the main flow: instrument → build → run → model → report.

#include "driver/commands/commands.h"
#include "driver/help/groups.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/build_program.h"
#include "driver/stages/module_launch.h"
#include "driver/stages/print.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "support/temporary.h"

#include <algorithm>
#include <memory>

namespace warplens::driver {
namespace {

struct ProfileOptions {
  SourceOptions source;
  std::string launch; ///< how a module's kernel is launched
  bool keep = false;
  ModelOptions model;
  OutputOptions output;
  TraceOptions trace;
};

/// Profiles a kernel of a module, which has no program of its own.
Expected<void> profile_module(const ProfileOptions& options, const std::vector<model::Gpu>& gpus,
                              const std::filesystem::path& folder,
                              const std::vector<std::string>& program_arguments) {
  const SourceOptions& source = options.source;
  const std::string& module = source.files.front();
  if (source.files.size() > 1)
    return fail("{}: a module is profiled alone", module);
  if (options.launch.empty())
    return fail("{}: --launch SPEC.toml says how its kernel is launched (warplens profile --help has one)",
                module);
  const std::pair<const char*, bool> given[] = {{"--nvcc", !source.nvcc.empty()},
                                                {"--backend gpu", source.backend == Backend::gpu},
                                                {"--no-probes", source.no_probes},
                                                {"--run", !program_arguments.empty()}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      return fail("{}: {} is a module, and its machine code is executed here", name, module);
  TRY_LET(command, launch_module(module, options.launch, gpus, folder));
  RunRequest run;
  run.command = std::move(*command);
  run.name = module;
  run.sources = {module, options.launch};
  run.options = options.trace;
  run.gpus = gpus;
  run.snapshot_blocks = options.model.snapshot_blocks;
  run.trace = trace_path(options.trace, folder);
  run.stdout_to_stderr = options.output.file.empty();
  return trace_model_print(run, options.model, options.output);
}

Expected<void> profile(const ProfileOptions& options, const std::vector<std::string>& program_arguments) {
  const bool quiet = options.output.quiet;
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  if (options.keep) {
    directory->keep();
    complain(fmt::format("intermediate files stay in {}", directory->path().string()));
  }
  if (std::ranges::any_of(options.source.files, is_module))
    return profile_module(options, *gpus, directory->path(), program_arguments);
  if (!options.launch.empty())
    return fail("--launch: {} is a source, whose program launches its kernels itself",
                options.source.files.front());
  TRY_LET(program, build_program(options.source, options.trace, *gpus, directory->path(), quiet));

  RunRequest run = run_request(*program, program_arguments, options.trace, options.model, *gpus);
  run.name = options.source.files.front();
  run.sources = options.source.files;
  run.nvcc = options.source.nvcc;
  if (options.source.no_probes) {
    const auto ended = run_program(run, quiet);
    return ended && !ended->empty() ? fail("{}", *ended) : ended.map([](const auto&) {});
  }
  run.trace = trace_path(options.trace, directory->path());
  run.stdout_to_stderr = options.output.file.empty();
  return trace_model_print(run, options.model, options.output);
}

/// Returns whether the word is an option of profile's that chooses the output, alone or with its value.
bool chooses_output(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  constexpr std::string_view names[] = {"--format", "--output", "--open", "--page"};
  return std::ranges::find(names, name) != std::end(names) ||
         (word.starts_with("-o") && !word.starts_with("--"));
}

} // namespace

std::optional<std::vector<std::string>> profile_words(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-'))
    return std::nullopt;
  const std::filesystem::path file = words.front();
  constexpr std::string_view extensions[] = {".cu", ".cpp", ".cc", ".cxx", ".c", ".cubin", ".ptx", ".fatbin"};
  if (std::ranges::find(extensions, file.extension().string()) == std::end(extensions) &&
      words.front().find('/') == std::string::npos)
    return std::nullopt;
  std::vector<std::string> completed = words;
  const auto run = std::ranges::find(completed, "--run");
  if (std::none_of(completed.begin(), run, chooses_output) && check_page())
    completed.insert(run, {"--page", file.stem().string() + ".warplens.html"});
  completed.insert(completed.begin(), "profile");
  return completed;
}

void declare_profile(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "profile", "profile a program of one or a few files: instrument, build, run, model and report");
  auto options = std::make_shared<ProfileOptions>();
  command
      ->add_option("files", options->source.files,
                   "the CUDA source, or all sources of the program; or a module, as JIT compilers leave it: "
                   "a .cubin, .ptx or .fatbin")
      ->required()
      ->type_name("FILE.cu");
  add_source_options(*command, options->source);
  command
      ->add_option("--launch", options->launch,
                   "how the kernel of a module is launched: a file like the example below")
      ->type_name("SPEC.toml")
      ->group(help::runs_group);
  add_output_options(*command, options->output);
  command
      ->add_option("--page", options->output.page,
                   "write the page (--format html) to this file, too, with a time-lapse")
      ->type_name("FILE")
      ->group(help::printed_group);
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
      "The program's output goes to stderr where the report goes to stdout, and stays on stdout with -o.\n\n"
      "  warplens profile add_kernel.ptx --launch add.toml --gpu h100-sxm\n\n"
      "launches a kernel of a module, with PTX assembled for each GPU. add.toml has its launch, and its "
      "arguments "
      "in order:\n\n"
      "  kernel = \"add_kernel\"  # mangled or demangled; not needed where there is one kernel\n"
      "  grid = [1024, 1, 1]     # blocks; one number does where the others are 1\n"
      "  block = 128\n"
      "  shared = 0              # bytes of dynamic shared memory; cluster = [2, 1, 1]\n"
      "  arguments = [\n"
      "    { buffer = \"f32\", count = 1048576, fill = \"random\", low = -1, high = 1, seed = 7 },\n"
      "    { buffer = \"f32\", count = 1048576, fill = \"iota\" },  # or value = 2.5, or file = \"x.bin\"\n"
      "    { buffer = \"f32\", count = 1048576, save = \"sum.bin\" },  # of zeros; written when it has run\n"
      "    { i32 = 1048576 },      # a scalar; { u64 = 0 } is a null pointer, { same_as = 0 } the first "
      "buffer\n"
      "  ]\n\n"
      "docs/modules.md has the other kinds of arguments.");
  command->callback([options, &rest, &chosen] {
    OutputOptions& output = options->output;
    output.page_has_timeline = !output.page.empty() && !options->model.timeline;
    choose_timeline(options->model, output.format->shows_timeline || !output.page.empty());
    chosen = [options, &rest] { return profile(*options, rest); };
  });
}

} // namespace warplens::driver
