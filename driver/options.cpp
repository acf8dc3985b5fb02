#include "driver/options.h"

#include "driver/help/groups.h"
#include "model/gpu/gpu.h"
#include "model/gpu/sm_clock.h"
#include "support/pattern.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace warplens::driver {
namespace {

/// Returns a validator for whole numbers between `least` and `most`. CLI11 itself takes -1 for a large
/// number, and larger numbers than the largest for that one.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[=](const std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool whole = error == std::errc() && end == text.data() + text.size();
            return whole && number >= least && number <= most
                       ? std::string()
                       : fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
          },
          ""};
}

/// Returns the number from 0 to `most` that is the whole text.
std::optional<double> number_to(double most, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

/// Parses a time above 0, as 10, 10s or 2m.
std::optional<double> seconds_of(std::string_view text) {
  const double unit = text.ends_with('m') ? 60 : 1;
  if (text.ends_with('m') || text.ends_with('s'))
    text.remove_suffix(1);
  const auto number = number_to(1e6, text);
  return number && *number > 0 ? std::optional(*number * unit) : std::nullopt;
}

/// Parses RATE[,LATENCY%].
std::optional<model::Confidence> confidence_of(std::string_view text) {
  model::Confidence confidence;
  const std::size_t comma = text.find(',');
  const auto rate = number_to(1, text.substr(0, comma));
  if (!rate)
    return std::nullopt;
  confidence.rate = *rate;
  if (comma == std::string_view::npos)
    return confidence;
  std::string_view latency = text.substr(comma + 1);
  if (!latency.ends_with('%'))
    return std::nullopt;
  latency.remove_suffix(1);
  const auto percent = number_to(100, latency);
  if (!percent)
    return std::nullopt;
  confidence.latency = *percent / 100;
  return confidence;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ReportFormat& format : report_formats())
    names.emplace_back(format.name);
  return names;
}

std::string format_help() {
  std::string help;
  for (const ReportFormat& format : report_formats())
    help += fmt::format("{}{}: {}", help.empty() ? "" : "\n", format.name, format.help);
  return help;
}

std::string check_column(const std::string& name) {
  const auto column = report::column_named(name);
  return column ? "" : column.error().message;
}

std::string column_names() {
  std::string names;
  for (const report::Column& column : report::all_columns())
    names += fmt::format("\n{}: {}", column.name, column.description());
  return names;
}

constexpr const char* paper_schedule = "paper";

std::vector<std::string> schedule_words(bool has_paper) {
  std::vector<std::string> words(names_of<model::IssuePolicy>.begin(), names_of<model::IssuePolicy>.end());
  if (has_paper)
    words.insert(words.begin(), paper_schedule);
  return words;
}

void add_schedule_option(CLI::App& command, ModelOptions& options, bool has_paper) {
  std::string help = "which warp of a scheduler issues next (default: as the GPU's file says)";
  for (const model::IssuePolicyTraits& policy : model::issue_policy_table)
    help += fmt::format("\n{}: {}", policy.name, policy.description);
  if (has_paper)
    help += fmt::format("\n{}: trials have no clock, and warps alternate in the weighted round robin of "
                        "Baghsorkhi et al. (PPoPP 2012)",
                        paper_schedule);
  command
      .add_option_function<std::string>(
          "--schedule",
          [&options](const std::string& word) {
            options.without_clock = word == paper_schedule;
            options.policy = value_named<model::IssuePolicy>(word); // empty for `paper`
          },
          help)
      ->check(CLI::IsMember(schedule_words(has_paper)))
      ->option_text("WORD");
}

/// Refuses an option beside a format that does not heed it. --format and --open are declared before, and so
/// have been read.
void check_figure_option(std::string_view name, const OutputOptions& options) {
  const auto heeds = [&](const ReportFormat& format) {
    return format.figure_options.find(name) != std::string_view::npos;
  };
  if (heeds(*options.format))
    return;
  std::vector<std::string_view> formats;
  for (const ReportFormat& format : report_formats())
    if (heeds(format))
      formats.push_back(format.name);
  const std::string_view last = formats.back();
  formats.pop_back();
  throw CLI::ValidationError(std::string(name),
                             fmt::format("it goes with --format {}{}{} only", fmt::join(formats, ", "),
                                         formats.empty() ? "" : " and ", last));
}

