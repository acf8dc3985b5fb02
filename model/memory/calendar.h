// A queue of events by the cycle in which they happen: a list for each of the next cycles, after Brown,
// "Calendar queues", CACM 1988.
#pragma once

#include "model/sm/instruction.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplens::model {

/// `Event` has a member `draw`, a random number.
template <class Event> class Calendar {
public:
  Calendar() : lists_(cycles, end_of_list) {}

  /// Adds an event, not before the cycle that is being visited.
  void add(Cycle at, const Event& event) {
    ++waiting_;
    if (at >= from_ + cycles) {
      later_.emplace_back(at, event);
      earliest_later_ = std::min(earliest_later_, at);
      return;
    }
    put(at, event);
  }

  /// Calls visit(cycle, event) for each event before `end`, by cycle. Those of one cycle come in the order of
  /// what they have drawn, but for those that a visit adds to its own cycle, which come behind them. So the
  /// order in which events are added does not matter. Calls ahead(event) some cycles before most of them.
  template <class Ahead, class Visit> void run_until(Cycle end, Ahead&& ahead, Visit&& visit) {
    for (; from_ < end && waiting_ != 0; ++from_) {
      if (earliest_later_ < from_ + cycles)
        take_later();
      if (waiting_ == later_.size()) { // nothing in the lists
        from_ = std::max(from_, std::min(end, earliest_later_ - cycles + 1)) - 1;
        continue;
      }
      for (std::uint32_t node = lists_[(from_ + cycles_ahead) % cycles]; node != end_of_list;
           node = nodes_[node].next)
        ahead(nodes_[node].event);
      std::uint32_t& list = lists_[from_ % cycles];
      while (list != end_of_list) {
        take(list);
        waiting_ -= now_.size();
        for (const std::uint32_t node : now_) {
          const Event event = nodes_[node].event;
          nodes_[node].next = std::exchange(free_, node);
          visit(from_, event);
        }
      }
    }
    from_ = std::max(from_, end);
  }

  /// Returns a cycle before which there is no event; `never` if there is none.
  Cycle next() const { return waiting_ == 0 ? never : from_; }

private:
  static constexpr std::size_t cycles = 1u << 12;
  static constexpr Cycle cycles_ahead = 6;
  static constexpr std::uint32_t end_of_list = ~std::uint32_t{0};
  struct Node {
    Event event;
    std::uint32_t next;
  };

  void put(Cycle at, const Event& event) {
    std::uint32_t& list = lists_[at % cycles];
    std::uint32_t node = free_;
    if (node == end_of_list) {
      node = std::uint32_t(nodes_.size());
      nodes_.push_back({event, list});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = {event, list};
    }
    list = node;
  }
  void take(std::uint32_t& list) {
    now_.clear();
    for (std::uint32_t node = std::exchange(list, end_of_list); node != end_of_list; node = nodes_[node].next)
      now_.push_back(node);
    if (now_.size() > 1)
      std::ranges::sort(now_, {}, [&](std::uint32_t node) { return nodes_[node].event.draw; });
  }
  void take_later() {
    earliest_later_ = never;
    std::erase_if(later_, [&](const auto& event) {
      if (event.first < from_ + cycles) {
        put(event.first, event.second);
        return true;
      }
      earliest_later_ = std::min(earliest_later_, event.first);
      return false;
    });
  }

  std::vector<std::uint32_t> lists_; ///< by cycle modulo their number: the first node
  std::vector<Node> nodes_;
  std::uint32_t free_ = end_of_list; ///< list of nodes without an event
  std::vector<std::pair<Cycle, Event>> later_;
  Cycle earliest_later_ = never;
  std::vector<std::uint32_t> now_; ///< nodes of the cycle that is being visited
  std::size_t waiting_ = 0;
  Cycle from_ = 0;
};

} // namespace warplens::model
