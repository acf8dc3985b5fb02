// Several queues into one, in a random order.
#pragma once

#include "model/random.h"

#include <algorithm>
#include <vector>

namespace warplens::model {

/// Each queue keeps its own order, and every interleaving is equally likely; that is to take each next one
/// from a queue with a probability in proportion to what is left in it. One ticket for each that waits names
/// its queue, and tickets are drawn blindly: a few cycles each, where working out the weights takes a
/// hundred.
class RandomMerge {
public:
  void add(std::uint16_t queue, std::size_t waiting) { tickets_.insert(tickets_.end(), waiting, queue); }
  std::size_t waiting() const { return tickets_.size(); }

  /// Calls take(queue) for each that waits.
  template <class Take> void draw_all(FastRandom& random, Take&& take) {
    std::uint16_t* const tickets = tickets_.data();
    auto left = std::uint32_t(tickets_.size());
    const auto draw = [&](std::uint32_t drawn) {
      take(tickets[drawn]);
      tickets[drawn] = tickets[--left];
    };
    while (left > 1) {
      const auto [first, second] = random.below(left, left - 1);
      draw(first);
      draw(second);
    }
    if (left == 1)
      draw(0);
    tickets_.clear();
  }

private:
  std::vector<std::uint16_t> tickets_;
};

} // namespace warplens::model