/// Adds the options that choose the printed figures of each site.
void add_figure_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--columns",
          [&options](const std::vector<std::string>& names) {
            check_figure_option("--columns", options);
            options.columns.clear();
            for (const std::string& name : names)
              options.columns.push_back(*report::column_named(name));
          },
          "text, patch: which figures" + column_names())
      ->delimiter(',')
      ->check(CLI::Validator(check_column, ""))
      ->type_name("NAME[,NAME...]")
      ->default_str("time (without one: share),latency,l1,l2,sectors,executions")
      ->expected(1, 64);
  command
      .add_option_function<std::string>(
          "--sort",
          [&options](const std::string& name) {
            check_figure_option("--sort", options);
            if (const std::string_view only = options.format->sort_figure; !only.empty() && name != only)
              throw CLI::ValidationError(
                  "--sort", fmt::format("--format {} sorts by {} only", options.format->name, only));
            options.sort = *report::column_named(name);
          },
          "text: instead of the source a table of accesses by this figure, the largest first; sass, "
          "sass-csv: "
          "instructions by their warps' time (`time`), not by address")
      ->check(CLI::Validator(check_column, ""))
      ->type_name("NAME");
  command.add_flag_callback(
      "--no-source",
      [&options] {
        check_figure_option("--no-source", options);
        options.source = false;
      },
      "text: only a line per access, which begins with FILE:LINE:COLUMN: for grep and editors");
  command
      .add_option_function<unsigned>(
          "--width",
          [&options](unsigned columns) {
            check_figure_option("--width", options);
            options.width = columns;
          },
          "text, sass: columns of a line, 80 at least (default: the terminal's, else 100)")
      ->check(whole_number(80, 1000))
      ->type_name("N");
  command
      .add_option_function<double>(
          "--threshold",
          [&options](double share) {
            check_figure_option("--threshold", options);
            options.threshold = share;
          },
          "sarif: leave out lines with a smaller share of the time (without one: of the latency)")
      ->check(CLI::Validator(check_fraction, ""))
      ->type_name("FRACTION")
      ->default_str(fmt::format("{}", options.threshold));
}

void add_sm_clock_option(CLI::App& command, ModelOptions& options) {
  command
      .add_option_function<double>(
          "--sm-clock", [&options](double mhz) { options.sm_clock_mhz = mhz; },
          "clock of the SMs in MHz (default: as the GPU's file says); memory keeps its own")
      ->check(CLI::Range(model::min_sm_clock_mhz, model::max_sm_clock_mhz))
      ->type_name("MHZ");
}

void add_trials_option(CLI::App& command, ModelOptions& options, const ModelFeatures& features) {
  command
      .add_option("--trials", options.trials,
                  features.ends_early ? "Monte Carlo trials at most (see --confidence)"
                                      : "Monte Carlo trials")
      ->check(whole_number(2, 1000000)) // a single trial has no interval
      ->type_name("N")
      ->default_str(std::string(features.trials) +
                    (features.without_clock ? "; 64 with --schedule paper" : ""));
}

void add_budget_option(CLI::App& command, ModelOptions& options) {
  command
      .add_option_function<std::string>(
          "--budget",
          [&options](const std::string& text) {
            options.budget_seconds = seconds_of(text);
            if (!options.budget_seconds)
              throw CLI::ValidationError("--budget", fmt::format("'{}' is not like 10s or 2m", text));
          },
          "end the modelling after this time with what is known: first by a small part of the machine, then "
          "by as many trials of all of it as there is time for (default: none; Ctrl-C ends it likewise)")
      ->type_name("TIME");
}

void add_confidence_option(CLI::App& command, ModelOptions& options) {
  command
      .add_option_function<std::string>(
          "--confidence",
          [&options](const std::string& text) {
            const auto confidence = confidence_of(text);
            if (!confidence)
              throw CLI::ValidationError("--confidence",
                                         fmt::format("'{}' is not like 0.005 or 0.005,2%", text));
            options.confidence = *confidence;
          },
          "trials end before --trials once half of each 95 % interval is below RATE for hit rates and "
          "LATENCY for latencies (totals, and sites with 1 % of the accesses); 0: they never do; with "
          "--schedule paper the default is 0.005,2%")
      ->type_name("RATE[,LATENCY%]")
      ->default_str("0.01,3%");
}

