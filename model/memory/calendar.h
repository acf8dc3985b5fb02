// A queue of events by the cycle in which they happen: a list for each of the next cycles, after Brown,
// "Calendar queues", CACM 1988.
#pragma once

#include "model/sm/cycle.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace warplens::model {

/// `Event` has a member `draw()`, a random number.
template <class Event> class Calendar {
public:
  Calendar() : lists_(cycles) {}

  /// Adds an event, not before the cycle that is being visited.
  [[gnu::always_inline]] void add(Cycle at, const Event& event) {
    if (at < from_ + cycles)
      put(at, event);
    else
      add_later({at, event});
  }

  /// Calls visit(cycle, event) for each event before `end`, by cycle. Those of one cycle come in the order of
  /// what they have drawn, but for those that a visit adds to its own cycle, which come behind them. So the
  /// order in which events are added does not matter. Calls ahead(event) a cycle before most of them.
  template <class Ahead, class Visit>
  [[gnu::always_inline]] void run_until(Cycle end, Ahead&& ahead, Visit&& visit) {
    for (from_ = std::max(from_, next()); from_ < end; from_ = std::max(from_ + 1, next())) {
      while (!later_.empty() && later_.front().at < from_ + cycles) {
        put(later_.front().at, later_.front().event);
        std::ranges::pop_heap(later_, std::greater(), &Later::at);
        later_.pop_back();
      }
      for (const Event& event : list_of(from_ + cycles_ahead))
        ahead(event);
      while (!list_of(from_).empty()) {
        now_.swap(list_of(from_));
        in_lists_ -= now_.size();
        sort_now();
        for (const std::uint64_t one : order_)
          visit(from_, now_[std::uint32_t(one)]);
        now_.clear();
        spare_.push_back(std::move(now_));
      }
    }
    from_ = end;
  }

  /// Returns a cycle before which there is no event; `never` if there is none.
  Cycle next() const { return in_lists_ != 0 ? from_ : later_.empty() ? never : later_.front().at; }

private:
  static constexpr std::size_t cycles = 1u << 12;
  static constexpr Cycle cycles_ahead = 1;
  struct Later {
    Cycle at;
    Event event;
  };

  std::vector<Event>& list_of(Cycle at) { return lists_[at % cycles]; }
  void add_later(Later later) {
    later_.push_back(later);
    std::ranges::push_heap(later_, std::greater(), &Later::at);
  }
  [[gnu::always_inline]] void put(Cycle at, const Event& event) {
    std::vector<Event>& list = list_of(at);
    // The memory of the last list that was visited is still in the host's caches.
    if (list.capacity() == 0 && !spare_.empty()) {
      list.swap(spare_.back());
      spare_.pop_back();
    }
    list.emplace_back() = event;
    ++in_lists_;
  }
  /// Sorts the numbers of the events of this cycle by what these have drawn: nearly by its highest bits, of
  /// which there are as many values as events or more, and then by insertion.
  void sort_now() {
    const unsigned shift = 32 - unsigned(std::bit_width(now_.size()));
    begins_.assign((std::size_t{1} << (32 - shift)) + 1, 0);
    for (const Event& event : now_)
      ++begins_[(event.draw() >> shift) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    order_.resize(now_.size());
    for (std::uint32_t i = 0; i < now_.size(); ++i)
      order_[begins_[now_[i].draw() >> shift]++] = std::uint64_t(now_[i].draw()) << 32 | i;
    for (std::size_t i = 1; i < order_.size(); ++i)
      for (std::size_t at = i; at != 0 && order_[at] < order_[at - 1]; --at)
        std::swap(order_[at], order_[at - 1]);
  }

  std::vector<std::vector<Event>> lists_; ///< by cycle modulo their number
  std::vector<std::vector<Event>> spare_; ///< empty ones, to be used again
  std::vector<Later> later_;              ///< a heap, the earliest first
  std::vector<Event> now_;                ///< of the cycle that is being visited
  std::vector<std::uint32_t> begins_;     ///< by the highest bits: where these begin in order_
  std::vector<std::uint64_t> order_;      ///< of these: what each has drawn, and its number
  std::size_t in_lists_ = 0;
  Cycle from_ = 0;
};

} // namespace warplens::model
