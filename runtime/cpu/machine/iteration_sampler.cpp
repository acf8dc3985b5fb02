#include "runtime/cpu/machine/iteration_sampler.h"

#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace warplens::cpu {
namespace {

constexpr std::size_t max_loops = 8;         ///< in each other
constexpr std::size_t max_places = 1u << 14; ///< accesses in an iteration: longer ones are recorded
/// Accesses that are measured: blocks of many warps tell as much by fewer of each.
constexpr std::uint64_t measured_of_block = 4096, min_of_warp = 128, max_of_warp = 512;
/// Blocks of a wave that do the same begin and end within about this part of their time: further apart, those
/// that share lines would not find them in the L2, where a product of 4096³ by small tiles on an RTX 4090
/// finds them. The least number of places keeps blocks of one SM out of step even in loops that are not long.
constexpr std::uint64_t apart_share = 16, min_places = 4;
constexpr std::uint64_t min_measured = 8, max_measured = 128; ///< iterations

void mix(std::uint64_t& hash, std::uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 29;
}

bool lies_in_shared_memory(const machine::Access& access, std::uint64_t address) {
  return access.space == sass::Space::shared ||
         (access.space == sass::Space::generic && machine::window_of(address) == machine::shared_window);
}

} // namespace

std::uint64_t IterationSampler::measured_iterations(std::uint64_t accesses, std::uint64_t period,
                                                    std::size_t warps) {
  const std::uint64_t of_warp =
      std::clamp(measured_of_block / std::max<std::uint64_t>(warps, 1), min_of_warp, max_of_warp);
  return std::clamp(std::bit_ceil(of_warp / std::max<std::uint64_t>(accesses, 1)),
                    std::max(min_measured, period), max_measured);
}

bool IterationSampler::is_of_shared_memory(const Event& event) {
  return lies_in_shared_memory(*event.access,
                               event.addresses[unsigned(std::countr_zero(event.access->lanes))]);
}

/// Adds an event to a loop's iteration. Returns by how much its addresses are behind those of the iteration
/// before.
std::int64_t IterationSampler::note(Loop& loop, const Event& event) {
  mix(loop.hash, std::uint64_t(event.kind) << 32 | event.active);
  loop.has_barriers |= event.is_of_block();
  if (!event.access) {
    mix(loop.hash, std::uint64_t{event.first} << 32 | event.count);
    return 0;
  }
  const machine::Access& access = *event.access;
  mix(loop.hash, std::uint64_t{access.instruction} << 32 | std::uint64_t{access.bytes} << 8 |
                     std::uint64_t{access.is_further} << 2 | std::uint64_t{access.stores_copy} << 1 |
                     std::uint64_t{access.is_store});
  ++loop.accesses;
  Place place;
  std::uint64_t lanes = 0;
  for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
    const auto lane = unsigned(std::countr_zero(left));
    if (lies_in_shared_memory(access, event.addresses[lane]))
      continue; // where it lies there changes no cache
    place.sum += event.addresses[lane];
    place.weighted += (lane + 1) * event.addresses[lane];
    ++lanes;
  }
  if (place.sum == 0)
    return 0;
  if (loop.next_place == max_places) {
    loop.is_unique = true;
    return 0;
  }
  if (loop.next_place == loop.places.size())
    loop.places.emplace_back();
  const Place last = std::exchange(loop.places[loop.next_place++], place);
  const std::int64_t step = std::int64_t(place.sum - last.sum) / std::int64_t(lanes);
  loop.period = std::max(loop.period, line_bytes / std::gcd(std::uint64_t{line_bytes}, std::uint64_t(step)));
  mix(loop.hash, place.sum - last.sum);
  mix(loop.hash, place.weighted - last.weighted);
  return step;
}

/// Returns by how many iterations later ones of a loop the block records, and by how many others do at most:
/// blocks that have begun at other times have a place each among the first iterations that are left out.
IterationSampler::Later IterationSampler::later_by(machine::WarpId warp, std::uint32_t head) const {
  const auto loop = apart_.find(head);
  if (loop == apart_.end())
    return {};
  std::uint64_t hash = head;
  mix(hash, warp.block);
  mix(hash, warp.block);
  const auto [iterations, at_a_time] = loop->second;
  const std::uint64_t all = iterations / at_a_time + 1;
  const std::uint64_t places = std::min(all, std::max(min_places, all / apart_share));
  return {std::int64_t(((hash >> 32) * places >> 32) * at_a_time), std::int64_t((places - 1) * at_a_time)};
}

