// `warplens placement`: what each kernel would cost with its arrays elsewhere.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/help/groups.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/stages/obtain_trace.h"
#include "driver/stages/original_program.h"
#include "driver/stages/print.h"
#include "driver/stages/simulate.h"
#include "driver/stages/train_overlap.h"
#include "judge/threshold.h"
#include "placement/change/place.h"
#include "placement/print/placement_report.h"
#include "placement/source_edits.h"
#include "support/display_name.h"
#include "support/files.h"
#include "support/parse_number.h"
#include "support/pattern.h"
#include "support/temporary.h"
#include "support/terminal_text.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

struct PlacementOptions {
  SourceOptions source;
  TraceOptions trace;
  ModelOptions model;
  OutputOptions output;
  std::string moves, format = "text", time = "model";
  std::vector<std::string> without;
  std::string train;
  std::vector<judge::Threshold> thresholds;
  std::optional<double> measured_ns;
  bool searches = false, checks = false, quiet = false;
};

constexpr std::size_t help_width = 90;

model::Options model_options_of(const PlacementOptions& options) {
  model::Options model;
  model.trials = options.model.trials.value_or(options.searches ? 8 : 16);
  model.seed = options.model.seed;
  model.l2_begin = options.model.l2_begin;
  model.threads = options.model.threads;
  model.snapshot_blocks = options.model.snapshot_blocks;
  return model;
}

std::string check_nanoseconds(std::string& text) {
  const std::optional<double> value = parse_number(text);
  return value && is_time_of_launch(*value) ? std::string()
                                            : fmt::format("{} is not a time from 1 to 1e12 ns", text);
}

/// Returns an error where one measured time would be that of several launches or of none.
Expected<void> check_measured(const PlacementOptions& options, std::size_t launches, std::size_t gpus) {
  if (options.measured_ns && launches * gpus != 1)
    return fail("--measured-ns is the time of one launch on one GPU, and there are {} launches on {} GPUs: "
                "name one by --kernel and --gpu",
                launches, gpus);
  return {};
}

placement::EstimateOptions estimates_of(const PlacementOptions& options) {
  placement::EstimateOptions estimates;
  estimates.estimator = *value_named<placement::Estimator>(options.time);
  const auto leaves_out = [&](const char* word) { return std::ranges::count(options.without, word) != 0; };
  estimates.parts.counts_replays = !leaves_out("replays");
  estimates.parts.counts_addresses = !leaves_out("addresses");
  estimates.parts.queues_dram = !leaves_out("queue");
  estimates.parts.maps_banks = !leaves_out("banks");
  if (options.measured_ns)
    estimates.measured_us = *options.measured_ns / 1000;
  return estimates;
}

Expected<placement::SearchResult> candidates_of(const placement::Experiment& experiment,
                                                const PlacementOptions& options) {
  if (options.searches)
    return placement::search(experiment, {});
  if (options.moves.empty())
    return placement::try_each_move(experiment);
  TRY_LET(moves, placement::parse_moves(options.moves, experiment.arrays()));
  TRY_LET(candidate, experiment.model(*moves, experiment.trials()));
  placement::SearchResult result;
  result.modelled = result.refined = candidate->is_legal();
  (candidate->is_legal() ? result.candidates : result.refused).push_back(std::move(*candidate));
  return result;
}

/// Replaces the candidates of one move by what the program is with that move in its source, where the edit is
/// mechanical; ranks them anew.
void check_sources(placement::SearchResult& found, const placement::Experiment& experiment,
                   OriginalProgram& original) {
  const auto compiled = [&](const placement::Candidate& candidate) -> Expected<placement::Candidate> {
    const std::uint32_t site = experiment.arrays()[candidate.moves.front().array].first_access;
    const Site& first = experiment.trace().sites()[site];
    TRY_LET(source, read_file(first.file));
    const placement::Suggestion suggestion{.candidate = candidate, .file = first.file, .line = first.line};
    TRY_LET(edited, placement::edited_source(experiment, suggestion, *source));
    TRY_LET(changed, original.trace_with(first.file, *edited));
    return experiment.compiled(candidate, changed->trace);
  };
  for (std::size_t i = 0; i < found.refined; ++i) {
    placement::Candidate& candidate = found.candidates[i];
    if (candidate.moves.size() != 1)
      continue;
    if (auto edited_program = compiled(candidate))
      candidate = std::move(*edited_program);
    else if (edited_program.error().message != placement::not_mechanical)
      candidate.not_compiled = edited_program.error().message;
  }
  placement::rank(std::span(found.candidates).first(found.refined));
}