/// Adds the choices that only trials without a clock have.
void add_paper_options(CLI::App& command, ModelOptions& options) {
  const auto add_choice = [&](const char* name, std::string& value, const std::vector<std::string>& words,
                              const std::string& what) {
    command.add_option(name, value, what + " (default: as the GPU's file says)")->check(CLI::IsMember(words));
  };
  add_choice("--placement", options.placement, model::block_placements(),
             "--schedule paper: block scheduler, which assigns blocks to SMs");
  add_choice("--start", options.start, model::block_starts(),
             "--schedule paper: initial stagger of an SM's first blocks");
  command.parse_complete_callback([&options] {
    for (const auto& [name, is_chosen] :
         {std::pair("--timeline", options.timeline), std::pair("--sharing", options.sharing),
          std::pair("--sm-clock", options.sm_clock_mhz.has_value())})
      if (is_chosen && options.without_clock)
        throw CLI::ValidationError(name, "trials have no clock with --schedule paper");
    for (const auto& [name, value] :
         {std::pair("--placement", &options.placement), std::pair("--start", &options.start)})
      if (!value->empty() && !options.without_clock)
        throw CLI::ValidationError(name,
                                   "on a clock blocks are dealt on demand: --schedule paper has the choice");
  });
}

/// Adds the options of the trials themselves, which change what is known and not what is modelled.
void add_trial_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("--seed", options.seed, "seed of the random numbers: the same seed gives the same result")
      ->check(whole_number(0, UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--threads", options.threads,
                  "cores to model with (0: all); the result does not depend on it")
      ->check(whole_number(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--snapshot-blocks", options.snapshot_blocks,
                  "take the first N blocks of a launch (default: what each GPU requires)")
      ->type_name("N")
      ->check(whole_number(1, std::uint64_t{1} << 48));
}

} // namespace

std::string check_fraction(const std::string& text) {
  return number_to(1, text) ? "" : fmt::format("'{}' is not a number from 0 to 1", text);
}

/// Checks the regex now: the program would fail only once it runs.
std::string check_regex(const std::string& text) {
  const auto pattern = Pattern::compile(text);
  return pattern ? "" : fmt::format("'{}' is not a regular expression: {}", text, pattern.error().message);
}

void set_usage(CLI::App& command, const std::string& usage) {
  command.formatter(help::help_layout(usage));
}

namespace {
void add_l2_begin_options(CLI::App& command, ModelOptions& options) {
  const auto begins = [&options](model::L2Begin begin) {
    return [&options, begin] { options.l2_begin = begin; };
  };
  CLI::Option* const cold = command.add_flag_callback(
      "--cold", begins(model::L2Begin::cold),
      "launches begin with an empty L2, else with what copies, fills and earlier launches are known to have "
      "left in it");
  command
      .add_flag_callback(
          "--warm", begins(model::L2Begin::warm),
          "launches begin with what they leave in the L2 themselves, as where a benchmark repeats each")
      ->excludes(cold);
}
} // namespace

void add_model_options(CLI::App& command, ModelOptions& options, const ModelFeatures& features) {
  {
    const help::GroupScope group(command, help::modelled_group);
    command.add_option("--gpu", options.gpus, "GPUs to model, by name (see `warplens gpus`) or as a file")
        ->delimiter(',')
        ->type_name("NAME[,NAME...]")
        ->capture_default_str()
        ->expected(1, 64);
    if (features.sm_clock)
      add_sm_clock_option(command, options);
    if (features.l2_begin)
      add_l2_begin_options(command, options);
    if (features.ends_early)
      add_budget_option(command, options);
    add_trials_option(command, options, features);
    add_schedule_option(command, options, features.without_clock);
  }
  if (features.timeline) {
    const help::GroupScope group(command, help::printed_group);
    command.add_flag("--timeline", options.timeline,
                     "add a time-lapse of the first trial over its cycles to the result; html and perfetto "
                     "have it anyway");
  }
  const help::GroupScope group(command, help::rare_group);
  if (features.timeline)
    command.add_option("--timeline-bins", options.timeline_bins, "into how many bins a time-lapse is cut")
        ->check(whole_number(1, 10000))
        ->type_name("N")
        ->default_str(std::to_string(default_timeline_bins));
  if (features.sharing)
    command.add_flag(
        "--sharing", options.sharing,
        "record the inputs of `warplens corun`: the L2's reuse distances, pipes, and times with a "
        "part of the L2");
  if (features.ends_early)
    add_confidence_option(command, options);
  if (features.without_clock)
    add_paper_options(command, options);
  add_trial_options(command, options);
}

model::Confidence confidence_of(const ModelOptions& options) {
  return options.confidence.value_or(options.without_clock ? model::Confidence{.rate = 0.005, .latency = 0.02}
                                                           : model::Confidence{});
}

void choose_timeline(ModelOptions& options, bool always) {
  options.timeline |= always;
  if (options.timeline_bins && !options.timeline)
    throw CLI::ValidationError("--timeline-bins", "the result has a time-lapse only with --timeline");
}

Expected<void> refuse_model_options(const CLI::App& command, std::string_view reason) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool is_of_modelling = option->get_group() == help::modelled_group ||
                                 option->get_group() == help::rare_group || name == "--timeline";
    if (is_of_modelling && option->count() != 0)
      return fail("{}: {}", name, reason);
  }
  return {};
}

