#include "clocks/time_over_clock.h"

#include <algorithm>

namespace warplens::clocks {

double TimeOverClock::clock_for(double misses_per_instruction, double slow_down, double max_clock) const {
  const double allowed = (1 + slow_down) * seconds(misses_per_instruction, max_clock);
  const double left = allowed - memory * misses_per_instruction;
  return left <= 0 ? max_clock : std::min(max_clock, core / left);
}

TimeOverClock fit_time_over_clock(std::span<const ClockSample> samples) {
  double mean_x = 0, mean_y = 0, count = double(samples.size());
  const auto x = [](const ClockSample& sample) { return sample.clock * sample.misses_per_instruction; };
  for (const ClockSample& sample : samples) {
    mean_x += x(sample) / count;
    mean_y += sample.cycles_per_instruction / count;
  }
  double square = 0, product = 0;
  for (const ClockSample& sample : samples) {
    square += (x(sample) - mean_x) * (x(sample) - mean_x);
    product += (x(sample) - mean_x) * (sample.cycles_per_instruction - mean_y);
  }
  const double memory = square == 0 ? 0 : product / square;
  return {memory, mean_y - memory * mean_x};
}

double seconds_at(double max_clock, std::span<const Executed> executed, const TimeOverClock& model) {
  double seconds = 0;
  for (const Executed& part : executed)
    seconds += part.seconds * model.seconds(part.misses_per_instruction, max_clock) /
               model.seconds(part.misses_per_instruction, part.clock);
  return seconds;
}

double seconds_left(double at_max_clock, double elapsed, double slow_down, double instructions) {
  return ((1 + slow_down) * at_max_clock - elapsed) / instructions;
}

} // namespace warplens::clocks
