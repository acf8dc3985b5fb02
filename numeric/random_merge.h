// The merge of several queues into one, in a random order.
#pragma once

#include "numeric/random.h"

#include <algorithm>
#include <vector>

namespace warplens {

/// Draws an interleaving of the queues. Each queue keeps its own order, and every interleaving is equally
/// likely: the probability that a queue is next is in proportion to its remaining elements. Each waiting
/// element has a ticket that names its queue, and tickets are drawn uniformly, at a few cycles each, where
/// computing the weights would take a hundred.
class RandomMerge {
public:
  void add(std::uint16_t queue, std::size_t waiting) { tickets_.insert(tickets_.end(), waiting, queue); }
  std::size_t waiting() const { return tickets_.size(); }

  /// Calls take(queue) for the next `count` elements.
  template <class Take> void draw(FastRandom& random, std::size_t count, Take&& take) {
    std::uint16_t* const tickets = tickets_.data();
    auto left = std::uint32_t(tickets_.size());
    const auto afterwards = std::uint32_t(left - count);
    const auto draw_one = [&](std::uint32_t drawn) {
      take(tickets[drawn]);
      tickets[drawn] = tickets[--left];
    };
    FastRandom stream = random;          // a copy, which the compiler knows that no store changes
    constexpr std::uint32_t at_once = 3; // with bounds of some 2^16, together they use 48 bits
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

} // namespace warplens