Expected<void> print(const placement::PlacementReport& report, const PlacementOptions& options) {
  return print_document(placement::placement_document(report),
                        {{"json", [&] { return text_of_json(placement::to_json(report)); }},
                         {"html", [&] { return placement::print_page(report); }}},
                        options.format, options.output);
}

/// Returns an error if a placement differs from the trace's beyond one of the conditions.
Expected<void> check_thresholds(const placement::PlacementReport& report,
                                const std::vector<judge::Threshold>& thresholds) {
  if (thresholds.empty())
    return {};
  for (const placement::KernelPlacements& kernel : report.kernels) {
    Result before;
    before.kernels.push_back(*kernel.experiment->sample().result);
    for (const placement::Candidate& candidate : kernel.found.candidates) {
      Result after;
      after.kernels.push_back(*candidate.result);
      const judge::Difference difference = judge::compare(before, after, {});
      TRY_LET(failures, failures_in(difference, thresholds));
      if (!failures->empty())
        return fail("{} on {}: {} is beyond --fail-if '{}'",
                    display_name(printable(before.kernels.front().name), 60), kernel.experiment->gpu().id,
                    placement::text_of(candidate.moves, kernel.experiment->arrays()),
                    failures->front().threshold->text);
    }
  }
  return {};
}

Expected<void> place(const PlacementOptions& options, const std::vector<std::string>& program_arguments) {
  if (std::ranges::none_of(options.source.files, is_source))
    TRY(refuse_program_options(options.source, options.trace, program_arguments));
  const bool is_paper = options.time == "paper" || options.time == "paper-literal";
  if (!options.train.empty() && !is_paper)
    return fail("--train is for --time paper and paper-literal, which have an overlap");
  if (!options.without.empty() && !is_paper)
    return fail("--without is for --time paper and paper-literal, whose parts it leaves out");
  if (options.measured_ns && options.time == "porple")
    return fail("--measured-ns scales times, and --time porple has none: it only ranks");
  if (options.checks && !std::ranges::all_of(options.source.files, is_source))
    return fail("--check edits the sources of a program, and {} is none", options.source.files.front());
  if (options.checks && options.time != "model")
    return fail("--check models the changed program: it takes --time model");
  if (!options.thresholds.empty() && options.time != "model")
    return fail("--fail-if is about the model's figures: it takes --time model");
  TRY(check_writable(options.output.file));
  TRY_LET(gpus, load_gpus(options.model));
  TRY_LET(addressing, placement::load_addressing(toolchain::resources().addressing));
  placement::PlacementReport report;
  placement::EstimateOptions estimates = estimates_of(options);
  if (!options.train.empty()) {
    Stage training("train", options.quiet);
    TRY_LET(overlap,
            train_overlap(options.train, *addressing, model_options_of(options), estimates, options.model));
    training.done(fmt::format("the overlap of unseen kernels is off by {:.2f} of their time in memory",
                              overlap->error_of_unseen));
    report.overlap = estimates.overlap = *overlap;
  }
  TRY_LET(directory, TemporaryDirectory::create());
  TRY_LET(trace, obtain_trace(options.source, options.trace, options.model, *gpus, program_arguments,
                              directory->path(), options.quiet));
  const Pattern wanted(options.trace.kernel);

  Stage stage("place", options.quiet);
  report.program = options.source.files.front();
  report.seed = options.model.seed;
  std::deque<placement::Arrays> arrays; // the report refers to them
  std::deque<placement::Experiment> experiments;
  OriginalProgram original(options.source, options.trace, options.model, *gpus, program_arguments);
  std::size_t modelled = 0;
  const auto is_wanted = [&](const trace::Launch& launch) {
    return options.trace.kernel.empty() || wanted.is_found_in(launch.kernel);
  };
  TRY(check_measured(options, std::size_t(std::ranges::count_if(trace->launches(), is_wanted)),
                     gpus->size()));
  for (std::uint32_t launch = 0; launch < trace->launches().size(); ++launch) {
    const std::string& kernel = trace->launches()[launch].kernel;
    if (!is_wanted(trace->launches()[launch]))
      continue;
    TRY_LET(found, placement::Arrays::find(*trace, trace->launches()[launch]));
    arrays.push_back(std::move(*found));
    for (const model::Gpu& gpu : *gpus) {
      placement::Experiment& experiment = experiments.emplace_back(
          *trace, launch, arrays.back(), gpu, *addressing, model_options_of(options), estimates);
      stage.update(fmt::format("{} on {}", display_name(kernel, 40), gpu.id));
      TRY(experiment.model_sample());
      TRY_LET(candidates, candidates_of(experiment, options));
      modelled += candidates->modelled + 1;
      if (options.checks)
        check_sources(*candidates, experiment, original);
      report.kernels.push_back({&experiment, std::move(*candidates), options.searches});
    }
  }
  if (report.kernels.empty())
    return fail("none of the kernels launched matches --kernel '{}'", options.trace.kernel);
  stage.done(fmt::format("{} placements modelled", modelled));
  TRY(print(report, options));
  if (!options.moves.empty() && !report.kernels.front().found.refused.empty())
    return fail("--move {} is refused", options.moves);
  return check_thresholds(report, options.thresholds);
}

} // namespace

