// `warplens explain`: says which counters, lines and resources the time of many runs grows with.

#include "significance/explain.h"

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/help/groups.h"
#include "driver/stages/print.h"
#include "driver/stages/read_runs.h"
#include "import/dashing.h"
#include "report/report.h"
#include "report/significance/document.h"
#include "significance/compare.h"
#include "significance/from_measurements.h"
#include "support/display_name.h"
#include "support/files.h"
#include "support/pattern.h"
#include "support/terminal_text.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tbb/global_control.h>
#include <thread>

namespace warplens::driver {
namespace {

using namespace significance;

struct ExplainCommand {
  RunSources sources;
  std::string preset = "default", kernel, measure, by = "access";
  ExplainOptions changes; ///< the values of options that were given
  bool no_intercept = false, either_sign = false;
  std::vector<std::string> compare, groups;
  unsigned threads = 0;
  std::string format = "text";
  OutputOptions output;
  CLI::App* command = nullptr;

  bool given(const char* option) const { return command->count(option) > 0; }
};

Measure measure_named(const std::string& name) {
  return name == "reduction" ? Measure::reduction
         : name == "belief"  ? Measure::corrected_belief
         : name == "literal" ? Measure::literal_belief
                             : Measure::ranked_error;
}

/// Returns the preset's choices with those of the command line.
Expected<ExplainOptions> options_of(const ExplainCommand& command) {
  TRY_LET(options, preset_named(command.preset));
  if (command.given("--sparsity"))
    options->sparsity = command.changes.sparsity;
  if (command.given("--candidates"))
    options->selection.candidates = command.changes.selection.candidates;
  if (command.given("--draws"))
    options->draws = command.changes.draws;
  if (!command.measure.empty())
    options->ranking = measure_named(command.measure);
  if (command.no_intercept)
    options->selection.intercept = false;
  if (command.either_sign)
    options->selection.nonnegative = false;
  if (command.given("--scale-by") && command.changes.target.name.find("effloss") == std::string::npos)
    return fail("--scale-by is for --target effloss, and the target is {}", command.changes.target.name);
  options->seed = command.changes.seed;
  options->target = command.changes.target;
  options->workload = command.changes.workload;
  options->grouping = command.by == "line"     ? Grouping::line
                      : command.by == "kernel" ? Grouping::kernel
                                               : Grouping::access;
  return options;
}

/// Checks that each run has the parameter that parts runs into workloads.
Expected<void> check_workload(const std::string& parameter, const RunSet& runs) {
  if (parameter.empty())
    return {};
  for (const Region& region : runs.regions)
    for (const Parameters& run : region.runs)
      if (!value_of(run, parameter))
        return fail("--workload {}: {} has a run without this parameter: {}", parameter,
                    printable(region.name), significance::text_of(run));
  return {};
}

Expected<ResourceGroups> read_groups(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> all(files.begin(), files.end()); // the user's decide first
  TRY_LET(shipped, list_group_files(toolchain::resources().groups));
  all.insert(all.end(), shipped->begin(), shipped->end());
  return ResourceGroups::read(all);
}

bool is_named(const Region& region, const std::string& name) {
  return import::base_name(display_name(region.kernel)) == name || region.name == name ||
         region.kernel == name;
}

/// Compares each region of the first name, in the first set, with that of the second name on the same GPU, in
/// the last set.
Expected<void> add_comparisons(const std::string& names, const std::vector<RunSet>& sets,
                               const ResourceGroups& groups, const ExplainOptions& options,
                               Significance& found) {
  const std::size_t comma = names.find(',');
  const std::string first = names.substr(0, comma),
                    second = comma == std::string::npos ? first : names.substr(comma + 1);
  if (comma == std::string::npos && sets.size() < 2)
    return fail("--compare {}: name two kernels, or two sweeps", names);
  bool any = false;
  for (const Region& base : sets.front().regions)
    for (const Region& other : sets.back().regions) {
      if (!is_named(base, first) || !is_named(other, second) || base.gpu != other.gpu || &base == &other)
        continue;
      any = true;
      const auto index = static_cast<std::uint32_t>(found.comparisons.size());
      found.comparisons.push_back(compare_regions(base, other, index, groups, options));
      const auto explained = std::ranges::find(found.regions, other.name, &RegionSignificance::name);
      found.similarities.push_back(similarity_of(base, other, groups, options,
                                                 explained == found.regions.end() ? nullptr : &*explained));
    }
  if (any)
    return {};
  std::string known;
  for (const RunSet& set : sets)
    for (const Region& region : set.regions)
      known += (known.empty() ? "" : ", ") + region.name;
  return fail("--compare {}: not modelled on the same GPU; there are {}", names, known);
}

/// Returns the report page with what was found.
Expected<std::string> page_of(const Significance& found) {
  TRY_LET(page, read_file(toolchain::resources().page));
  const nlohmann::ordered_json json = to_json(found);
  return report::print_page({}, {*page, toolchain::version, {}, &json});
}

Expected<void> print_found(const Significance& found, const ExplainCommand& command) {
  return print_document(report::significance_document(found),
                        {{"json", [&] { return report::print_significance_json(found); }},
                         {"html", [&] { return page_of(found); }}},
                        command.format, command.output);
}

Expected<void> explain(const ExplainCommand& command) {
  if (command.format == "html")
    TRY(check_page());
  TRY(check_writable(command.output.file));
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  command.threads == 0 ? std::max(1u, std::thread::hardware_concurrency())
                                                       : command.threads);
  TRY_LET(options, options_of(command));
  TRY_LET(groups, read_groups(command.groups));
  TRY_LET(sets, read_runs(command.sources));
  if (!command.kernel.empty())
    for (RunSet& set : *sets)
      std::erase_if(set.regions, [pattern = Pattern(command.kernel)](const Region& region) {
        return !pattern.is_found_in(region.name) && !pattern.is_found_in(region.kernel);
      });
  Significance found;
  found.options = *options;
  RunSet all;
  for (const RunSet& set : *sets) {
    all.regions.insert(all.regions.end(), set.regions.begin(), set.regions.end());
    found.notes.insert(found.notes.end(), set.notes.begin(), set.notes.end());
  }
  if (all.regions.empty())
    return fail("no kernel{}",
                command.kernel.empty() ? "" : fmt::format(" matches --kernel '{}'", command.kernel));
  TRY(check_workload(options->workload, all));
  if (command.format == "dashing") {
    TRY_LET(table, dashing_table_of(all, options->target));
    return print_text(import::write_dashing(*table), command.output.file);
  }
  found.regions = explain_regions(all, *groups, *options);
  for (const std::string& names : command.compare)
    TRY(add_comparisons(names, *sets, *groups, *options, found));
  TRY(print_found(found, command));
  const auto has_error = [](const RegionSignificance& region) { return region.error.has_value(); };
  if (std::ranges::all_of(found.regions, has_error))
    return fail("nothing could be explained: {}: {}", printable(found.regions.front().name),
                *found.regions.front().error);
  return {};
}

} // namespace

