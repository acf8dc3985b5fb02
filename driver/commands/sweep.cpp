// `warplens sweep`: profiles a program in many configurations; `explain` says what their figures depend on.

#include "driver/commands/commands.h"
#include "driver/help/groups.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/build_program.h"
#include "driver/stages/configurations.h"
#include "driver/stages/run_program.h"
#include "driver/stages/simulate.h"
#include "driver/stages/sweep_folder.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/version.h"

#include <algorithm>
#include <map>
#include <memory>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  SourceOptions program;
  ModelOptions model;
  TraceOptions trace;
  std::string run, folder;
  std::vector<std::string> vary;
  bool quiet = false;
};

/// The programs of a sweep: one per text for nvcc, built when it is first needed.
class Programs {
public:
  Programs(const SweepOptions& options, const std::vector<model::Gpu>& gpus, fs::path directory)
      : options_(options), gpus_(gpus), directory_(std::move(directory)) {}

  Expected<fs::path> program(const significance::Parameters& parameters) {
    SourceOptions wanted = options_.program;
    TRY_LET(nvcc, fill_in(options_.program.nvcc, parameters));
    wanted.nvcc = *nvcc;
    if (const auto known = built_.find(*nvcc); known != built_.end())
      return known->second;
    const fs::path folder = directory_ / fmt::format("program{}", built_.size());
    std::error_code problem; // writing there will report a missing folder
    fs::create_directories(folder, problem);
    TRY_LET(program, build_program(wanted, options_.trace, gpus_, folder, options_.quiet));
    built_.emplace(*nvcc, *program);
    return program;
  }

private:
  const SweepOptions& options_;
  const std::vector<model::Gpu>& gpus_;
  fs::path directory_;
  std::map<std::string, fs::path> built_;
};

/// Returns a hash of all that the profiles depend on, but for the configurations.
Expected<std::string> identity_of(const SweepOptions& options) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", toolchain::version, options.run,
                                options.program.nvcc, static_cast<int>(options.program.backend),
                                options.model.seed, options.model.trials.value_or(0), options.trace.kernel);
  all +=
      fmt::format("{} {} {} {} {} {} {}\n", options.trace.launches.value_or(0), int(options.model.l2_begin),
                  options.model.without_clock, options.model.snapshot_blocks.value_or(0),
                  options.trace.deterministic, options.trace.stop_when_traced, options.trace.whole_loops);
  const ModelOptions& model = options.model;
  const model::Confidence confidence = confidence_of(model);
  all += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", model.policy ? int(*model.policy) : -1,
                     model.placement, model.start, model.sm_clock_mhz.value_or(0), confidence.rate,
                     confidence.latency, model.budget_seconds.value_or(0), model.timeline,
                     model.timeline_bins.value_or(0), model.sharing);
  for (const cpu::CheckName& check : cpu::check_names)
    all += options.trace.checks.has(check.check) ? check.name : "-";
  for (const std::string& gpu : options.model.gpus)
    all += gpu + "\n";
  for (const std::string& file : options.program.files) {
    TRY_LET(text, read_file(file));
    all += file + "\n" + *text + "\n";
  }
  return fmt::format("{:016x}", stable_hash(all));
}

std::string description_of(const SweepOptions& options) {
  std::vector<std::string> words = options.program.files;
  for (const std::string& gpu : options.model.gpus)
    words.insert(words.end(), {"--gpu", gpu});
  words.insert(words.end(), {"--run", options.run});
  return quote(words);
}

/// Opens the folder: a new one, or that of the same sweep, which goes on.
Expected<Sweep> open_folder(const SweepOptions& options) {
  const fs::path folder = options.folder;
  TRY_LET(identity, identity_of(options));
  std::error_code error;
  if (fs::exists(folder / "runs.json", error)) {
    TRY_LET(sweep, read_sweep(folder));
    if (sweep->identity != *identity)
      return fail(
          "{}: holds another sweep ({}), or one of sources that have changed since: name another folder, "
          "or remove it",
          folder.string(), sweep->what);
    return sweep;
  }
  fs::create_directories(folder, error);
  if (error)
    return fail("{}: cannot be made: {}", folder.string(), error.message());
  return Sweep{description_of(options), *identity, {}};
}

/// Checks that each varied parameter is used, and each `{name}` varied.
Expected<void> check_names(const SweepOptions& options, const std::vector<VariedParameter>& varied,
                           const significance::Parameters& first) {
  for (const VariedParameter& parameter : varied)
    if (!mentions(options.run, parameter.name) && !mentions(options.program.nvcc, parameter.name))
      return fail("--vary {}: neither --run nor --nvcc has {{{}}}", parameter.name, parameter.name);
  TRY(fill_in(options.run, first));
  TRY(fill_in(options.program.nvcc, first));
  return {};
}

