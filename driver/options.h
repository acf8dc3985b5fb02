// The options that several subcommands share, and their declarations on the command line.
#pragma once

#include "driver/report_formats.h"
#include "judge/threshold.h"
#include "model/model.h"
#include "model/sm/issue_policies.h"
#include "report/brief.h"
#include "report/columns.h"
#include "runtime/abi/checks.h"
#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver {

enum class Backend { automatic, gpu, cpu };

constexpr std::uint32_t default_timeline_bins = 256;

/// The options of modelling and reporting.
struct ModelOptions {
  std::vector<std::string> gpus{"a100"};
  bool without_clock = false;                     ///< --schedule paper
  std::optional<model::IssuePolicy> policy;       ///< --schedule; empty: as the GPU's file says
  std::string placement, start;                   ///< empty: as the GPU's file says
  std::optional<double> sm_clock_mhz;             ///< empty: as the GPU's file says
  std::optional<std::uint32_t> trials;            ///< the maximum number; empty: 16, or 64 without a clock
  std::optional<model::Confidence> confidence;    ///< empty: of a clock's trials, or of those without one
  model::L2Begin l2_begin = model::L2Begin::left; ///< of each launch
  std::optional<std::uint32_t> registers;         ///< of a thread, where no machine code says them
  bool timeline = false;
  std::optional<std::uint32_t> timeline_bins; ///< empty: default_timeline_bins
  std::optional<double> budget_seconds;       ///< after which modelling ends with what is known; empty: never
  bool sharing = false;                       ///< the result has what `corun` estimates from
  std::uint64_t seed = 1;
  unsigned threads = 0;
  model::Ranks ranks; ///< not an option: the processes of `model` under mpirun
  std::optional<std::uint64_t>
      snapshot_blocks; ///< the blocks of a launch; empty: as many as the GPUs require
};

/// Returns how well figures are to be known: as asked for, else less so on a clock, whose trials take longer.
model::Confidence confidence_of(const ModelOptions& options);

struct OutputOptions {
  const ReportFormat* format = &report_format("text");
  std::string file;               ///< empty: stdout
  std::string page;               ///< a file for the page, which is written beside the output; empty: none is
  bool page_has_timeline = false; ///< the model makes a time-lapse for that page alone
  bool quiet = false;
  bool opens_page = false;                    ///< in the browser
  std::vector<const report::Column*> columns; ///< text and annotated diff; empty: the usual ones
  const report::Column* sort = nullptr; ///< for text: sorts sites by this figure; null: as in the source
  bool source = true;                   ///< for text; false: one line per access and nothing else
  std::optional<unsigned> width;        ///< for text; empty: the terminal's
  double threshold = 0.05;              ///< for sarif: the smallest share of the latency
  std::vector<report::Suggestion> suggestions; ///< for brief: changes that were found to pay
};

/// The options of a run of an instrumented program.
struct TraceOptions {
  std::string kernel;                    ///< regex; empty: every kernel
  std::optional<std::uint32_t> launches; ///< the first ones of each kernel; empty: those that differ
  std::string keep_trace;                ///< empty: the trace is temporary
  cpu::Checks checks;
  bool deterministic = false;
  bool stop_when_traced = false; ///< the program ends before its end
  bool whole_loops = false;      ///< no iterations are left out of the trace
};

/// Adds --memcheck and its like, which are flags of the CPU back end.
void add_check_options(CLI::App& command, cpu::Checks& checks);

/// Returns the fault of an option's value, or an empty string: for CLI::Validator.
std::string check_regex(const std::string& text);
std::string check_fraction(const std::string& text);

/// Starts a subcommand's help with this line, since CLI11 does not know of the words after `--run` and `--`.
void set_usage(CLI::App& command, const std::string& usage);

/// The options of modelling that a command takes, since it reads them; all take --gpu, --schedule, --trials,
/// --seed, --threads and --snapshot-blocks.
struct ModelFeatures {
  bool without_clock = true; ///< --schedule paper, with --placement and --start
  bool sm_clock = true;      ///< --sm-clock
  bool l2_begin = true;      ///< --cold and --warm
  bool ends_early = true;    ///< --confidence and --budget
  bool timeline = true;      ///< --timeline and --timeline-bins
  bool sharing = true;       ///< --sharing
  const char* trials = "16"; ///< the number without --trials
};

void add_model_options(CLI::App& command, ModelOptions& options, const ModelFeatures& features = {});
/// Completes the options once all are read: `always` says that the output has a time-lapse in any case.
/// --timeline-bins without a time-lapse is an error of the command line.
void choose_timeline(ModelOptions& options, bool always);
/// Returns an error if an option of modelling was given to a command whose inputs leave nothing to model.
Expected<void> refuse_model_options(const CLI::App& command, std::string_view reason);
/// Adds --registers, for commands that model launches as they are.
void add_registers_option(CLI::App& command, ModelOptions& options);
void add_quiet_option(CLI::App& command, bool& quiet);
/// `initial` is the name of the format without --format.
void add_output_options(CLI::App& command, OutputOptions& options, std::string_view initial = "text");
void add_trace_options(CLI::App& command, TraceOptions& options);
/// Adds --whole-loops, for commands that model launches as they are.
void add_loops_option(CLI::App& command, TraceOptions& options);
/// Adds --fail-if, whose conditions go to `thresholds`; `meaning` says when the command fails.
void add_fail_if_option(CLI::App& command, std::vector<judge::Threshold>& thresholds,
                        const std::string& meaning);

} // namespace warplens::driver