void declare_placement(const CommandLine& line) {
  const std::vector<std::string>& rest = line.rest;
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("placement", "what a kernel would cost with its arrays in other memories");
  auto options = std::make_shared<PlacementOptions>();
  command
      ->add_option("files", options->source.files,
                   "a trace, as --trace keeps it, or the sources of a program")
      ->required()
      ->type_name("TRACE|FILE.cu");
  command
      ->add_option(
          "--move", options->moves,
          fmt::format(
              "{}",
              fmt::join(wrapped("model only this placement: ARRAY:PLACE, several with commas; places are " +
                                    placement::place_usage(),
                                help_width),
                        "\n")))
      ->type_name("MOVES");
  command->add_flag("--search", options->searches, "search the fastest placement of all arrays together")
      ->excludes("--move");
  command->add_flag(
      "--check", options->checks,
      "make the moves that are mechanical (ldg, texture, constant) in the source, and compile, run and\n"
      "model the program with each, in place of the trace with the array moved");
  add_source_options(*command, options->source);
  add_model_options(*command, options->model,
                    {.without_clock = false,
                     .ends_early = false,
                     .timeline = false,
                     .sharing = false,
                     .trials = "16; 8 with --search"});
  add_trace_options(*command, options->trace);
  command
      ->add_option(
          "--time", options->time,
          "estimator of the time: the model's clock; Huang and Li's equations, corrected or literal; or\n"
          "PORPLE's sum of latencies, which only ranks")
      ->check(CLI::IsMember({"model", "paper", "paper-literal", "porple"}))
      ->option_text("WORD=model");
  command
      ->add_option("--without", options->without,
                   "parts of the paper's equations to leave out: replays, addresses, queue (of DRAM) or\n"
                   "banks (requests are spread evenly over them)")
      ->check(CLI::IsMember({"replays", "addresses", "queue", "banks"}))
      ->delimiter(',');
  command
      ->add_option("--measured-ns", options->measured_ns,
                   "the measured time of the launch as it is, to which all times are scaled")
      ->check(CLI::Validator(check_nanoseconds, ""));
  command
      ->add_option(
          "--train", options->train,
          "a table of measured placements (columns trace, kernel, gpu, moves, nanoseconds) that the\n"
          "paper's overlap is fitted to; prints its error on kernels left out in turn")
      ->type_name("FILE.csv");
  add_fail_if_option(
      *command, options->thresholds,
      "exit with 1 if a placement differs from the trace's beyond this and beyond its interval, as\n"
      "diff says it: 'total.microseconds<-10%' where one is faster by a tenth");
  add_document_options(*command, options->format, options->output,
                       {{"html", "a matrix of arrays and places"}, {"json", placement::placement_schema}});
  const help::GroupScope group(*command, help::printed_group);
  add_quiet_option(*command, options->quiet);
  set_usage(*command, "warplens placement TRACE|FILE.cu [OPTIONS] [-- ARGS...]");
  command->footer("  -- ARGS...                      the rest of the line: the program's own arguments\n\n"
                  "  warplens placement spmv.cu --gpu k80,a100 --search -- u 4096");
  command->callback(
      [options, &rest, &chosen] { chosen = [options, &rest] { return place(*options, rest); }; });
}

} // namespace warplens::driver
