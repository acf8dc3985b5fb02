#include "driver/stages/simulate.h"

#include "driver/interruption.h"
#include "driver/live_table.h"
#include "driver/progress.h"
#include "driver/stages/kernel_identity.h"
#include "judge/application.h"
#include "model/gpu/sm_clock.h"
#include "model/launch_shares.h"
#include "model/model.h"
#include "report/preview.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/pattern.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <unistd.h>

namespace warplens::driver {
namespace {

/// Sets the enumerator that the word stands for; an empty word changes nothing.
template <class Choice>
void choose(Choice& choice, const std::vector<std::string>& words, const std::string& word) {
  if (!word.empty())
    choice = Choice(std::find(words.begin(), words.end(), word) - words.begin());
}

using Clock = std::chrono::steady_clock;

/// Returns whether someone waits for figures, or for an end.
bool wants_first_answer(const ModelOptions& options, const OutputOptions& output) {
  const bool is_watched = !output.quiet && isatty(STDERR_FILENO) != 0;
  return !options.without_clock && options.ranks.count == 1 && (is_watched || options.budget_seconds);
}

/// A program with more launches than these is modelled as a whole: first all of them on a part of the
/// machine, then those on all of it that make up most of the time.
constexpr std::size_t few_launches = 8;
constexpr double share_to_refine = 0.95;
/// The work of such a launch's first answer, on any machine: half a second of one core.
constexpr std::uint64_t work_of_one_of_many = 500'000;

/// Returns the work on each kernel for a first answer in about two seconds for all of them.
std::uint64_t work_of_first_answer(const ModelOptions& wanted, std::size_t kernels) {
  // A core of 2.4 GHz visits about a million transactions and instructions a second (bench_model).
  constexpr double work_per_second = 1e6, seconds = 2;
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double time = wanted.budget_seconds ? std::min(seconds, *wanted.budget_seconds / 2) : seconds;
  return std::uint64_t(std::max(1.0, time * work_per_second * cores / double(kernels)));
}

/// Models each kernel on a part of each GPU.
Expected<Result> first_answer(const trace::Reader& trace, const std::vector<model::Gpu>& gpus,
                              model::Options options, std::uint64_t work) {
  options.first_answer_work = work;
  options.stop = InterruptionWatch::was_interrupted; // a budget ends with this answer at least
  options.timeline_bins = 0;
  options.sharing = false;
  return model::evaluate(trace, gpus, options);
}

/// Returns, for each kernel of the first answer, whether it is among those with the most time on its GPU.
std::vector<bool> with_most_time(const Result& first) {
  std::vector<bool> chosen(first.kernels.size());
  for (const judge::Application& application : judge::applications_of(first)) {
    double share = 0;
    for (const judge::LaunchTotal& total : application.totals) {
      if (share >= share_to_refine)
        break;
      share += total.share;
      chosen[std::size_t(total.kernel - first.kernels.data())] = true;
    }
  }
  return chosen;
}

/// The kernels of a trace, as they are ordered in its result, and those that need not be modelled.
struct Kernels {
  std::vector<KernelIdentity> identities; ///< empty: not asked for
  std::vector<const KernelResult*> equal; ///< by launch and GPU; null: it is to be modelled
  std::set<std::uint32_t> launches;       ///< that are modelled
};

/// Finds the launches that `known` has on every GPU.
void find_equal_launches(Kernels& kernels, const Result& known,
                         const std::vector<const trace::Launch*>& launches,
                         const std::vector<model::Gpu>& gpus) {
  for (std::size_t launch = 0; launch < launches.size(); ++launch) {
    std::vector<const KernelResult*> equal;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
      equal.push_back(find_equal(known, kernels.identities[launch * gpus.size() + gpu],
                                 launches[launch]->kernel, gpus[gpu].id));
    if (std::ranges::count(equal, nullptr) == 0)
      kernels.launches.erase(launches[launch]->id);
    else
      std::ranges::fill(equal, nullptr);
    std::ranges::copy(equal, kernels.equal.begin() + std::ptrdiff_t(launch * gpus.size()));
  }
}

/// Puts the kernels that were not modelled at their places, with their launches in this trace.
void put_equal(Result& result, const Kernels& kernels, const trace::Reader& trace,
               const std::vector<const trace::Launch*>& launches) {
  const std::vector<model::LaunchShare> shares = model::launch_shares(trace);
  std::vector<KernelResult> all;
  auto modelled = result.kernels.begin();
  const std::size_t gpus = kernels.equal.size() / launches.size();
  for (std::size_t index = 0; index < kernels.equal.size(); ++index) {
    if (kernels.equal[index] == nullptr) {
      all.push_back(std::move(*modelled++));
      continue;
    }
    KernelResult& kernel = all.emplace_back(*kernels.equal[index]);
    const trace::Launch& launch = *launches[index / gpus];
    model::set_launch(kernel, launch.id, shares[std::size_t(&launch - trace.launches().data())]);
  }
  result.kernels = std::move(all);
}

/// Sets the identities of the kernels whose trials ended by themselves.
void put_identities(Result& result, const std::vector<KernelIdentity>& identities) {
  if (result.kernels.size() == identities.size())
    for (std::size_t index = 0; index < identities.size(); ++index)
      if (result.kernels[index].trials.stopped_by != StoppedBy::request)
        result.kernels[index].identity = identities[index];
}

} // namespace

Expected<std::vector<model::Gpu>> load_gpus(const ModelOptions& options) {
  const std::vector<std::string>& names = options.gpus;
  std::vector<model::Gpu> gpus;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      continue; // requested twice, modelled once
    TRY_LET(gpu, model::load_gpu(*name, toolchain::resources().gpus));
    if (options.policy)
      set_policy(*gpu, *options.policy);
    choose(gpu->schedule.placement, model::block_placements(), options.placement);
    choose(gpu->schedule.start, model::block_starts(), options.start);
    if (options.sm_clock_mhz)
      set_sm_clock(*gpu, *options.sm_clock_mhz);
    gpus.push_back(std::move(*gpu));
  }
  return gpus;
}

