// `warplens corun`: kernels beside each other on one GPU, and how much longer each takes.

#include "model/corun.h"

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/progress.h"
#include "driver/stages/print.h"
#include "driver/stages/read_kernels.h"
#include "driver/stages/simulate.h"
#include "judge/corun.h"
#include "judge/pair_estimates.h"
#include "model/gpu/occupancy.h"
#include "power/kernel_power.h"
#include "report/camp_report.h"
#include "report/corun_report.h"
#include "support/pattern.h"
#include "toolchain/resources.h"
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
  std::string division = "streams", policy, format = "text";
  std::vector<double> shares;
  std::uint32_t front_end = 1;
  bool share_memory = false, own_queues = false, all_policies = false, estimates = false, search = false;
  ModelOptions model;
  OutputOptions output;
};

constexpr std::uint32_t default_trials = 4;
constexpr double issue_width = 1; // of a scheduler

template <class Enumeration> std::vector<std::string> words_of() {
  return {names_of<Enumeration>.begin(), names_of<Enumeration>.end()};
}

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

/// The traces, and the launch of each that is to run.
struct TracedLaunches {
  std::deque<trace::Reader> traces;
  std::vector<model::CorunLaunch> launches;
};

Expected<TracedLaunches> open_traces(const CorunOptions& options) {
  TracedLaunches traced;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const std::string& file = options.files[i];
    TRY_LET(trace, trace::Reader::open(file));
    traced.traces.push_back(std::move(*trace));
    const std::string kernel =
        options.kernels.empty() ? "" : options.kernels[std::min(i, options.kernels.size() - 1)];
    TRY_LET(launch, launch_of(traced.traces.back(), file, kernel));
    traced.launches.push_back({&traced.traces.back(), *launch});
  }
  return traced;
}

struct NamedArrangement {
  std::string name;
  model::Arrangement arrangement;
};

/// Returns what the options name, or all policies of co-scheduling beside what streams do.
std::vector<NamedArrangement> arrangements_of(const CorunOptions& options) {
  model::Arrangement one{*value_named<Division>(options.division), options.shares, {}, {}};
  one.what_if.own_queues = options.own_queues;
  one.what_if.front_end = options.front_end;
  if (!options.policy.empty())
    one.policy = *value_named<Policy>(options.policy);
  if (!options.all_policies)
    return {{"", one}};
  std::vector<NamedArrangement> all{{"streams", {}}};
  for (const std::string_view policy : names_of<Policy>)
    all.push_back({std::string(policy), {.policy = *value_named<Policy>(policy)}});
  for (const std::uint32_t front_end : {2u, 3u})
    all.push_back({fmt::format("icmt_even, front end {}", front_end),
                   {.policy = Policy::icmt_even, .what_if = {.front_end = front_end}}});
  return all;
}

/// Returns what each launch does alone, which takes further trials.
Expected<std::vector<SharingProfile>> profiles_of(const TracedLaunches& traced, const model::Gpu& gpu,
                                                  const model::CorunOptions& settings) {
  std::vector<SharingProfile> profiles;
  for (const model::CorunLaunch& one : traced.launches) {
    model::Options alone;
    alone.trials = settings.trials;
    alone.seed = settings.seed;
    alone.threads = settings.threads;
    alone.snapshot_blocks = settings.snapshot_blocks;
    alone.sharing = true;
    alone.wants_launch = [&one](const trace::Launch& launch) { return launch.id == one.launch->id; };
    TRY_LET(modelled, model::evaluate(*one.trace, {gpu}, alone));
    if (modelled->kernels.empty() || !modelled->kernels.front().sharing)
      return fail("{}: nothing is known of it alone", one.launch->kernel);
    profiles.push_back(std::move(*modelled->kernels.front().sharing));
  }
  return profiles;
}

/// Adds to a result of two kernels by Division::blocks what CD3 estimates from their profiles.
void add_estimates(std::span<const SharingProfile> profiles, CorunResult& result) {
  std::array<double, 2> warps{};
  for (std::size_t k = 0; k < 2; ++k) {
    if (profiles[k].pipes.empty())
      return;
    warps[k] = std::min(profiles[k].warps, double(result.kernels[k].max_per_sm) * profiles[k].block.warps);
  }
  const auto slow_downs = judge::slow_down_by_pipes(profiles[0], profiles[1], warps, issue_width);
  for (std::size_t k = 0; k < 2; ++k)
    result.kernels[k].estimate = slow_downs[k];
  result.estimated_by = "cd3";
}

