#include "power/clocks/knapsack.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace warplens::power {
namespace {

/// Sums of the same times in another order differ by less than this share.
constexpr double rounding = 1e-12;

/// A choice that some limit can make the best one.
struct Efficient {
  std::size_t index;
  double seconds, joules;
};

/// Returns the choices that no other one beats in both time and energy, the fastest first.
std::vector<Efficient> efficient_choices(const Slot& slot) {
  std::vector<Efficient> sorted;
  for (std::size_t index = 0; index < slot.size(); ++index)
    sorted.push_back({index, slot[index].seconds, slot[index].joules});
  std::ranges::stable_sort(sorted, {},
                           [](const Efficient& one) { return std::tuple(one.seconds, one.joules); });
  std::vector<Efficient> kept;
  for (const Efficient& one : sorted)
    if (kept.empty() || one.joules < kept.back().joules)
      kept.push_back(one);
  return kept;
}

/// Returns the price of a second at which the cheapest choices of all slots take about `max_seconds`: between
/// two prices at which they take more and less.
double price_of_time(const std::vector<std::vector<Efficient>>& choices, double max_seconds) {
  const auto seconds_at = [&](double price) {
    double seconds = 0;
    for (const auto& slot_choices : choices)
      seconds += std::ranges::min_element(slot_choices, {}, [&](const Efficient& one) {
                   return one.joules + price * one.seconds;
                 })->seconds;
    return seconds;
  };
  if (seconds_at(0) <= max_seconds)
    return 0;
  double low = 0, high = 1;
  while (seconds_at(high) > max_seconds && high < 1e300)
    high *= 2;
  for (unsigned halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (seconds_at(middle) > max_seconds ? low : high) = middle;
  }
  return high;
}

/// A dynamic program over the slots, whose states are the plans so far. At the right price of a second, the
/// sum of energy and priced time is a lower bound (Lagrange) that lies close to the best plan, so that few
/// choices and few states are left.
class Knapsack {
public:
  Knapsack(std::span<const Slot> slots, double max_seconds) : limit_(max_seconds * (1 + rounding)) {
    for (const Slot& slot : slots)
      choices_.push_back(efficient_choices(slot));
    price_ = price_of_time(choices_, limit_);
    for (std::size_t slot = 0; slot < choices_.size(); ++slot)
      min_priced_ += priced(cheapest(slot));
  }

  /// Returns the index of each slot's choice.
  std::vector<std::size_t> solve() {
    best_known_ = greedy_joules();
    order_slots();
    sum_rests();
    fronts_ = {{{0, 0, 0, 0}}};
    for (std::size_t place = 0; place < order_.size(); ++place)
      fronts_.push_back(extended(place));
    std::size_t state = fronts_.back().size() - 1; // the slowest one has the least energy
    std::vector<std::size_t> chosen(choices_.size());
    for (std::size_t place = order_.size(); place-- > 0;) {
      chosen[order_[place]] = fronts_[place + 1][state].choice;
      state = fronts_[place + 1][state].from;
    }
    return chosen;
  }

private:
  /// A plan for the first slots of the order.
  struct State {
    double seconds, joules;
    std::size_t from;   ///< index of the state before the last slot
    std::size_t choice; ///< for that slot
  };
  /// The slots of the order from one on.
  struct Rest {
    double min_seconds = 0;
    double priced = 0;              ///< the least sum of energy and priced time
    double seconds = 0, joules = 0; ///< of the choices that have it
  };

  double priced(const Efficient& one) const { return one.joules + price_ * one.seconds; }
  const Efficient& cheapest(std::size_t slot) const {
    return *std::ranges::min_element(choices_[slot], {}, [&](const Efficient& one) { return priced(one); });
  }
  /// Returns what the sum of energy and priced time of a plan may be, for the plan to be as good as the best
  /// one known.
  double max_priced() const { return (best_known_ + price_ * limit_) * (1 + rounding); }

  /// Returns the energy of a plan within the limit: that of the cheapest choices at the price, and then each
  /// slot takes, in turn, as much of the time left as helps it.
  double greedy_joules() const {
    double left = limit_, joules = 0;
    for (std::size_t slot = 0; slot < choices_.size(); ++slot)
      left -= cheapest(slot).seconds;
    for (std::size_t slot = 0; slot < choices_.size(); ++slot) {
      const Efficient& from = cheapest(slot);
      const Efficient* taken = left < 0 ? &choices_[slot].front() : &from;
      for (const Efficient& one : choices_[slot])
        if (left >= 0 && one.seconds - from.seconds <= left && one.joules < taken->joules)
          taken = &one;
      left -= taken->seconds - from.seconds;
      joules += taken->joules;
    }
    return joules;
  }