Expected<Result> simulate(const trace::Reader& trace, const std::vector<model::Gpu>& gpus,
                          const ModelOptions& options, const OutputOptions& output, const std::string& kernel,
                          const std::string& name, const Result* known) {
  const auto is_wanted = [pattern = Pattern(kernel)](const trace::Launch& launch) {
    return pattern.is_found_in(launch.kernel);
  };
  if (std::ranges::none_of(trace.launches(), is_wanted)) {
    const auto& program = name.empty() ? trace.program().name : name;
    if (kernel.empty() || trace.kernel_launches().empty())
      return fail("{}: no instrumented kernel was launched", program);
    return fail("{}: none of the kernels launched matches --kernel '{}' ({} was, for one)", program, kernel,
                display_name(trace.kernel_launches().front().kernel));
  }

  Stage stage("model", output.quiet);
  std::vector<const trace::Launch*> wanted;
  Kernels kernels;
  for (const trace::Launch& launch : trace.launches())
    if (is_wanted(launch)) {
      wanted.push_back(&launch);
      kernels.launches.insert(launch.id);
    }
  if (options.ranks.rank == 0 && (known != nullptr || output.format->has_identities)) {
    TRY_LET(identities, identities_of(trace, gpus, options, is_wanted));
    kernels.identities = std::move(*identities);
  }
  kernels.equal.resize(wanted.size() * gpus.size());
  if (known != nullptr && options.ranks.count == 1)
    find_equal_launches(kernels, *known, wanted, gpus);
  const std::size_t launches = kernels.launches.size();
  const auto is_modelled = [&](const trace::Launch& launch) { return kernels.launches.contains(launch.id); };
  model::Options model_options;
  const std::uint32_t max_trials = options.trials.value_or(options.without_clock ? 64 : 16);
  model_options.trials = max_trials;
  model_options.confidence = confidence_of(options);
  model_options.timeline_bins = options.timeline ? options.timeline_bins.value_or(default_timeline_bins) : 0;
  model_options.sharing = options.sharing;
  model_options.without_clock = options.without_clock;
  model_options.l2_begin = options.l2_begin;
  model_options.registers = options.registers;
  model_options.seed = options.seed;
  model_options.threads = options.threads;
  model_options.ranks = options.ranks;
  model_options.snapshot_blocks = options.snapshot_blocks;
  model_options.wants_launch = is_modelled;
  LiveTable table(output.quiet);
  model_options.progress = [&](const model::TrialProgress& progress) { table.show(progress); };
  const InterruptionWatch watch;
  const Clock::time_point begin = Clock::now();
  model_options.stop = [begin, budget = options.budget_seconds] {
    return InterruptionWatch::was_interrupted() ||
           (budget && std::chrono::duration<double>(Clock::now() - begin).count() >= *budget);
  };
  if (!output.quiet)
    model_options.before_trials = [&](const KernelResult& kernel) {
      table.hide();
      stage.interrupt(report::print_preview(kernel));
    };
  Result first;
  const std::size_t to_model = launches * gpus.size();
  const bool are_many = launches > few_launches && !options.trials && !options.without_clock;
  if (to_model != 0 && (are_many || wants_first_answer(options, output))) {
    const std::uint64_t work =
        are_many && !options.budget_seconds ? work_of_one_of_many : work_of_first_answer(options, to_model);
    TRY_LET(answer, first_answer(trace, gpus, model_options, work));
    first = std::move(*answer);
    model_options.first_answer = &first.kernels;
    model_options.before_trials = {}; // it has been said
  }
  if (are_many)
    model_options.refines = [chosen = with_most_time(first)](std::size_t number) { return chosen[number]; };
  auto result = model::evaluate(trace, gpus, model_options);
  if (!result)
    return result;
  std::uint64_t transactions = 0;
  std::uint32_t fewest = max_trials, most = 0;
  for (const auto& modelled : result->kernels) {
    transactions += modelled.snapshot.transactions * modelled.trials.run;
    fewest = std::min(fewest, modelled.trials.run);
    most = std::max(most, modelled.trials.run);
  }
  const std::string trials = fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
  std::string summary = fmt::format("{} launch{} on {} GPU{}, {} trials each, {} transactions", launches,
                                    launches == 1 ? "" : "es", gpus.size(), gpus.size() == 1 ? "" : "s",
                                    trials, grouped(transactions));
  if (to_model == 0)
    summary.clear();
  if (const std::size_t equal = wanted.size() - launches; equal != 0) {
    put_equal(*result, kernels, trace, wanted);
    summary += fmt::format("{}{} launch{} equal, not modelled again", summary.empty() ? "" : "; ", equal,
                           equal == 1 ? "" : "es");
  }
  put_identities(*result, kernels.identities);
  stage.done(summary);
  return result;
}

} // namespace warplens::driver
