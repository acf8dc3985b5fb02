#include "power/clocks/windows.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace warplens::power {
namespace {

constexpr double min_spread = 1e-9; ///< of what a line is fitted to, relative: a point has no slope

/// Seconds per instruction = misses × per instruction + cycles / clock in Hz.
struct TimeModel {
  double misses = 0, cycles = 0;

  double seconds(double misses_per_instruction, double hz) const {
    return misses * misses_per_instruction + cycles / hz;
  }
};

class Governor {
public:
  Governor(std::span<const Stretch> stretches, std::span<const double> mhz, const WindowOptions& options)
      : stretches_(stretches), options_(options), fastest_(mhz.size() - 1) {
    for (const double one : mhz)
      hz_.push_back(one * 1e6);
  }

  WindowRun run() {
    double errors = 0;
    std::size_t predicted = 0;
    for (std::size_t number = 0; number < stretches_.size(); ++number) {
      if (number != 0 && number % options_.control == 0)
        decide();
      const std::size_t clock = next_clock();
      const Stretch& stretch = stretches_[number];
      const double seconds = stretch.seconds[clock];
      if (model_) {
        errors += std::abs(
            model_->seconds(stretch.misses_per_instruction, hz_[clock]) * stretch.instructions / seconds - 1);
        ++predicted;
      }
      run_.chosen.push_back(clock);
      run_.seconds += seconds;
      run_.joules += stretch.joules(clock);
      retired_ += stretch.instructions;
    }
    run_.error = predicted == 0 ? 0 : errors / double(predicted);
    return std::move(run_);
  }

private:
  /// A slot of misses per instruction, with what the window has of it.
  struct MissSlot {
    double instructions = 0, misses = 0;
    std::vector<double> event_joules, rest_watts; ///< summed, the second over stretches
    double stretches = 0;
    std::size_t clock = 0;
  };

  std::size_t slot_of(double misses_per_instruction) const {
    if (width_ == 0)
      return 0;
    const double slot = (misses_per_instruction - least_) / width_;
    return std::size_t(std::clamp(slot, 0.0, double(slots_.size() - 1)));
  }

  /// Returns the clock of the slot in which the last stretch was.
  std::size_t next_clock() const {
    if (slots_.empty())
      return fastest_;
    const double last = stretches_[run_.chosen.size() - 1].misses_per_instruction;
    const MissSlot& slot = slots_[slot_of(last)];
    return slot.instructions > 0 ? slot.clock : fastest_;
  }

  /// Fits cycles per instruction = misses × clock × misses per instruction + cycles. Where the last stretches
  /// were alike, a line through them is not known: the slope stays what it was.
  void fit() {
    const std::size_t done = run_.chosen.size(), from = done - std::min(done, options_.fitted);
    double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (std::size_t number = from; number < done; ++number) {
      const Stretch& one = stretches_[number];
      const double hz = hz_[run_.chosen[number]];
      const double x = hz * one.misses_per_instruction;
      const double y = one.seconds[run_.chosen[number]] * hz / one.instructions;
      ++n, sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
    }
    const double spread = sum_xx - sum_x * sum_x / n;
    double slope = model_ ? model_->misses : 0;
    if (spread > min_spread * sum_xx)
      slope = std::max(0.0, (sum_xy - sum_x * sum_y / n) / spread);
    double cycles = (sum_y - slope * sum_x) / n;
    if (cycles < 0) { // all of the time goes with the misses
      cycles = 0;
      slope = sum_x > 0 ? sum_y / sum_x : 0;
    }
    model_ = TimeModel{slope, cycles};
  }

  void fill_slots() {
    const std::size_t done = run_.chosen.size();
    const auto window =
        stretches_.subspan(done - std::min(done, options_.window), std::min(done, options_.window));
    const auto [least, most] = std::ranges::minmax(window, {}, &Stretch::misses_per_instruction);
    least_ = least.misses_per_instruction;
    width_ = (most.misses_per_instruction - least_) / double(options_.slots);
    slots_.assign(options_.slots, {});
    for (const Stretch& one : window) {
      MissSlot& slot = slots_[slot_of(one.misses_per_instruction)];
      slot.event_joules.resize(hz_.size());
      slot.rest_watts.resize(hz_.size());
      slot.instructions += one.instructions;
      slot.misses += one.misses_per_instruction * one.instructions;
      ++slot.stretches;
      for (std::size_t clock = 0; clock < hz_.size(); ++clock) {
        slot.event_joules[clock] += one.event_joules[clock];
        slot.rest_watts[clock] += one.rest_watts[clock];
      }
    }
  }

  /// Returns the time that an instruction of the rest may take in the mean.
  double seconds_left(double left, double mean_at_fastest) const {
    double at_fastest = left * mean_at_fastest;
    for (std::size_t number = 0; number < run_.chosen.size(); ++number) {
      const Stretch& one = stretches_[number];
      const std::size_t clock = run_.chosen[number];
      const double mpi = one.misses_per_instruction, here = model_->seconds(mpi, hz_[clock]);
      at_fastest += one.seconds[clock] * (here > 0 ? model_->seconds(mpi, hz_[fastest_]) / here : 1);
    }
    return ((1 + options_.slow_down) * at_fastest - run_.seconds) / left;
  }

  /// Gives each slot its clock for the next control period.
  void decide() {
    if (period_ == 0)
      period_ = retired_;
    fit();
    fill_slots();
    double all = 0;
    for (const MissSlot& slot : slots_)
      all += slot.instructions;
    std::vector<Slot> choices;
    std::vector<MissSlot*> filled;
    double mean_at_fastest = 0;
    for (MissSlot& slot : slots_) {
      if (slot.instructions == 0)
        continue;
      const double share = slot.instructions / all, mpi = slot.misses / slot.instructions;
      Slot choices_of_slot;
      for (std::size_t clock = 0; clock < hz_.size(); ++clock) {
        const double seconds = model_->seconds(mpi, hz_[clock]);
        choices_of_slot.push_back({hz_[clock] * 1e-6, share * seconds,
                                   share * (slot.event_joules[clock] / slot.instructions +
                                            slot.rest_watts[clock] / slot.stretches * seconds)});
      }
      mean_at_fastest += choices_of_slot[fastest_].seconds;
      choices.push_back(std::move(choices_of_slot));
      filled.push_back(&slot);
    }
    const double left = std::clamp(retired_, period_, options_.max_periods_left * period_);
    const Plan plan = cheapest_plan(choices, seconds_left(left, mean_at_fastest));
    for (std::size_t i = 0; i < filled.size(); ++i)
      filled[i]->clock = plan.is_within ? plan.chosen[i] : fastest_;
  }

  std::span<const Stretch> stretches_;
  const WindowOptions& options_;
  std::vector<double> hz_;
  std::size_t fastest_;
  WindowRun run_;
  std::optional<TimeModel> model_;
  std::vector<MissSlot> slots_;
  double least_ = 0, width_ = 0; ///< of the slots' misses per instruction
  double retired_ = 0;
  double period_ = 0; ///< instructions of the first control period
};

} // namespace

WindowRun run_windows(std::span<const Stretch> stretches, std::span<const double> mhz,
                      const WindowOptions& options) {
  return Governor(stretches, mhz, options).run();
}

} // namespace warplens::power