  /// Removes the choices that no plan as good as the best one known has, and puts those slots first where the
  /// choice is closest.
  void order_slots() {
    std::vector<double> closeness;
    for (std::size_t slot = 0; slot < choices_.size(); ++slot) {
      const double least = priced(cheapest(slot));
      std::erase_if(choices_[slot],
                    [&](const Efficient& one) { return min_priced_ + priced(one) - least > max_priced(); });
      double second = std::numeric_limits<double>::infinity();
      for (const Efficient& one : choices_[slot])
        if (&one != &cheapest(slot))
          second = std::min(second, priced(one) - least);
      closeness.push_back(second);
      order_.push_back(slot);
    }
    std::ranges::stable_sort(order_, {}, [&](std::size_t slot) { return closeness[slot]; });
  }

  void sum_rests() {
    rests_.resize(order_.size() + 1);
    for (std::size_t place = order_.size(); place-- > 0;) {
      const Rest& after = rests_[place + 1];
      const Efficient& one = cheapest(order_[place]);
      rests_[place] = {after.min_seconds + choices_[order_[place]].front().seconds,
                       after.priced + priced(one), after.seconds + one.seconds, after.joules + one.joules};
    }
  }

  /// Returns the plans with one slot more that no other one beats and that may still become the best one.
  std::vector<State> extended(std::size_t place) {
    const Rest& rest = rests_[place + 1];
    std::vector<State> all;
    for (std::size_t from = 0; from < fronts_[place].size(); ++from)
      for (const Efficient& one : choices_[order_[place]]) {
        const State& before = fronts_[place][from];
        const State state{before.seconds + one.seconds, before.joules + one.joules, from, one.index};
        if (state.seconds + rest.min_seconds <= limit_)
          all.push_back(state);
        if (state.seconds + rest.seconds <= limit_)
          best_known_ = std::min(best_known_, state.joules + rest.joules);
      }
    std::erase_if(all, [&](const State& state) {
      return state.joules + price_ * state.seconds + rest.priced > max_priced();
    });
    std::ranges::stable_sort(all, {},
                             [](const State& state) { return std::tuple(state.seconds, state.joules); });
    std::vector<State> front;
    for (const State& state : all)
      if (front.empty() || state.joules < front.back().joules)
        front.push_back(state);
    return front;
  }

  double limit_, price_ = 0;
  double min_priced_ = 0;                       ///< the least sum of energy and priced time of all slots
  double best_known_ = 0;                       ///< the energy of a plan within the limit
  std::vector<std::vector<Efficient>> choices_; ///< by slot
  std::vector<std::size_t> order_;              ///< of the slots
  std::vector<Rest> rests_;                     ///< by place in the order
  std::vector<std::vector<State>> fronts_;      ///< by the number of slots of the order
};

} // namespace

Plan plan_of(std::span<const Slot> slots, std::vector<std::size_t> chosen) {
  Plan plan;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    plan.seconds += slots[slot][chosen[slot]].seconds;
    plan.joules += slots[slot][chosen[slot]].joules;
  }
  plan.chosen = std::move(chosen);
  return plan;
}

Plan fastest_plan(std::span<const Slot> slots) {
  std::vector<std::size_t> chosen;
  for (const Slot& slot : slots)
    chosen.push_back(efficient_choices(slot).front().index);
  return plan_of(slots, std::move(chosen));
}

Plan cheapest_plan(std::span<const Slot> slots, double max_seconds) {
  Plan fastest = fastest_plan(slots);
  fastest.is_within = fastest.seconds <= max_seconds * (1 + rounding);
  if (!fastest.is_within)
    return fastest;
  return plan_of(slots, Knapsack(slots, max_seconds).solve());
}

Plan plan_slot_by_slot(std::span<const Slot> slots, double slow_down) {
  std::vector<std::size_t> chosen;
  double limit = 0;
  for (const Slot& slot : slots) {
    const double min_seconds = std::ranges::min_element(slot, {}, &ClockChoice::seconds)->seconds;
    const double longest = (1 + slow_down) * min_seconds * (1 + rounding);
    std::size_t lowest = slot.size();
    for (std::size_t index = 0; index < slot.size(); ++index)
      if (slot[index].seconds <= longest && (lowest == slot.size() || slot[index].mhz < slot[lowest].mhz))
        lowest = index;
    chosen.push_back(lowest);
    limit += longest;
  }
  Plan plan = plan_of(slots, std::move(chosen));
  plan.is_within = plan.seconds <= limit;
  return plan;
}

} // namespace warplens::power