/// Ends a loop's iteration. Returns whether iterations can be left out from now on.
bool IterationSampler::end_iteration(Loop& loop, std::uint64_t recorded) {
  const bool repeats = !loop.is_unique && (loop.accesses != 0 || loop.has_barriers) && loop.hash == loop.last;
  loop.stable = repeats ? loop.stable + 1 : 0;
  loop.last = loop.hash;
  loop.measured = measured_iterations(loop.accesses, loop.period, warps_.size());
  if (loop.has_barriers && repeats) {
    // The warps of a block leave out the same iterations, or they would meet at other barriers. They are at
    // most one iteration apart, so that all have said how many they need before one leaves out any.
    std::uint64_t& of_block = measured_at_barriers_[loop.head];
    of_block = std::max(of_block, loop.measured);
    loop.measured = of_block;
  }
  ++loop.iterations;
  loop.hash = loop.accesses = loop.next_place = 0;
  loop.period = 1;
  loop.is_unique = false;
  loop.starts.push_back(recorded);
  if (loop.starts.size() > max_measured + 1)
    loop.starts.pop_front();
  // Warps that begin together do not stay in step: the first iterations are no measure. A warp without
  // accesses to memory repeats one iteration earlier than the others of its block: all begin at a multiple.
  return loop.stable >= 2 * loop.measured - 4 && loop.iterations % (loop.measured / 2) == 0;
}

/// Notes where a run begins: loops end, begin, or begin their next iteration. Returns whether the innermost
/// one can leave out iterations from now on.
bool IterationSampler::enter(machine::WarpId warp, OfWarp& of, std::uint32_t first, machine::Mask active) {
  std::vector<Loop>& loops = of.loops;
  while (!loops.empty() && !(first >= loops.back().head && first < loops.back().end))
    loops.pop_back();
  if (first >= of.last_end)
    return false;
  const auto known = std::ranges::find(loops.rbegin(), loops.rend(), first, &Loop::head);
  const std::uint64_t recorded = recorder_.accesses_of(warp.warp);
  if (known == loops.rend()) {
    if (loops.size() == max_loops)
      loops.erase(loops.begin());
    loops.push_back({.head = first,
                     .end = of.last_end,
                     .active = active,
                     .iterations = 1,
                     .later = later_by(warp, first)});
    loops.back().starts.push_back(recorded);
    return false;
  }
  loops.erase(known.base(), loops.end());
  Loop& loop = loops.back();
  loop.end = std::max(loop.end, of.last_end);
  loop.is_unique |= std::exchange(loop.active, active) != active;
  return end_iteration(loop, recorded);
}

/// Returns the addresses of an event's lanes, further by that many bytes where they are not in shared memory.
std::array<std::uint64_t, machine::lane_count> IterationSampler::moved(const Event& event, std::int64_t by) {
  std::array<std::uint64_t, machine::lane_count> addresses = event.addresses;
  if (by != 0)
    for (std::uint32_t left = event.access->lanes; left != 0; left &= left - 1)
      if (std::uint64_t& address = addresses[unsigned(std::countr_zero(left))];
          !lies_in_shared_memory(*event.access, address))
        address += std::uint64_t(by);
  return addresses;
}

/// Records an event, which belongs to iterations of the first `loops` loops, with addresses that are further
/// by `by` bytes, and by what those loops record of later iterations, once they repeat.
void IterationSampler::record(machine::WarpId warp, OfWarp& of, const Event& event, std::size_t loops,
                              std::int64_t by) {
  for (std::size_t i = 0; i < loops; ++i) {
    Loop& loop = of.loops[i];
    const std::int64_t step = note(loop, event);
    if (loop.stable != 0)
      by += step * loop.later.by;
  }
  switch (event.kind) {
  case Event::Kind::run: return recorder_.on_run(warp, event.first, event.count, event.active);
  case Event::Kind::barrier: return recorder_.on_barrier(warp, event.arrival);
  case Event::Kind::access: break;
  }
  const std::array<std::uint64_t, machine::lane_count> addresses = moved(event, by);
  machine::Access access = *event.access;
  access.addresses = addresses;
  recorder_.on_access(warp, access);
}

/// Ends the iteration that is held back. Returns false if it is another one than those before.
bool IterationSampler::hold_iteration(machine::WarpId warp, OfWarp& of) {
  Loop& loop = of.loops.back();
  Held& held = *of.held;
  end_iteration(loop, recorder_.accesses_of(warp.warp));
  if (loop.stable == 0 || held.left_out + held.measured > trace::max_left_out)
    return false;
  held.iterations.push_back(std::exchange(held.now, {}));
  if (held.iterations.size() < held.measured + held.measured / 2)
    return true;
  // As many are left out at a time as there are in the period of lines, or a multiple.
  if (held.left_out == 0)
    held.first = std::move(held.iterations.front());
  held.last = std::move(held.iterations[held.measured - 1]);
  held.iterations.erase(held.iterations.begin(), held.iterations.begin() + std::ptrdiff_t(held.measured));
  held.left_out += held.measured;
  return true;
}

