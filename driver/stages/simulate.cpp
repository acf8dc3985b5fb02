#include "driver/stages/simulate.h"

#include "driver/interruption.h"
#include "driver/live_table.h"
#include "driver/progress.h"
#include "driver/resources.h"
#include "judge/application.h"
#include "model/gpu/sm_clock.h"
#include "model/model.h"
#include "report/preview.h"
#include "result/figure_text.h"
#include "support/display_name.h"
#include "support/pattern.h"

#include <algorithm>
#include <chrono>
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

} // namespace

Expected<std::vector<model::Gpu>> load_gpus(const ModelOptions& options) {
  const std::vector<std::string>& names = options.gpus;
  std::vector<model::Gpu> gpus;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      continue; // requested twice, modelled once
    TRY_LET(gpu, model::load_gpu(*name, resources().gpus));
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
                          const std::string& name) {
  const auto is_wanted = [pattern = Pattern(kernel)](const trace::Launch& launch) {
    return pattern.is_found_in(launch.kernel);
  };
  const auto launches = std::ranges::count_if(trace.launches(), is_wanted);
  if (launches == 0) {
    const auto& program = name.empty() ? trace.program().name : name;
    if (kernel.empty() || trace.kernel_launches().empty())
      return fail("{}: no instrumented kernel was launched", program);
    return fail("{}: none of the kernels launched matches --kernel '{}' ({} was, for one)", program, kernel,
                display_name(trace.kernel_launches().front().kernel));
  }

  Stage stage("model", output.quiet);
  model::Options model_options;
  const std::uint32_t max_trials = options.trials.value_or(options.without_clock ? 64 : 16);
  model_options.trials = max_trials;
  model_options.confidence = options.confidence.value_or(
      options.without_clock ? model::Confidence{.rate = 0.005, .latency = 0.02} : model::Confidence{});
  model_options.timeline_bins = options.timeline ? options.timeline_bins.value_or(default_timeline_bins) : 0;
  model_options.sharing = options.sharing;
  model_options.without_clock = options.without_clock;
  model_options.l2_begin = options.l2_begin;
  model_options.registers = options.registers;
  model_options.seed = options.seed;
  model_options.threads = options.threads;
  model_options.ranks = options.ranks;
  model_options.snapshot_blocks = options.snapshot_blocks;
  model_options.wants_launch = is_wanted;
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
  const std::size_t kernels = std::size_t(launches) * gpus.size();
  const bool are_many = std::size_t(launches) > few_launches && !options.trials && !options.without_clock;
  if (are_many || wants_first_answer(options, output)) {
    const std::uint64_t work =
        are_many && !options.budget_seconds ? work_of_one_of_many : work_of_first_answer(options, kernels);
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
  stage.done(fmt::format("{} launch{} on {} GPU{}, {} trials each, {} transactions", launches,
                         launches == 1 ? "" : "es", gpus.size(), gpus.size() == 1 ? "" : "s", trials,
                         grouped(transactions)));
  return result;
}

} // namespace warplens::driver
