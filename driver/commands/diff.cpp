// `warplens diff`: prints the changes between two results; fails if one is worse than allowed.

#include "driver/commands/commands.h"
#include "driver/commands/exit_code.h"
#include "driver/document_formats.h"
#include "driver/options.h"
#include "driver/stages/print.h"
#include "driver/stages/read_result.h"
#include "report/brief_difference.h"
#include "report/print_difference.h"
#include "support/pattern.h"
#include "support/terminal_text.h"

#include <memory>

namespace warplens::driver {
namespace {

struct DiffOptions {
  std::string before, after, kernel, format = "text";
  std::vector<judge::Threshold> thresholds;
  double min_share = 0, tolerance = judge::default_tolerance;
  bool fail_if_slower = false, exit_with_verdict = false;
  OutputOptions output;
};

/// Returns the line for --fail-if-slower: the GPU on which the program is slower.
std::string slower_on(const judge::SpeedComparison& speed) {
  for (const judge::TotalSpeed& total : speed.totals)
    if (total.speed.verdict == judge::SpeedVerdict::slower)
      return fmt::format("in total on {}: {}", printable(total.gpu), describe(total.speed));
  return "";
}

Expected<void> compare_and_print(const DiffOptions& options, int& exit_code) {
  TRY_LET(before, read_result(options.before));
  TRY_LET(after, read_result(options.after));
  judge::DifferenceOptions wanted;
  wanted.min_share = options.min_share;
  if (!options.kernel.empty())
    wanted.wants_kernel = [pattern = Pattern(options.kernel)](const std::string& name) {
      return pattern.is_found_in(name);
    };
  const judge::Difference difference = compare(*before, *after, wanted);
  if (difference.kernels.empty())
    return fail("{} and {} have no kernel in common{}: kernels correspond by name and GPU", options.before,
                options.after,
                options.kernel.empty() ? "" : fmt::format(" that matches --kernel '{}'", options.kernel));
  TRY_LET(failures, failures_in(difference, options.thresholds));

  const judge::SpeedComparison speed = compare_speed(*before, *after, difference, options.tolerance);
  const report::DifferenceReport report = {options.before, options.after, &difference, &speed, &*failures};
  TRY(print_document(report::difference_document(report),
                     {{"brief", [&] { return report::print_brief_difference(difference, speed); }},
                      {"json", [&] { return report::print_difference_json(report); }}},
                     options.format, options.output));
  if (failures->empty() && options.fail_if_slower && speed.verdict == judge::SpeedVerdict::slower)
    return fail("--fail-if-slower: {}", slower_on(speed));
  if (failures->empty()) {
    exit_code = options.exit_with_verdict ? exit_code_of(speed.verdict) : 0;
    return {};
  }
  return fail("{} difference{} beyond --fail-if; {}", failures->size(), failures->size() == 1 ? "" : "s",
              printable(report::describe(failures->front())));
}

} // namespace

void declare_diff(const CommandLine& line) {
  Action& chosen = line.chosen;
  int& exit_code = line.exit_code;
  auto* command = line.app.add_subcommand(
      "diff", "whether a program became faster, and what changed; fails where it got worse");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("before", options->before, "a result, as --format json writes it")
      ->required()
      ->type_name("BEFORE");
  command->add_option("after", options->after, "another")->required()->type_name("AFTER");
  add_fail_if_option(
      *command, options->thresholds,
      "[total.]FIGURE OP NUMBER[%]: exit with 1 if a difference, after less before, is beyond\n"
      "this and beyond its 95 % interval; may be given several times");
  command->add_flag("--fail-if-slower", options->fail_if_slower,
                    "exit with 1 if all kernels together are slower on any GPU");
  add_exit_code_option(*command, options->exit_with_verdict);
  add_same_within_option(*command, options->tolerance);
  command->add_option("--kernel", options->kernel, "compare only kernels whose name matches")
      ->type_name("REGEX")
      ->check(CLI::Validator(check_regex, ""));
  command
      ->add_option(
          "--min-share", options->min_share,
          "leave out accesses with a smaller share of the time (without one: of the latency) in both")
      ->check(CLI::Validator(check_fraction, ""))
      ->type_name("FRACTION")
      ->capture_default_str();
  add_document_options(
      *command, options->format, options->output,
      {{"json", "warplens-diff/1"}, {"brief", "the verdicts and what changed most, in 2 KB"}});
  command->footer(fmt::format("  warplens diff before.json after.json --fail-if 'l1_hit_rate<-0.05' "
                              "--fail-if 'total.microseconds>5%'\n\n"
                              "Figures of accesses: {}.\nTotals: {}.\n"
                              "Exit code 0: nothing beyond --fail-if; 1: something is, or the results cannot "
                              "be compared; 2: the command line\nis wrong; 3 to 5: see --exit-code.",
                              fmt::join(judge::site_figures(), ", "),
                              fmt::join(judge::total_figures(), ", ")));
  command->callback([options, &chosen, &exit_code] {
    chosen = [options, &exit_code] { return compare_and_print(*options, exit_code); };
  });
}

} // namespace warplens::driver