void declare_explain(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "explain", "which counters, lines and resources the time of many runs grows with");
  auto options = std::make_shared<ExplainCommand>();
  options->command = command;
  command
      ->add_option(
          "runs", options->sources.inputs,
          "folders of `warplens sweep`, results (.json), or tables of ncu, nvprof, dashing or runs (.csv)")
      ->type_name("RUNS");
  command
      ->add_option("--measured", options->sources.measured,
                   "tables of ncu or nvprof, to join to the profiles' runs")
      ->type_name("FILE...");
  command
      ->add_option("--key", options->sources.key,
                   "the files' names, with {NAME} for a parameter: 'gemm_{n}.csv'")
      ->type_name("PATTERN");
  command->add_flag("--each-launch", options->sources.each_launch,
                    "each measured launch is a run (else their mean)");
  command
      ->add_option_function<std::string>(
          "--units", [options](const std::string&) { options->sources.base_units = true; },
          "base: a table without a row of units is in bytes and ns")
      ->check(CLI::IsMember({"base"}));
  command
      ->add_option(
          "--target", options->changes.target.name,
          "what is explained: time (measured, else modelled), modelled_time, latency, dram_bytes, 1-ul, "
          "score, effloss, or a counter; inverse:NAME, oneminus:NAME")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--scale-by", options->changes.target.scale_by,
                   "effloss: the parameter that counts processors")
      ->type_name("PARAM");
  command->add_option("--by", options->by, "what counters are of, and what they are grouped by")
      ->check(CLI::IsMember({"access", "kernel", "line"}))
      ->capture_default_str();
  command->add_option("--kernel", options->kernel, "only kernels whose name matches")
      ->check(CLI::Validator(check_regex, ""))
      ->type_name("REGEX");
  command
      ->add_option("--compare", options->compare,
                   "two kernels, or one kernel of two sweeps: what the faster one does more of")
      ->type_name("A,B")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--workload", options->changes.workload, "the parameter that parts runs into workloads")
      ->type_name("PARAM");
  command
      ->add_option("--groups", options->groups,
                   "further resource groups, which decide before the shipped ones")
      ->type_name("FILE.toml");
  command->add_option("--as", options->preset, "all of the method's choices at once")
      ->check(CLI::IsMember({"default", "paper", "dashing"}))
      ->capture_default_str();
  std::optional<help::GroupScope> group(std::in_place, *command, help::rare_group);
  command
      ->add_option("--sparsity", options->changes.sparsity,
                   "from 1: at most as many counters explain together; below 1: the paper's sparsity")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("N");
  command
      ->add_option("--candidates", options->changes.selection.candidates,
                   "among how many columns a draw chooses")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command->add_option("--draws", options->changes.draws, "how many draws are averaged, at most")
      ->check(CLI::Range(20, 10'000'000))
      ->type_name("N");
  command->add_option("--measure", options->measure, "the figure that resources are ranked by")
      ->check(CLI::IsMember({"reduction", "belief", "literal", "ranked"}));
  command->add_flag("--no-intercept", options->no_intercept,
                    "do not centre target and counters, as the paper");
  command->add_flag("--signed", options->either_sign, "counters may also make the target smaller");
  command
      ->add_option("--seed", options->changes.seed, "seed of the draws: the same seed gives the same result")
      ->capture_default_str();
  command
      ->add_option("--threads", options->threads,
                   "cores to work with (0: all); the result does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  group.reset();
  add_document_options(
      *command, options->format, options->output,
      {{"json", "warplens-significance/1"}, {"dashing", "the runs themselves, as a table for that tool"}});
  set_usage(*command, "warplens explain RUNS... [--measured FILE...] [OPTIONS]");
  command->footer("  warplens explain sweep/ --target time --by line\n"
                  "  warplens explain --measured ncu/*.csv --key 'gemm_{n}.csv'\n"
                  "  warplens explain base/ optimised/ --compare tiled,unrolled");
  command->callback([options, &chosen] { chosen = [options] { return explain(*options); }; });
}

} // namespace warplens::driver
