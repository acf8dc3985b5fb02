// Second stage of a trial's round: the requests of all SMs reach the L2 in a random order, batch by batch,
// and the L2 serves them.
#pragma once

#include "model/cache/l2.h"
#include "model/replay/constant_caches.h"
#include "model/replay/trial_records.h"
#include "numeric/random_merge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace warplens::model {

/// How many of a round's requests go through the L2's loops together: few enough that the records which they
/// leave stay in the host's caches.
inline constexpr std::size_t requests_together = 1u << 11;

template <class Observer, class Instructions, bool by_site> class L2Stage {
public:
  /// Begins with the content of `before`, or empty where that is null.
  L2Stage(const Gpu& gpu, Random& random, const L2* before, TrialState<Observer, by_site>& state)
      : snapshot_(state.snapshot), state_(state), merging_(random),
        l2_(before != nullptr ? L2(*before) : L2(gpu, snapshot_.set_aside)),
        form_(l2_.form(snapshot_.byte_masks.size() > 1)),
        l2_latency_ns_(float(gpu.l2.latency_ns + gpu.mean_hop_ns())),
        constant_group_latency_ns_(float(gpu.constant.group.latency_ns)) {}

  /// Takes in the requests that the SMs have queued in this round.
  template <class SmStage> void queue(const SmStage& sms) {
    next_.clear();
    for (std::uint32_t sm = 0; sm < sms.sms(); ++sm) {
      merge_.add(std::uint16_t(sm), sms.queue(sm).size());
      next_.push_back(sms.queue(sm).begin());
    }
  }
  std::size_t waiting() const { return merge_.waiting(); }

  /// Merges the next batch of the waiting requests into the order in which they reach the L2. Those of
  /// constant caches look up the caches of their groups of SMs, and only what these miss goes on.
  void merge(std::optional<ConstantCaches>& constants) {
    Instructions::run([&] { draw(); });
    if (constants)
      look_up_constant_groups(*constants);
  }

  /// Serves the merged requests, and returns what the L2 requests of memory.
  const DramRequests& serve() {
    l2_.with_lines([&](auto& lines) {
      switch (form_) {
      case L2Form::sectors: Instructions::run([&] { serve_all<L2Form::sectors>(lines); }); break;
      case L2Form::blocks: Instructions::run([&] { serve_all<L2Form::blocks>(lines); }); break;
      case L2Form::any: Instructions::run([&] { serve_all<L2Form::any>(lines); }); break;
      }
    });
    return to_memory_;
  }

private:
  void draw() {
    const std::size_t count = std::min(merge_.waiting(), requests_together);
    MergedRequests::Writer merged = merged_.begin(count);
    const SmRequest** const next = next_.data();
    merge_.draw(merging_, count, [&](std::uint16_t sm) { merged.add(*next[sm]++); });
    merged_.end(merged);
  }

  void look_up_constant_groups(ConstantCaches& constants) {
    MergedRequests::Writer missed = missed_.begin(merged_.size() * constants.lines_of_group());
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      const std::uint32_t line = merged_.lines[i];
      const L2Request& request = merged_.requests[i];
      if (!request.is_of_constants()) {
        missed.add({line, request});
        continue;
      }
      Request& requester = state_.requests[request.requester];
      const std::uint32_t fields = L2Request::encode(L2Kind::load);
      if (constants.load_from_group(
              request.constant_group(), requester.site, line, [&](std::uint32_t missing) {
                missed.add({missing, {request.requester, fields | whole_line}});
                state_.tallies.of(requester.site).l2[unsigned(L2Kind::load)].all += sectors_per_line;
              }))
        requester.wait_for(Level::constant, constant_group_latency_ns_);
    }
    missed_.end(missed);
    std::swap(merged_, missed_);
  }

  /// Calls visit(line, request, set) for each merged request, with the line's set, and prefetch(request, set)
  /// for the requests ahead.
  template <class Lines, class Prefetch, class Visit>
  void visit_merged(const Lines& lines, Prefetch&& prefetch, Visit&& visit) {
    const std::size_t count = merged_.size();
    const std::uint32_t* const merged = merged_.lines.begin();
    L2Request* const requests = merged_.requests.begin();
    sets_.clear();
    std::uint32_t* const sets = sets_.room_for(count + requests_ahead);
    lines.with_set_index([&](auto&& find) {
      for (std::size_t i = 0; i < count; ++i)
        sets[i] = find(merged[i]);
    });
    // The last requests look ahead at these.
    std::fill_n(sets + count, requests_ahead, 0);
    std::fill_n(requests + count, requests_ahead, L2Request());
    for (std::size_t i = 0; i < requests_ahead; ++i)
      prefetch(requests[i], sets[i]);
    for (std::size_t i = 0; i < count; ++i) {
      prefetch(requests[i + requests_ahead], sets[i + requests_ahead]);
      visit(merged[i], requests[i], sets[i]);
    }
  }

  /// Serves the merged requests. `form`: as L2::form() returns.
  template <L2Form form, class Lines> void serve_all(const Lines lines) {
    // At most, each request has its line read and written, and each line that it evicts filled and written.
    const std::size_t limit = (2 + 2 * l2_.max_evicted()) * merged_.size();
    DramRequests::Writer to_memory = to_memory_.begin(limit);
    visit_merged(
        lines,
        [&](const L2Request& request, std::uint32_t set) {
          l2_.template prefetch<form>(lines, set, request.sectors());
        },
        [&](std::uint32_t line, const L2Request& request, std::uint32_t set) {
          to_memory =
              request.kind() == L2Kind::load
                  ? serve_one<form, L2Kind::load>(lines, line, request, set, to_memory)
                  : Instructions::run([this, lines, line, &request, set, to_memory] {
                      return request.kind() == L2Kind::atomic
                                 ? serve_one<form, L2Kind::atomic>(lines, line, request, set, to_memory)
                                 : serve_one<form, L2Kind::store>(lines, line, request, set, to_memory);
                    });
        });
    to_memory_.end(to_memory);
  }

  template <L2Form form, L2Kind kind, class Lines>
  DramRequests::Writer serve_one(const Lines& lines, std::uint32_t line, const L2Request& request,
                                 std::uint32_t set, DramRequests::Writer to_memory) {
    using Reason = DramRequest::Reason;
    const unsigned sectors = request.sectors();
    const L2Outcome outcome = l2_.template request<Instructions, form>(
        lines, kind, set, line, sectors, form == L2Form::any ? written_by(request) : nullptr,
        [&](std::uint32_t victim, unsigned dirty, unsigned filled) {
          to_memory.add(victim, request.requester, filled, Reason::filled);
          to_memory.add(victim, request.requester, dirty, Reason::evicted);
        });
    state_.observer.looked_up(kind == L2Kind::load, line, sectors, outcome, 0);
    // An update's own figures are those of its load.
    const bool timed = kind != L2Kind::store || request.kind() == L2Kind::store;
    const Reason reason = kind != L2Kind::store ? Reason::read : timed ? Reason::written : Reason::updated;
    unsigned to_wait_for = kind == L2Kind::store ? outcome.updated : outcome.fetched;
    to_memory.add(line, request.requester, to_wait_for, reason);
    if (kind == L2Kind::store && outcome.fetched != 0) [[unlikely]] {
      to_memory.add(line, request.requester, outcome.fetched, timed ? Reason::read : Reason::filled);
      to_wait_for |= outcome.fetched;
    }
    if (kind == L2Kind::load && outcome.hits == 0)
      return to_memory;
    Request& requester = state_.requests[request.requester];
    Lookups& lookups =
        state_.tallies.of(requester.site).l2[unsigned(kind == L2Kind::load ? kind : request.kind())];
    lookups.hits += Instructions::sector_count(outcome.hits);
    if constexpr (kind != L2Kind::load)
      lookups.all += Instructions::sector_count(sectors);
    if (timed && to_wait_for == 0)
      requester.wait_for(Level::l2, l2_latency_ns_);
    return to_memory;
  }

  /// Returns the bytes that a store writes of its sectors; null: all.
  const ByteMask* written_by(const L2Request& request) const {
    return request.mask() == 0 ? nullptr : &snapshot_.byte_masks[request.mask()];
  }

  const Snapshot& snapshot_;
  TrialState<Observer, by_site>& state_;
  FastRandom merging_;
  L2 l2_;
  L2Form form_;
  float l2_latency_ns_, constant_group_latency_ns_;
  RandomMerge merge_;
  std::vector<const SmRequest*> next_; ///< of each SM
  MergedRequests merged_, missed_;     ///< `missed_`: by the constant caches of groups
  AppendBuffer<std::uint32_t> sets_;   ///< of the merged requests' lines
  DramRequests to_memory_;
};

} // namespace warplens::model
