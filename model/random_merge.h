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

  /// Calls take(queue) for so many of those that wait.
  template <class Take> void draw(FastRandom& random, std::size_t count, Take&& take) {
    std::uint16_t* const tickets = tickets_.data();
    auto left = std::uint32_t(tickets_.size());
    const auto afterwards = std::uint32_t(left - count);
    const auto draw_one = [&](std::uint32_t drawn) {
      take(tickets[drawn]);
      tickets[drawn] = tickets[--left];
    };
    FastRandom stream = random;          // a copy, which nothing that is written can change
    constexpr std::uint32_t at_once = 3; // of some 2^16: together they use 48 bits
    while (left >= afterwards + at_once)
      for (const std::uint32_t drawn : stream.descending<at_once>(left))
        draw_one(drawn);
    while (left != afterwards)
      draw_one(stream.descending<1>(left)[0]);
    random = stream;
    tickets_.resize(left);
  }

private:
  std::vector<std::uint16_t> tickets_;
};

} // namespace warplens::model
