// `warplens advise`: changes of a program, tried in the model before anyone makes them; and with --check a
// change that was made, beside the original.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/help/groups.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/obtain_trace.h"
#include "driver/stages/original_program.h"
#include "driver/stages/print.h"
#include "driver/stages/simulate.h"
#include "model/model.h"
#include "placement/print/advice_report.h"
#include "placement/print/check_report.h"
#include "placement/source_edits.h"
#include "support/display_name.h"
#include "support/files.h"
#include "support/line_diff.h"
#include "support/pattern.h"
#include "support/temporary.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

struct AdviseOptions {
  SourceOptions source;
  TraceOptions trace;
  ModelOptions model;
  std::vector<std::string> changed;
  std::string format = "text";
  OutputOptions output;
  bool quiet = false, fails_if_slower = false;
};

model::Options model_options_of(const AdviseOptions& options) {
  model::Options model;
  model.trials = options.model.trials.value_or(16);
  model.confidence = {0, 0}; // pairs need equally many trials
  model.seed = options.model.seed;
  model.l2_begin = options.model.l2_begin;
  model.threads = options.model.threads;
  model.snapshot_blocks = options.model.snapshot_blocks;
  return model;
}

/// Builds and runs the sources, and models all of their launches.
Expected<Result> modelled(const std::vector<std::string>& files, const AdviseOptions& options,
                          const std::vector<model::Gpu>& gpus, const std::vector<std::string>& arguments) {
  TRY_LET(directory, TemporaryDirectory::create());
  SourceOptions source = options.source;
  source.files = files;
  TRY_LET(trace, obtain_trace(source, options.trace, options.model, gpus, arguments, directory->path(),
                              options.quiet));
  Stage stage("model", options.quiet);
  model::Options model = model_options_of(options);
  if (!options.trace.kernel.empty()) // a trace may have others
    model.wants_launch = [pattern = Pattern(options.trace.kernel)](const trace::Launch& launch) {
      return pattern.is_found_in(launch.kernel);
    };
  auto result = model::evaluate(*trace, gpus, model);
  if (result)
    stage.done(fmt::format("{}: {} launches", files.front(), trace->launches().size()));
  return result;
}

Expected<void> check(const AdviseOptions& options, const std::vector<std::string>& arguments) {
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(before, modelled(options.source.files, options, *gpus, arguments));
  TRY_LET(after, modelled(options.changed, options, *gpus, arguments));
  TRY_LET(programs, placement::compare_programs(*before, *after));
  const placement::CheckReport report{options.source.files.front(), options.changed.front(),
                                      std::move(*programs)};
  TRY(print_document(
      placement::check_document(report), [&] { return text_of_json(placement::to_json(report)); },
      options.format, options.output));
  for (const placement::ComparedProgram& program : report.programs)
    if (options.fails_if_slower && verdict_on(program.change) == placement::Verdict::slower)
      return fail("{} is slower than {} on {}", report.after, report.before, program.gpu);
  return {};
}

/// Returns the change of the kernel's time in the edited program.
Expected<placement::TimeChange> changed_time(const placement::Suggestion& suggestion,
                                             const placement::Experiment& experiment,
                                             OriginalProgram& original, const std::string& edited) {
  TRY_LET(changed, original.trace_with(suggestion.file, edited));
  return experiment.change_in(changed->trace);
}

/// Sets the suggestion's patch, if its edit is mechanical, the edited program compiles and prints the same,
/// and its kernel, traced and modelled anew, is faster than before. Returns whether the suggestion stands: no
/// patch of it failed the model.
bool try_patch(placement::Suggestion& suggestion, const placement::Experiment& experiment,
               OriginalProgram& original) {
  const auto source = read_file(suggestion.file);
  const auto edited = source ? placement::edited_source(experiment, suggestion, *source)
                             : Expected<std::string>(tl::unexpected(source.error()));
  if (!edited) {
    if (source && edited.error().message != placement::not_mechanical)
      suggestion.without_patch = edited.error().message;
    return !suggestion.needs_patch;
  }
  const auto changed = changed_time(suggestion, experiment, original, *edited);
  if (!changed) {
    suggestion.without_patch = changed.error().message;
    return !suggestion.needs_patch;
  }
  suggestion.patch_change = *changed;
  suggestion.patch = line_diff(suggestion.file, *source, *edited);
  suggestion.source = *source;
  suggestion.edited = *edited;
  return placement::is_gain(*changed);
}

/// Tries the suggestions' patches; those that do not stand are among the changes without gain.
void try_patches(placement::KernelAdvice& advice, OriginalProgram& original) {
  std::vector<placement::Suggestion> standing;
  for (placement::Suggestion& suggestion : advice.suggestions) {
    if (try_patch(suggestion, *advice.experiment, original)) {
      standing.push_back(std::move(suggestion));
      continue;
    }
    if (suggestion.patch_change)
      suggestion.candidate.change = *suggestion.patch_change;
    advice.without_gain.push_back(std::move(suggestion.candidate));
  }
  advice.suggestions = std::move(standing);
}