void add_registers_option(CLI::App& command, ModelOptions& options) {
  const help::GroupScope group(command, help::rare_group);
  command
      .add_option("--registers", options.registers,
                  "registers of a thread on GPUs for which nvcc makes no code (Fermi), as another compiler "
                  "states them")
      ->check(whole_number(1, 255))
      ->type_name("N");
}

void add_quiet_option(CLI::App& command, bool& quiet) {
  const help::GroupScope group(command, help::printed_group);
  command.add_flag("--quiet", quiet, "say nothing on stderr but errors");
}

void add_output_options(CLI::App& command, OutputOptions& options, std::string_view initial) {
  const help::GroupScope group(command, help::printed_group);
  options.format = &report_format(initial);
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string& name) { options.format = &report_format(name); },
          format_help())
      ->check(CLI::IsMember(format_names()))
      ->default_str(std::string(initial))
      ->option_text("FORMAT");
  command.add_option("-o,--output", options.file, "write the result to a file instead of stdout")
      ->type_name("FILE");
  command.add_flag_callback(
      "--open",
      [&command, &options] { // after --format, which is declared before it
        if (command["--format"]->count() != 0 && !options.format->is_page)
          throw CLI::ValidationError("--open", "it shows the page: only --format html goes with it");
        options.format = &report_format("html");
        options.opens_page = true;
      },
      "open the page (--format html) in the browser");
  add_figure_options(command, options);
}

void add_check_options(CLI::App& command, cpu::Checks& checks) {
  const auto help = [](cpu::Check check) {
    switch (check) {
    case cpu::Check::memory:
      return "report the first access out of bounds, misaligned or to freed memory, and end there";
    case cpu::Check::races:
      return "report accesses to the same shared or global memory by different threads without a "
             "synchronisation "
             "between";
    case cpu::Check::initialisation: return "report reads of memory that was never written";
    case cpu::Check::synchronisation:
      return "report barriers and warp operations that name threads which are not there";
    case cpu::Check::lock_step: return "lanes of a warp do each access to memory together";
    }
    return "";
  };
  const help::GroupScope group(command, help::checks_group);
  for (const cpu::CheckName& check : cpu::check_names)
    command.add_flag_callback(
        std::string("--") + check.name, [&checks, kind = check.check] { checks.add(kind); },
        fmt::format("CPU back end: {} (`run`: of a program that was built with --{})", help(check.check),
                    check.name));
}

void add_trace_options(CLI::App& command, TraceOptions& options) {
  {
    const help::GroupScope group(command, help::runs_group);
    command.add_option("--kernel", options.kernel, "trace only kernels whose name matches")
        ->type_name("REGEX")
        ->check(CLI::Validator(check_regex, ""));
    command
        .add_option(
            "--launches", options.launches,
            "trace the first N launches of each kernel (default: those that differ from the ones before in "
            "grid, block or work, each of which stands for the others like it; placement, advise and sweep: "
            "1)")
        ->check(whole_number(1, 1000000))
        ->type_name("N");
    command.add_flag(
        "--stop-when-traced", options.stop_when_traced,
        "CPU back end: end the program as soon as every kernel that it can launch (with --kernel: each of "
        "these) has been traced, so that a long run costs what its snapshots cost; its output is "
        "incomplete");
    command.add_option("--trace", options.keep_trace, "keep the trace in this file")->type_name("FILE");
  }
  add_check_options(command, options.checks);
  const help::GroupScope group(command, help::rare_group);
  command.add_flag(
      "--deterministic", options.deterministic,
      "CPU back end: blocks run one after the other, so that atomics in floating point give the same "
      "sum in every run");
}

void add_loops_option(CLI::App& command, TraceOptions& options) {
  const help::GroupScope group(command, help::rare_group);
  command.add_flag(
      "--whole-loops", options.whole_loops,
      "CPU back end: trace every iteration of every loop; by default long kernels leave out iterations that "
      "repeat, which takes less time and says nothing of a time-lapse, --sharing or other code");
}

void add_fail_if_option(CLI::App& command, std::vector<judge::Threshold>& thresholds,
                        const std::string& meaning) {
  const auto check = [](std::string& text) {
    const auto parsed = judge::parse_threshold(text);
    return parsed ? std::string() : parsed.error().message;
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--fail-if",
          [&thresholds](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              thresholds.push_back(*judge::parse_threshold(text));
          },
          meaning)
      ->check(CLI::Validator(check, ""))
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

} // namespace warplens::driver