Expected<std::vector<report::NamedArrangement>> run_on_machine(const CorunOptions& options,
                                                               const model::Gpu& gpu) {
  TRY_LET(traced, open_traces(options));
  model::CorunOptions settings;
  settings.share_memory = options.share_memory;
  settings.trials = options.model.trials.value_or(default_trials);
  settings.seed = options.model.seed;
  settings.threads = options.model.threads;
  settings.snapshot_blocks = options.model.snapshot_blocks;
  if (options.model.timeline)
    settings.timeline_bins = options.model.timeline_bins.value_or(default_timeline_bins);
  Stage stage("corun", options.output.quiet);
  std::vector<SharingProfile> profiles;
  if (options.estimates || options.search) {
    TRY_LET(profiled, profiles_of(*traced, gpu, settings));
    profiles = std::move(*profiled);
  }
  std::vector<NamedArrangement> named = arrangements_of(options);
  std::optional<PartitionChoice> search;
  if (options.search) {
    search = judge::best_partition(profiles[0], profiles[1], model::sm_limits(gpu), issue_width);
    if (!search)
      return fail("--search: {} has no SM with room for both, or the machine code of one is not known",
                  gpu.id);
    named.front().arrangement.division = Division::blocks;
    for (const std::uint32_t blocks : search->blocks)
      named.front().arrangement.shares.push_back(blocks);
  }
  std::vector<model::Arrangement> arrangements;
  std::ranges::transform(named, std::back_inserter(arrangements), &NamedArrangement::arrangement);
  TRY_LET(results, model::corun(traced->launches, gpu, arrangements, settings));
  std::vector<report::NamedArrangement> arranged;
  for (std::size_t i = 0; i < named.size(); ++i) {
    Expected<CorunResult>& result = (*results)[i];
    if (profiles.size() == 2 && result && result->division == Division::blocks)
      add_estimates(profiles, *result);
    if (result)
      result->search = search;
    if (result && gpu.energies)
      judge::put_watts(*result, *gpu.energies);
    arranged.push_back({named[i].name, std::move(result)});
  }
  stage.done(
      fmt::format("{} kernels on {}, {} trials each", traced->launches.size(), gpu.id, settings.trials));
  return arranged;
}

/// Returns the energies at the result's clock, where the GPU's file has them.
std::optional<power::Energies> energies_of(const KernelResult& kernel) {
  const auto gpu = model::load_gpu(kernel.gpu, toolchain::resources().gpus);
  if (!gpu || !gpu->energies)
    return std::nullopt;
  return power::energies_at(*gpu->energies, kernel.sm_clock_mhz == 0 ? gpu->clock_mhz : kernel.sm_clock_mhz);
}

/// Estimates each pair of the results' kernels, and all of them at once.
Expected<void> estimate_and_print(const CorunOptions& options) {
  TRY_LET(kernels, read_kernels(options.files, {}, options.model, options.output));
  if (kernels->size() < 2)
    return fail("corun needs two kernels: the results have {}", kernels->size());
  const std::optional<power::Energies> known = energies_of(kernels->front());
  const power::Energies* const energies = known ? &*known : nullptr;
  TRY_LET(pairs, judge::estimate_pairs(*kernels, issue_width, energies));
  std::optional<judge::SharedByAll> together;
  if (kernels->size() > 2 && kernels->size() <= judge::max_together) {
    TRY_LET(all, judge::estimate_together(*kernels, energies));
    together = std::move(*all);
  }
  const judge::SharedByAll* const at_once = together ? &*together : nullptr;
  return print_study(
      report::pairs_document(*kernels, *pairs, at_once),
      [&] { return report::print_pairs_json(*kernels, *pairs, at_once); }, options.format, options.output);
}

/// Returns an error if an option was given that says how traces run: results are only estimated.
Expected<void> refuse_machine_options(const CLI::App& command) {
  constexpr std::string_view reason = "results are estimated, and only traces run on the machine";
  TRY(refuse_model_options(command, reason));
  for (const char* name : {"--kernel", "--division", "--split", "--policy", "--policies", "--front-end",
                           "--own-queues", "--estimates", "--search", "--one-program"})
    if (command.count(name) != 0)
      return fail("{}: {}", name, reason);
  return {};
}

