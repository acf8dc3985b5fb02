// The cycles of a pipeline that are taken, ahead of time.
#pragma once

#include "model/sm/cycle.h"

#include <algorithm>
#include <vector>

namespace warplens::model {

class Reservations {
public:
  /// Takes the first `length` cycles that are free together and not before `from`. Returns the first of them.
  Cycle take(Cycle from, Cycle length) {
    auto next = taken_.begin();
    while (next != taken_.end() && next->begin < from + length) {
      from = std::max(from, next->end);
      ++next;
    }
    const bool joins_next = next != taken_.end() && next->begin == from + length;
    if (next != taken_.begin() && (next - 1)->end == from) {
      (next - 1)->end = joins_next ? next->end : from + length;
      if (joins_next)
        taken_.erase(next);
    } else if (joins_next) {
      next->begin = from;
    } else {
      taken_.insert(next, {from, from + length});
    }
    return from;
  }
  /// Forgets what lies before `now`.
  void forget_until(Cycle now) {
    while (!taken_.empty() && taken_.front().end <= now)
      taken_.erase(taken_.begin());
  }

private:
  struct Interval {
    Cycle begin, end;
  };
  std::vector<Interval> taken_; ///< ascending, with free cycles between them
};

} // namespace warplens::model
