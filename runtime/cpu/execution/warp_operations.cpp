// Computes the warp-level instructions (PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync).
#include "runtime/cpu/execution/warp.h"

#include <algorithm>
#include <bit>

namespace warplens::cpu {

namespace {

/// Calls `visit` for each lane of the mask, lowest first.
template <class Visit> void for_each(Lane* lanes, std::uint32_t mask, Visit visit) {
  for (; mask; mask &= mask - 1)
    visit(lanes[std::countr_zero(mask)]);
}

std::uint64_t shuffle(const Lane* lanes, const Lane& lane, std::uint32_t participants) {
  const WarpRequest& request = lane.request;
  const std::uint32_t clamp = request.clamp & 31, segment = request.clamp >> 8 & 31, own = lane.number,
                      by = request.source & 31;
  const std::uint32_t last = (own & segment) | (clamp & ~segment), first = own & segment;
  std::uint32_t from = own;
  bool in_range = false;
  switch (static_cast<Shuffle>(request.mode)) {
  case Shuffle::up:
    from = own - by;
    in_range = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last);
    break;
  case Shuffle::down:
    from = own + by;
    in_range = from <= last;
    break;
  case Shuffle::bfly:
    from = own ^ by;
    in_range = from <= last;
    break;
  case Shuffle::idx:
    from = first | (by & ~segment);
    in_range = from <= last;
    break;
  }
  if (!in_range)
    from = own;
  // PTX leaves the value of a lane that does not take part undefined; 0 does least harm in sums over a
  // partial warp.
  const std::uint64_t value = participants >> from & 1 ? lanes[from].request.value : 0;
  return (value & 0xffffffff) | std::uint64_t{in_range} << 32;
}

std::uint32_t true_predicates(Lane* lanes, std::uint32_t participants) {
  std::uint32_t result = 0;
  for_each(lanes, participants,
           [&](const Lane& lane) { result |= lane.request.value ? 1U << lane.number : 0; });
  return result;
}

std::uint64_t vote(Vote mode, std::uint32_t yes, std::uint32_t participants) {
  switch (mode) {
  case Vote::any: return yes != 0;
  case Vote::all: return yes == participants;
  case Vote::uni: return yes == 0 || yes == participants;
  }
  return 0;
}

std::uint32_t same_value(Lane* lanes, const Lane& lane, std::uint32_t participants) {
  std::uint32_t result = 0;
  for_each(lanes, participants, [&](const Lane& other) {
    result |= other.request.value == lane.request.value ? 1U << other.number : 0;
  });
  return result;
}

std::uint32_t reduce(Lane* lanes, Reduction operation, std::uint32_t participants) {
  auto result = static_cast<std::uint32_t>(lanes[std::countr_zero(participants)].request.value);
  for_each(lanes, participants & (participants - 1), [&](const Lane& lane) {
    const auto value = static_cast<std::uint32_t>(lane.request.value);
    const auto as_signed = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits); };
    switch (operation) {
    case Reduction::add: result += value; break;
    case Reduction::and_: result &= value; break;
    case Reduction::or_: result |= value; break;
    case Reduction::xor_: result ^= value; break;
    case Reduction::min: result = as_signed(value) < as_signed(result) ? value : result; break;
    case Reduction::max: result = as_signed(value) > as_signed(result) ? value : result; break;
    case Reduction::umin: result = std::min(result, value); break;
    case Reduction::umax: result = std::max(result, value); break;
    }
  });
  return result;
}

} // namespace

void compute(Lane* lanes, std::uint32_t participants) {
  const std::uint32_t yes = true_predicates(lanes, participants);
  for_each(lanes, participants, [&](Lane& lane) {
    // The masks of converged lanes may differ (a lane's predecessors in a scan by ballot). The hardware votes
    // over the active lanes and gives each the part that its mask names: ptxas makes VOTE and LOP3 of it.
    const std::uint32_t named = participants & (lane.request.mask | 1U << lane.number);
    switch (lane.request.kind) {
    case WarpRequest::Kind::barrier: break;
    case WarpRequest::Kind::shuffle: lane.result = shuffle(lanes, lane, participants); break;
    case WarpRequest::Kind::ballot: lane.result = yes & lane.request.mask; break;
    case WarpRequest::Kind::vote:
      lane.result = vote(static_cast<Vote>(lane.request.mode), yes & named, named);
      break;
    case WarpRequest::Kind::match_any: lane.result = same_value(lanes, lane, named); break;
    case WarpRequest::Kind::match_all: {
      const bool all = same_value(lanes, lane, named) == named;
      lane.result = (all ? named : 0) | std::uint64_t{all} << 32;
      break;
    }
    case WarpRequest::Kind::reduce:
      lane.result = reduce(lanes, static_cast<Reduction>(lane.request.mode), named);
      break;
    }
  });
}

} // namespace warplens::cpu