Expected<void> print(const placement::AdviceReport& report, const AdviseOptions& options) {
  return print_document(placement::advice_document(report),
                        {{"json", [&] { return text_of_json(placement::to_json(report)); }},
                         {"sarif", [&] { return placement::print_sarif(report, toolchain::version); }}},
                        options.format, options.output);
}

Expected<void> suggest(const AdviseOptions& options, const std::vector<std::string>& arguments) {
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(addressing, placement::load_addressing(toolchain::resources().addressing));
  TRY_LET(directory, TemporaryDirectory::create());
  TRY_LET(trace, obtain_trace(options.source, options.trace, options.model, *gpus, arguments,
                              directory->path(), options.quiet));
  Stage stage("advise", options.quiet);
  placement::AdviceReport report;
  report.program = options.source.files.front();
  report.seed = options.model.seed;
  std::deque<placement::Arrays> arrays; // the report refers to them
  std::deque<placement::Experiment> experiments;
  OriginalProgram original(options.source, options.trace, options.model, *gpus, arguments);
  std::size_t tried = 0;
  for (std::uint32_t launch = 0; launch < trace->launches().size(); ++launch) {
    const std::string& kernel = trace->launches()[launch].kernel;
    if (!options.trace.kernel.empty() && !Pattern(options.trace.kernel).is_found_in(kernel))
      continue;
    TRY_LET(found, placement::Arrays::find(*trace, trace->launches()[launch]));
    arrays.push_back(std::move(*found));
    for (const model::Gpu& gpu : *gpus) {
      placement::Experiment& experiment = experiments.emplace_back(*trace, launch, arrays.back(), gpu,
                                                                   *addressing, model_options_of(options));
      stage.update(fmt::format("{} on {}", display_name(kernel, 40), gpu.id));
      TRY(experiment.model_sample());
      TRY_LET(advice, placement::advise(experiment));
      try_patches(*advice, original);
      tried += advice->suggestions.size() + advice->without_gain.size();
      report.kernels.push_back(std::move(*advice));
    }
  }
  if (report.kernels.empty())
    return fail("none of the kernels launched matches --kernel '{}'", options.trace.kernel);
  stage.done(fmt::format("{} changes tried", tried));
  return print(report, options);
}

Expected<void> advise(const AdviseOptions& options, const std::vector<std::string>& arguments) {
  if (options.format == "sarif" && !options.changed.empty())
    return fail("--format sarif is for suggestions, and --check makes none: choose another format");
  if (options.fails_if_slower && options.changed.empty())
    return fail("--fail-if-slower is about the change of --check");
  if (std::ranges::none_of(options.source.files, is_source) &&
      std::ranges::none_of(options.changed, is_source))
    TRY(refuse_program_options(options.source, options.trace, arguments));
  TRY(check_writable(options.output.file));
  return options.changed.empty() ? suggest(options, arguments) : check(options, arguments);
}

} // namespace

void declare_advise(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "advise", "changes that make a kernel faster, each tried in the model; or a change that you made");
  auto options = std::make_shared<AdviseOptions>();
  command
      ->add_option("files", options->source.files,
                   "the sources of a program, or a trace, as --trace keeps it")
      ->required()
      ->type_name("FILE.cu|TRACE");
  command
      ->add_option("--check", options->changed,
                   "the changed sources, or their trace: modelled beside the original with the same random\n"
                   "numbers; prints the change of the time, and what moved on which line")
      ->type_name("CHANGED.cu");
  command->add_flag("--fail-if-slower", options->fails_if_slower,
                    "exit with 1 if the change makes the program slower on one of the GPUs");
  add_source_options(*command, options->source);
  add_model_options(*command, options->model,
                    {.without_clock = false, .ends_early = false, .timeline = false, .sharing = false});
  add_trace_options(*command, options->trace);
  add_document_options(*command, options->format, options->output,
                       {{"json", "warplens-advice/1, or warplens-check/1"},
                        {"sarif", "suggestions at their lines, with patches as fixes"}});
  const help::GroupScope group(*command, help::printed_group);
  add_quiet_option(*command, options->quiet);
  set_usage(*command, "warplens advise FILE.cu [OPTIONS] [-- ARGS...]");
  command->footer("  -- ARGS...                      the rest of the line: the program's own arguments\n\n"
                  "  warplens advise transpose.cu --check padded.cu --gpu a100 -- 2048");
  command->callback(
      [options, &rest, &chosen] { chosen = [options, &rest] { return advise(*options, rest); }; });
}

} // namespace warplens::driver
