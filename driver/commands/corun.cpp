// `warplens corun`: kernels beside each other on one GPU, and how much longer each takes.

#include "model/corun.h"

#include "driver/commands/commands.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/print.h"
#include "driver/stages/read_kernels.h"
#include "driver/stages/simulate.h"
#include "report/camp_report.h"
#include "report/corun_report.h"
#include "support/pattern.h"
#include "trace/reader.h"

#include <algorithm>
#include <deque>
#include <memory>

namespace warplens::driver {
namespace {

struct CorunOptions {
  std::vector<std::string> files;
  std::vector<std::string>
      kernels; ///< regular expressions, by file; the last one for the rest; empty: the first launch
  std::string division = "streams", format = "text";
  std::vector<double> shares;
  bool share_memory = false;
  ModelOptions model;
  OutputOptions output;
};

constexpr std::uint32_t default_trials = 4;

/// Returns the first traced launch of which the kernel matches.
Expected<const trace::Launch*> launch_of(const trace::Reader& trace, const std::string& file,
                                         const std::string& kernel) {
  for (const trace::Launch& launch : trace.launches())
    if (kernel.empty() || Pattern(kernel).is_found_in(launch.kernel))
      return &launch;
  return fail("{}: {}", file,
              kernel.empty() ? "no instrumented kernel was launched"
                             : fmt::format("no launch matches '{}'", kernel));
}

Expected<CorunResult> run_on_machine(const CorunOptions& options, const model::Gpu& gpu) {
  std::deque<trace::Reader> traces;
  std::vector<std::string> opened;
  std::vector<model::CorunLaunch> launches;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const std::string& file = options.files[i];
    TRY_LET(trace, trace::Reader::open(file));
    traces.push_back(std::move(*trace));
    const std::string kernel =
        options.kernels.empty() ? "" : options.kernels[std::min(i, options.kernels.size() - 1)];
    TRY_LET(launch, launch_of(traces.back(), file, kernel));
    launches.push_back({&traces.back(), *launch});
  }
  model::CorunOptions settings;
  settings.division = *value_named<Division>(options.division);
  settings.shares = options.shares;
  settings.share_memory = options.share_memory;
  settings.trials = options.model.trials.value_or(default_trials);
  settings.seed = options.model.seed;
  settings.threads = options.model.threads;
  settings.snapshot_blocks = options.model.snapshot_blocks;
  Stage stage("corun", options.output.quiet);
  auto result = model::corun(launches, gpu, settings);
  if (result)
    stage.done(fmt::format("{} kernels on {}, {} trials each", launches.size(), gpu.id, settings.trials));
  return result;
}

/// Estimates each pair of the results' kernels.
Expected<void> estimate_and_print(const CorunOptions& options) {
  TRY_LET(kernels, read_kernels(options.files, {}, options.model, options.output));
  if (kernels->size() < 2)
    return fail("one kernel runs beside no other: the results have {}", kernels->size());
  constexpr double issue_width = 1; // of a scheduler
  TRY_LET(pairs, report::estimate_pairs(*kernels, issue_width));
  return print_text(options.format == "json"
                        ? report::print_pairs_json(*kernels, *pairs)
                        : report::print_pairs_text(*kernels, *pairs, text_options(options.output)),
                    options.output.file);
}

Expected<void> corun_and_print(const CorunOptions& options) {
  const auto traces = std::ranges::count_if(options.files, is_trace);
  if (traces == 0)
    return estimate_and_print(options);
  if (std::size_t(traces) != options.files.size())
    return fail("traces run beside each other, and results are estimated: name either");
  if (options.files.size() < 2)
    return fail("one kernel runs beside no other: name two traces, or one twice");
  TRY_LET(gpus, load_gpus(options.model));
  if (gpus->size() != 1)
    return fail("kernels run beside each other on one GPU; --gpu names {}", gpus->size());
  TRY_LET(result, run_on_machine(options, gpus->front()));
  return print_text(options.format == "json"
                        ? report::print_corun_json(*result)
                        : report::print_corun_text(*result, text_options(options.output)),
                    options.output.file);
}

} // namespace

void declare_corun(CLI::App& app, Action& chosen) {
  auto* command =
      app.add_subcommand("corun", "kernels beside each other on one GPU, and how much longer each takes");
  auto options = std::make_shared<CorunOptions>();
  command
      ->add_option("files", options->files,
                   "traces, as --trace keeps them, which run beside each other on the machine (one may be "
                   "there twice); or results made with\n--sharing, of which each pair is estimated")
      ->required()
      ->type_name("TRACE...|RESULT...");
  command
      ->add_option("--kernel", options->kernels,
                   "the kernel of each trace, or of all further ones (default: that of the first launch)")
      ->type_name("REGEX[,REGEX...]")
      ->delimiter(',')
      ->check(CLI::Validator(check_regex, ""));
  command
      ->add_option("--division", options->division,
                   "streams: each kernel fills what those before it leave; sms: each has SMs of its own, as "
                   "with MIG or MPS;\n"
                   "blocks: each has a number of blocks on every SM")
      ->check(CLI::IsMember({"streams", "sms", "blocks"}))
      ->capture_default_str();
  command
      ->add_option("--split", options->shares, "each kernel's percentage of the SMs, or its blocks on an SM")
      ->delimiter(',')
      ->type_name("N,N[,N...]");
  command->add_flag("--one-program", options->share_memory,
                    "equal addresses are one memory, as with streams of one program (else each has its own)");
  add_text_or_json_options(*command, options->format, options->output, "warplens-corun/1");
  command->add_flag("--quiet", options->output.quiet, "say nothing on stderr but errors");
  add_model_options(*command, options->model);
  command->callback([options, &chosen] { chosen = [options] { return corun_and_print(*options); }; });
}

} // namespace warplens::driver
