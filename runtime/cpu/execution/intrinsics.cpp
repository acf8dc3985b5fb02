#include "runtime/abi/intrinsics.h"

#include "runtime/cpu/execution/block.h"

#include <chrono>

using namespace warplens::cpu;

namespace {

Lane& lane_of(LaneContext* context) {
  return *static_cast<Lane*>(context);
}

const char* name_of(WarpRequest::Kind kind) {
  switch (kind) {
  case WarpRequest::Kind::barrier: return "bar.warp.sync";
  case WarpRequest::Kind::shuffle: return "shfl.sync";
  case WarpRequest::Kind::ballot: return "vote.ballot.sync";
  case WarpRequest::Kind::vote: return "vote.sync";
  case WarpRequest::Kind::match_any: return "match.any.sync";
  case WarpRequest::Kind::match_all: return "match.all.sync";
  case WarpRequest::Kind::reduce: return "redux.sync";
  }
  return "";
}

std::uint64_t perform(LaneContext* context, const WarpRequest& request) {
  Lane& lane = lane_of(context);
  Block::of(lane).checks().check_mask(lane, name_of(request.kind), request.mask);
  const std::uint64_t result = lane.warp->perform(lane, request);
  Block::of(lane).checks().check_absent(lane, name_of(request.kind), request.mask);
  return result;
}

/// Waits at barrier `id` for the block, or for `threads` of its threads.
std::uint32_t wait_at_barrier(LaneContext* context, std::uint32_t id, std::uint32_t threads,
                              Reduction operation, bool predicate) {
  Lane& lane = lane_of(context);
  Block& block = Block::of(lane);
  block.checks().arrive_at_barrier(lane, id);
  const std::uint32_t result = block.wait_at_barrier(lane, id, threads, operation, predicate);
  block.checks().leave_barrier(lane, id);
  return result;
}

std::uint32_t low(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair);
}
std::uint32_t high(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32);
}

std::string trap_message(const LaneContext& lane) {
  return name_of(lane) + " executed trap" + (lane.place ? std::string(" at ") + lane.place : "");
}

} // namespace

LaneContext* __warplens_cpu_current_lane() {
  const Block* const block = Block::current();
  return block ? block->running() : nullptr;
}
void __warplens_cpu_enter_lane(LaneContext* lane) {
  Block::running_here().enter(lane);
}

void __warplens_cpu_log_full(LaneContext* context) {
  Lane& lane = lane_of(context);
  lane.warp->wait_for_log(lane);
}

