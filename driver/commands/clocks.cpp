// `warplens clocks`: the SM clock for each kernel that takes the least energy within a time.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/stages/print.h"
#include "driver/stages/read_kernels.h"
#include "driver/stages/simulate.h"
#include "model/gpu/sm_clock.h"
#include "power/kernel_power.h"
#include "report/clocks_report.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace warplens::driver {
namespace {

constexpr unsigned default_clocks = 8;
constexpr double lowest_default = 0.3; ///< of the file's clock

struct ClocksOptions {
  std::vector<std::string> files;
  std::vector<double> mhz; ///< at which traces are modelled; empty: evenly up to the file's clock
  double slow_down = 5;    ///< in percent
  std::string format = "text";
  ModelOptions model;
  OutputOptions output;
};

/// Returns the GPU at each of the clocks.
std::vector<model::Gpu> at_clocks(const model::Gpu& gpu, const std::vector<double>& mhz) {
  std::vector<model::Gpu> gpus;
  for (const double one : mhz) {
    gpus.push_back(gpu);
    if (one != gpu.clock_mhz)
      set_sm_clock(gpus.back(), one);
  }
  return gpus;
}

std::vector<double> clocks_for(const model::Gpu& gpu, const ClocksOptions& options) {
  if (!options.mhz.empty())
    return options.mhz;
  std::vector<double> mhz;
  for (unsigned i = 0; i < default_clocks; ++i)
    mhz.push_back(
        std::round(gpu.clock_mhz * (lowest_default + (1 - lowest_default) * i / (default_clocks - 1))));
  return mhz;
}

/// A launch in the results of all clocks: those of a kernel are counted in their order.
using LaunchKey = std::tuple<std::string, std::uint64_t, std::size_t>; // name, blocks, number

/// Collects each launch's time and energy at each clock.
class Slots {
public:
  explicit Slots(const model::Gpu& gpu) : gpu_(gpu) {}

  Expected<void> add(const KernelResult& kernel) {
    if (kernel.gpu != gpu_.id)
      return fail("{} is of {}, other results of {}: a plan is for one GPU", kernel.name, kernel.gpu,
                  gpu_.id);
    const double mhz = kernel.sm_clock_mhz == 0 ? gpu_.clock_mhz : kernel.sm_clock_mhz;
    TRY_LET(power, kernel_power(kernel, *gpu_.energies, mhz));
    const std::size_t number = numbers_[{kernel.name, kernel.grid.count(), mhz}]++;
    auto [found, is_new] = index_.try_emplace({kernel.name, kernel.grid.count(), number}, slots_.size());
    if (is_new) {
      kernels_.push_back({kernel.name, kernel.launches});
      slots_.emplace_back();
      by_clock_.emplace_back();
    }
    by_clock_[found->second].push_back({mhz, &kernel, power->watts.all() - power->watts.event_watts(),
                                        power->watts.event_watts() * power->seconds, power->seconds});
    power::Slot& slot = slots_[found->second];
    slot.push_back({mhz, power->seconds, power->joules.value});
    clocks_.insert(mhz);
    return {};
  }

  /// Lets each launch stand for those like it.
  Expected<void> finish() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].size() != clocks_.size())
        return fail("{} is there at {} of {} clocks: each result must be of the same launches",
                    kernels_[slot].name, slots_[slot].size(), clocks_.size());
      kernels_[slot].launches = std::max<std::uint64_t>(1, kernels_[slot].launches);
      for (power::ClockChoice& choice : slots_[slot]) {
        choice.seconds *= double(kernels_[slot].launches);
        choice.joules *= double(kernels_[slot].launches);
      }
      std::ranges::sort(slots_[slot], {}, &power::ClockChoice::mhz);
      std::ranges::sort(by_clock_[slot], {}, &AtClock::mhz);
    }
    if (clocks_.size() < 2)
      return fail("all results are of one clock: a trace is modelled at several, and `--sm-clock` gives "
                  "results of others");
    return {};
  }

  judge::ClockPlans plans(double slow_down) && {
    const std::vector<power::Stretch> launches = stretches();
    return judge::make_plans(gpu_.id, std::move(kernels_), std::move(slots_), slow_down, launches);
  }