/// Returns an error if an option has no effect beside the others.
Expected<void> refuse_ignored(const CorunOptions& options) {
  if (!options.shares.empty() && (options.all_policies || !options.policy.empty()))
    return fail("--split: a policy says how many blocks each kernel has; --division takes shares");
  if (!options.shares.empty() && options.division == "streams")
    return fail(
        "--split: streams take what those before them leave; --division sms, blocks or mig takes shares");
  return {};
}

Expected<void> corun_and_print(const CorunOptions& options, const CLI::App& command) {
  TRY(refuse_ignored(options));
  const auto traces = std::ranges::count_if(options.files, is_trace);
  if (traces == 0) {
    TRY(refuse_machine_options(command));
    return estimate_and_print(options);
  }
  if (std::size_t(traces) != options.files.size())
    return fail("traces run beside each other, and results are estimated: name either");
  if (options.files.size() < 2)
    return fail("corun needs two traces: name two, or one twice");
  if (options.estimates && options.files.size() != 2)
    return fail("an estimate is of two kernels, and there are {}", options.files.size());
  if (options.search && options.files.size() != 2)
    return fail("--search: a partition is between two kernels, and there are {}", options.files.size());
  TRY_LET(gpus, load_gpus(options.model));
  if (gpus->size() != 1)
    return fail("kernels run beside each other on one GPU; --gpu names {}", gpus->size());
  TRY_LET(results, run_on_machine(options, gpus->front()));
  if (options.all_policies)
    return print_study(
        report::arrangements_document(*results), [&] { return report::print_arrangements_json(*results); },
        options.format, options.output);
  TRY_LET(result, std::move(results->front().result));
  return print_study(
      report::corun_document(*result), [&] { return report::print_corun_json(*result); }, options.format,
      options.output);
}

} // namespace

void declare_corun(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "corun", "kernels beside each other on one GPU, and how much longer each takes");
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
  auto* division =
      command
          ->add_option("--division", options->division,
                       "streams: each kernel fills what those before it leave; sms: each has SMs of its own, "
                       "as with MPS;\n"
                       "blocks: each has a number of blocks on every SM; mig: each has an instance, with its "
                       "part of L2 and memory")
          ->check(CLI::IsMember(words_of<Division>()))
          ->capture_default_str();
  command
      ->add_option("--split", options->shares,
                   "each kernel's percentage of the SMs, its blocks on an SM, or the slices of its instance")
      ->delimiter(',')
      ->type_name("N,N[,N...]");
  auto* policy = command
                     ->add_option("--policy", options->policy,
                                  "a policy of co-scheduling two kernels, of Xu's thesis, in place of a "
                                  "division: inter: half of the SMs each;\n"
                                  "intra: at most half of each SM's warps; icmt_max: the most warps; "
                                  "icmt_even: about as many warps each")
                     ->check(CLI::IsMember(words_of<Policy>()))
                     ->excludes(division);
  auto* policies = command->add_flag("--policies", options->all_policies, "compare all policies, and streams")
                       ->excludes(division)
                       ->excludes(policy);
  command
      ->add_option(
          "--front-end", options->front_end,
          "what if a scheduler could issue from this number of warps in a cycle, each to another pipe")
      ->check(CLI::Range(1, 4))
      ->type_name("N")
      ->capture_default_str()
      ->excludes(policies);
  command
      ->add_flag("--own-queues", options->own_queues,
                 "what if each kernel had a queue of its own to the memory pipeline (icmt_* have that)")
      ->excludes(policies);
  command->add_flag(
      "--estimates", options->estimates,
      "say beside trials of two kernels with blocks on the same SMs what CD3 estimates from what each "
      "does alone");
  command
      ->add_flag("--search", options->search,
                 "run two kernels with those numbers of blocks on an SM of which CD3 expects the most")
      ->excludes(division)
      ->excludes(policy)
      ->excludes(policies);
  command->add_flag("--one-program", options->share_memory,
                    "equal addresses are one memory, as with streams of one program (else each has its own)");
  add_model_options(
      *command, options->model,
      {.without_clock = false, .l2_begin = false, .ends_early = false, .sharing = false, .trials = "4"});
  add_document_options(*command, options->format, options->output, {{"json", "warplens-corun/1"}});
  add_quiet_option(*command, options->output.quiet);
  command->callback([options, command, &chosen] {
    choose_timeline(options->model, options->format == "html" && !options->all_policies);
    chosen = [options, command] { return corun_and_print(*options, *command); };
  });
}

} // namespace warplens::driver