void __warplens_cpu_barrier(LaneContext* lane, std::uint32_t id, std::uint32_t threads) {
  wait_at_barrier(lane, id, threads, Reduction::add, false);
}
std::uint32_t __warplens_cpu_barrier_reduce(LaneContext* lane, std::uint32_t id, std::uint32_t threads,
                                            std::uint32_t operation, std::uint32_t predicate) {
  return wait_at_barrier(lane, id, threads, static_cast<Reduction>(operation), predicate != 0);
}
void __warplens_cpu_barrier_arrive(LaneContext* lane, std::uint32_t id, std::uint32_t threads) {
  Block::of(*lane).checks().pass_barrier(lane_of(lane), id);
  Block::of(*lane).arrive_at_barrier(lane_of(lane), id, threads);
}
void __warplens_cpu_warp_barrier(LaneContext* lane, std::uint32_t mask) {
  BlockChecks& checks = Block::of(*lane).checks();
  checks.arrive_at_warp_barrier(lane_of(lane), mask);
  perform(lane, {.kind = WarpRequest::Kind::barrier, .mask = mask});
  checks.leave_warp_barrier(lane_of(lane));
}
ShuffleResult __warplens_cpu_shuffle(LaneContext* lane, std::uint32_t mode, std::uint32_t mask,
                                     std::uint32_t value, std::uint32_t source, std::uint32_t clamp) {
  const std::uint64_t pair = perform(lane, {.kind = WarpRequest::Kind::shuffle,
                                            .mode = mode,
                                            .mask = mask,
                                            .value = value,
                                            .source = source,
                                            .clamp = clamp});
  return {low(pair), high(pair)};
}
std::uint32_t __warplens_cpu_ballot(LaneContext* lane, std::uint32_t mask, std::uint32_t predicate) {
  return low(perform(lane, {.kind = WarpRequest::Kind::ballot, .mask = mask, .value = predicate}));
}
std::uint32_t __warplens_cpu_vote(LaneContext* lane, std::uint32_t mode, std::uint32_t mask,
                                  std::uint32_t predicate) {
  return low(
      perform(lane, {.kind = WarpRequest::Kind::vote, .mode = mode, .mask = mask, .value = predicate}));
}
std::uint32_t __warplens_cpu_match_any(LaneContext* lane, std::uint32_t mask, std::uint64_t value) {
  return low(perform(lane, {.kind = WarpRequest::Kind::match_any, .mask = mask, .value = value}));
}
MatchResult __warplens_cpu_match_all(LaneContext* lane, std::uint32_t mask, std::uint64_t value) {
  const std::uint64_t pair =
      perform(lane, {.kind = WarpRequest::Kind::match_all, .mask = mask, .value = value});
  return {low(pair), high(pair)};
}
std::uint32_t __warplens_cpu_reduce(LaneContext* lane, std::uint32_t operation, std::uint32_t mask,
                                    std::uint32_t value) {
  return low(
      perform(lane, {.kind = WarpRequest::Kind::reduce, .mode = operation, .mask = mask, .value = value}));
}
std::uint32_t __warplens_cpu_active_mask(LaneContext* context, std::uint32_t position) {
  Lane& lane = lane_of(context);
  return lane.warp->active_mask(lane, position);
}
void __warplens_cpu_lock_step(LaneContext* context, std::uint32_t position) {
  Lane& lane = lane_of(context);
  lane.warp->wait_in_lock_step(lane, position);
}
void __warplens_cpu_yield(LaneContext* context, std::uint32_t position) {
  Lane& lane = lane_of(context);
  lane.warp->yield(lane, position);
}
void __warplens_cpu_sleep(LaneContext* context) {
  Lane& lane = lane_of(context);
  lane.warp->sleep(lane);
}
void __warplens_cpu_exit(LaneContext* context) {
  Lane& lane = lane_of(context);
  lane.warp->exit(lane);
}

void __warplens_cpu_abort_kernel(const char* reason) {
  Block::running_here().fail(reason);
}
void __warplens_cpu_pure_virtual() {
  __warplens_cpu_abort_kernel("a pure virtual function was called");
}
void __warplens_cpu_trap(LaneContext* lane) {
  Block::of(*lane).fail(trap_message(*lane));
}

void __warplens_cpu_check_stack(std::uint64_t bytes) {
  Block::running_here().check_stack(bytes);
}

std::uint64_t __warplens_cpu_clock() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(
      duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}
std::uint32_t __warplens_cpu_is_shared(LaneContext* lane, const void* address) {
  const BlockContext& block = *lane->block;
  const auto* byte = static_cast<const std::uint8_t*>(address);
  return byte >= block.shared && byte < block.dynamic_shared + block.dynamic_shared_bytes;
}
std::uint32_t __warplens_cpu_is_constant(const void* address) {
  return in_constant_memory(reinterpret_cast<std::uint64_t>(address));
}
std::uint32_t __warplens_cpu_is_local(const void* address) {
  return Block::running_here().is_local(reinterpret_cast<std::uint64_t>(address));
}
std::uint32_t __warplens_cpu_find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  constexpr std::uint32_t none = ~0U;
  if (offset == 0)
    return base < 32 && mask >> base & 1 ? base : none;
  std::uint32_t left = offset > 0 ? static_cast<std::uint32_t>(offset) : -static_cast<std::uint32_t>(offset);
  for (std::uint32_t place = base; place < 32; offset > 0 ? ++place : --place) // below 0 it wraps to the end
    if (mask >> place & 1 && --left == 0)
      return place;
  return none;
}