private:
  /// A launch at one of the clocks.
  struct AtClock {
    double mhz = 0;
    const KernelResult* kernel = nullptr;
    double rest_watts = 0, event_joules = 0, seconds = 0;
  };

  /// Returns the launches in rounds, in each of which every launch comes that has one left; of many launches
  /// several are one stretch.
  std::vector<power::Stretch> stretches() const {
    std::uint64_t most = 0, all = 0;
    for (const judge::ClockedKernel& kernel : kernels_) {
      most = std::max(most, kernel.launches);
      all += kernel.launches;
    }
    const std::uint64_t together = all / max_stretches + 1;
    std::vector<power::Stretch> stretches;
    for (std::uint64_t round = 0; round < most; round += together)
      for (std::size_t slot = 0; slot < slots_.size(); ++slot)
        if (round < kernels_[slot].launches)
          stretches.push_back(
              stretch_of(by_clock_[slot], double(std::min(together, kernels_[slot].launches - round))));
    return stretches;
  }

  static power::Stretch stretch_of(const std::vector<AtClock>& clocks, double launches) {
    const Events& events = *clocks.front().kernel->events;
    const auto count = [&](MemoryEvent event) { return events.memory[std::size_t(event)]; };
    double instructions = 0;
    for (const Instructions& kind : events.instructions)
      instructions += kind.warps;
    power::Stretch stretch;
    stretch.misses_per_instruction =
        (count(MemoryEvent::l2_read_miss) + count(MemoryEvent::l2_write_miss)) / std::max(1.0, instructions);
    const double launch_scale = clocks.front().seconds / power::activity_of(*clocks.front().kernel).seconds;
    stretch.instructions = std::max(1.0, instructions) * launch_scale * launches;
    for (const AtClock& one : clocks) {
      stretch.seconds.push_back(one.seconds * launches);
      stretch.rest_watts.push_back(one.rest_watts);
      stretch.event_joules.push_back(one.event_joules * launches);
    }
    return stretch;
  }

  static constexpr std::uint64_t max_stretches = 10'000;

  const model::Gpu& gpu_;
  std::map<std::tuple<std::string, std::uint64_t, double>, std::size_t> numbers_;
  std::map<LaunchKey, std::size_t> index_;
  std::set<double> clocks_;
  std::vector<judge::ClockedKernel> kernels_;
  std::vector<power::Slot> slots_;
  std::vector<std::vector<AtClock>> by_clock_; ///< of each slot
};

Expected<void> check_energies(const model::Gpu& gpu) {
  if (!gpu.energies)
    return fail("{} ({}): no board's power was measured, so that its file has no [power], and no plan of "
                "clocks can be made",
                gpu.name, gpu.id);
  return {};
}

Expected<void> plan_and_print(const ClocksOptions& options, const CLI::App& command) {
  std::vector<model::Gpu> gpus;
  if (std::ranges::any_of(options.files, is_trace)) {
    TRY_LET(loaded, load_gpus(options.model));
    if (loaded->size() != 1)
      return fail("a plan is for one GPU; --gpu names {}", loaded->size());
    TRY(check_energies(loaded->front()));
    const std::vector<double> mhz = clocks_for(loaded->front(), options);
    for (const double one : mhz)
      if (!power::squared_voltage(*loaded->front().energies, one))
        return fail("{}: the file has no [power] voltage for {:g} MHz, so that no energy is known there",
                    loaded->front().id, one);
    gpus = at_clocks(loaded->front(), mhz);
  } else {
    constexpr std::string_view reason = "results have been modelled, and only traces are";
    TRY(refuse_model_options(command, reason));
    if (!options.mhz.empty())
      return fail("--clocks: {}", reason);
  }
  TRY_LET(kernels, read_kernels(options.files, gpus, options.model, options.output));
  if (kernels->empty())
    return fail("{}: there is no kernel", options.files.front());
  TRY_LET(gpu, model::load_gpu(gpus.empty() ? kernels->front().gpu : options.model.gpus.front(),
                               toolchain::resources().gpus));
  TRY(check_energies(*gpu));
  Slots slots(*gpu);
  for (const KernelResult& kernel : *kernels)
    TRY(slots.add(kernel));
  TRY(slots.finish());
  const judge::ClockPlans plans = std::move(slots).plans(options.slow_down / 100);
  return print_study(
      report::clocks_document(plans), [&] { return report::print_clocks_json(plans); }, options.format,
      options.output);
}

} // namespace

void declare_clocks(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("clocks", "the SM clock for each kernel with the least energy within a time");
  auto options = std::make_shared<ClocksOptions>();
  command
      ->add_option("files", options->files,
                   "a trace, which is modelled at several clocks, or results of several clocks (--sm-clock)")
      ->required()
      ->type_name("TRACE|RESULT...");
  command->add_option("--clocks", options->mhz, "the clocks in MHz (default: 8 up to the file's)")
      ->delimiter(',')
      ->check(CLI::Range(model::min_sm_clock_mhz, model::max_sm_clock_mhz))
      ->type_name("MHZ[,MHZ...]")
      ->expected(1, 64);
  command->add_option("--slow-down", options->slow_down, "how much longer all may take, in percent")
      ->check(CLI::Range(0.0, 10'000.0))
      ->type_name("PERCENT")
      ->capture_default_str();
  add_model_options(*command, options->model,
                    {.without_clock = false, .sm_clock = false, .timeline = false, .sharing = false});
  add_document_options(*command, options->format, options->output, {{"json", "warplens-clocks/1"}});
  add_quiet_option(*command, options->output.quiet);
  command->callback([options, command, &chosen] {
    chosen = [options, command] { return plan_and_print(*options, *command); };
  });
}

} // namespace warplens::driver