/// Records what is left out, and then what is held back.
void IterationSampler::record_held(machine::WarpId warp, OfWarp& of) {
  const std::unique_ptr<Held> own = std::move(of.held);
  const Held& held = *own;
  const std::size_t outer = of.loops.size() - 1;
  Loop& loop = of.loops.back();
  std::int64_t by = loop.later.by; // iterations
  if (held.left_out != 0) {
    by -= loop.later.at_most; // those behind the gap are there for all blocks
    loop.later = {};
    LeftOut& left_out = left_out_.try_emplace(loop.head, held.left_out, held.measured).first->second;
    if (held.left_out < left_out.iterations)
      left_out = {held.left_out, held.measured};
    of.barriers_left_out +=
        held.left_out * std::uint64_t(std::ranges::count_if(held.first, &Event::is_of_block));
    for (std::size_t i = 0; i < outer; ++i)
      of.loops[i].is_unique = true;
    recorder_.leave_out(warp, loop.head, held.left_out, held.measured, held.measured_from);
    for (std::size_t i = 0; i < held.first.size() && i < held.last.size(); ++i)
      if (held.first[i].access && held.last[i].access && !is_of_shared_memory(held.first[i]))
        recorder_.describe(warp, *held.first[i].access, moved(held.first[i], held.first[i].step * by),
                           moved(held.last[i], held.first[i].step * by));
  }
  std::uint64_t last_begin = 0;
  for (const std::vector<Event>& iteration : held.iterations) {
    last_begin = recorder_.accesses_of(warp.warp);
    for (const Event& event : iteration)
      record(warp, of, event, outer, event.step * by);
  }
  if (held.left_out != 0 && held.iterations.size() > 1)
    recorder_.end_check(warp, loop.head, held.iterations.size() - 1, last_begin);
  for (const Event& event : held.now)
    record(warp, of, event, outer, event.step * by);
}

void IterationSampler::on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count,
                              machine::Mask active) {
  OfWarp& of = warps_[warp.warp];
  if (of.held) {
    const Loop& loop = of.loops.back();
    const bool is_inside = first >= loop.head && first < loop.end;
    const bool begins = first == loop.head && first < of.last_end;
    if (!is_inside || (begins && (active != loop.active || !hold_iteration(warp, of))))
      record_held(warp, of);
  }
  if (!of.held && enter(warp, of, first, active)) {
    const Loop& loop = of.loops.back();
    of.held = std::make_unique<Held>();
    of.held->measured = loop.measured;
    of.held->measured_from = loop.starts[loop.starts.size() - 1 - loop.measured];
  }
  of.accesses.push_back({.first = first, .count = count, .active = active});
  of.last_end = first + count;
  for (Event& event : of.accesses) {
    if (!of.held) {
      record(warp, of, event, of.loops.size());
      continue;
    }
    event.step = note(of.loops.back(), event);
    of.held->now.push_back(std::move(event));
  }
  of.accesses.clear();
}

void IterationSampler::on_access(machine::WarpId warp, const machine::Access& access) {
  Event& event = warps_[warp.warp].accesses.emplace_back();
  event.kind = Event::Kind::access;
  event.active = access.lanes;
  event.access = access;
  std::ranges::copy(access.addresses, event.addresses.begin());
}

void IterationSampler::on_barrier(machine::WarpId warp, const machine::Arrival& arrival) {
  OfWarp& of = warps_[warp.warp];
  Event event{.kind = Event::Kind::barrier,
              .first = arrival.instruction,
              .active = arrival.lanes,
              .arrival = arrival};
  if (!of.held)
    return record(warp, of, event, of.loops.size());
  note(of.loops.back(), event);
  of.held->now.push_back(std::move(event));
}

void IterationSampler::end_block(std::uint64_t block) {
  for (std::uint32_t number = 0; number < warps_.size(); ++number)
    if (warps_[number].held)
      record_held({block, number}, warps_[number]);
  meet_at_barriers_ = std::ranges::all_of(
      warps_, [&](const OfWarp& of) { return of.barriers_left_out == warps_.front().barriers_left_out; });
  for (std::uint32_t number = 0; number < warps_.size(); ++number) {
    OfWarp& of = warps_[number];
    for (const Event& event : of.accesses)
      record({block, number}, of, event, 0);
    of = {};
  }
}

} // namespace warplens::cpu