/// Profiles one configuration; its result replaces the file only when it is whole.
Expected<void> profile(const SweepOptions& options, const std::vector<model::Gpu>& gpus,
                       const fs::path& program, const significance::Parameters& parameters,
                       const fs::path& file) {
  TRY_LET(words, fill_in(options.run, parameters));
  TRY_LET(arguments, split_words(*words));
  TRY_LET(directory, TemporaryDirectory::create());
  RunRequest run = run_request(program, *arguments, options.trace, options.model, gpus);
  run.name = options.program.files.front();
  run.options.launches = options.trace.launches.value_or(1);
  run.trace = trace_path(options.trace, directory->path());
  run.stdout_to_stderr = true;
  OutputOptions output;
  output.format = &report_format("json");
  output.file = (directory->path() / "result.json").string();
  output.quiet = true;
  TRY(trace_model_print(run, options.model, output));
  TRY_LET(text, read_file(output.file));
  const fs::path temporary = file.string() + ".new";
  TRY(write_file(temporary, *text));
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error)
    return fail("{}: cannot be written: {}", file.string(), error.message());
  return {};
}

Expected<void> sweep(const SweepOptions& options) {
  std::vector<VariedParameter> varied;
  for (const std::string& text : options.vary) {
    TRY_LET(one, parse_varied(text));
    varied.push_back(std::move(*one));
  }
  TRY_LET(configurations, configurations_of(varied));
  TRY(check_names(options, varied, configurations->front()));
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(directory, TemporaryDirectory::create());
  TRY_LET(done, open_folder(options));
  Programs programs(options, *gpus, directory->path());

  std::size_t number = 0, failed = 0, profiled = 0;
  std::string first_failure;
  const auto start = std::chrono::steady_clock::now();
  for (const significance::Parameters& parameters : *configurations) {
    const std::string label =
        fmt::format("{} of {}: {}", ++number, configurations->size(), significance::text_of(parameters));
    const auto is_this = [&](const SweptRun& run) {
      return significance::same_configuration(run.parameters, parameters);
    };
    if (std::ranges::any_of(done->runs, is_this))
      continue;
    TRY_LET(program, programs.program(parameters));
    Stage stage("sweep", options.quiet);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double left = profiled == 0 ? 0
                                      : elapsed.count() / static_cast<double>(profiled) *
                                            static_cast<double>(configurations->size() - number + 1);
    stage.update(label + (profiled == 0 ? "" : fmt::format("; about {:.0f} s left", left)));
    const std::string file = file_of(parameters, number);
    if (const auto one = profile(options, *gpus, *program, parameters, fs::path(options.folder) / file);
        !one) {
      if (failed++ == 0)
        first_failure = fmt::format("{}: {}", significance::text_of(parameters), one.error().message);
      stage.done(label + ": failed: " + one.error().message);
      continue;
    }
    ++profiled;
    done->runs.push_back({parameters, file});
    TRY(write_sweep(*done, options.folder));
    stage.done(label);
  }
  if (!options.quiet)
    complain(fmt::format("{}: {} configurations, {} of them profiled now", options.folder, done->runs.size(),
                         profiled));
  if (failed > 0)
    return fail("{} of {} configurations failed; the first, {}", failed, configurations->size(),
                first_failure);
  return {};
}

} // namespace

void declare_sweep(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("sweep", "profile a program in many configurations, for `explain`");
  auto options = std::make_shared<SweepOptions>();
  command->add_option("files", options->program.files, "the CUDA source, or all sources of the program")
      ->required()
      ->type_name("FILE.cu");
  add_source_options(*command, options->program);
  command
      ->add_option(
          "--run", options->run,
          "the program's arguments, as one word, with {NAME} for a varied parameter (--nvcc may have "
          "some, too)")
      ->type_name("ARGS");
  command
      ->add_option("--vary", options->vary,
                   "a parameter's values: n=60:200:5 (from, to, step) or t=8,16; several: all combinations")
      ->required()
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("-o,--output", options->folder,
                   "the folder of the profiles; a sweep that was stopped goes on there")
      ->required()
      ->type_name("FOLDER");
  add_model_options(*command, options->model);
  add_trace_options(*command, options->trace);
  add_loops_option(*command, options->trace);
  command->remove_option(command->get_option("--trace")); // each configuration would overwrite the file
  command->add_flag("-q,--quiet", options->quiet, "no progress on stderr")->group(help::printed_group);
  set_usage(*command, "warplens sweep FILE.cu [FILE...] --run ARGS --vary NAME=VALUES... -o FOLDER");
  command->footer(
      "  warplens sweep gemm.cu --gpu a100 --run '{n} {t}' --vary n=60:200:5 --vary t=8,16 -o sweep/");
  command->callback([options, &chosen] {
    choose_timeline(options->model, false);
    chosen = [options] { return sweep(*options); };
  });
}

} // namespace warplens::driver
