// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"): 64 bits in
// a block's shared memory, which only threads of that block access, and so only one OS thread.
#include "runtime/abi/intrinsics.h"
#include "runtime/cpu/execution/block.h"

#include <fmt/format.h>

namespace warplens::cpu {

namespace {

constexpr unsigned count_bits = 20, transaction_bits = 21;

/// Programs treat the object as opaque, so the layout is Warplens' own.
struct State {
  std::uint64_t pending : count_bits;  ///< arrivals that the current phase still waits for
  std::uint64_t expected : count_bits; ///< arrivals of the next phase
  std::int64_t transactions : transaction_bits;
  std::uint64_t phase : 1; ///< parity of the current phase
};
static_assert(sizeof(State) == 8);

void arrive(State& state, std::uint64_t arrivals) {
  if (arrivals > state.pending)
    Block::running_here().fail(fmt::format("more threads arrive at an mbarrier than it waits for ({} and {})",
                                           arrivals, std::uint64_t{state.pending}));
  state.pending -= arrivals;
}

void complete_phase(State& state) {
  if (state.pending || state.transactions)
    return;
  state.pending = state.expected;
  state.phase ^= 1U;
}

State& state_of(std::uint64_t* barrier) {
  return *reinterpret_cast<State*>(barrier);
}

} // namespace

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_mbarrier_init(std::uint64_t* barrier, std::uint32_t count) {
  if (count == 0 || count >> count_bits)
    __warplens_cpu_abort_kernel(
        fmt::format("an mbarrier for {} arrivals; from 1 to {} are possible", count, (1U << count_bits) - 1)
            .c_str());
  state_of(barrier) = {.pending = count, .expected = count, .transactions = 0, .phase = 0};
}

std::uint64_t __warplens_cpu_mbarrier_arrive(std::uint64_t* barrier, std::uint32_t count, std::uint32_t drop,
                                             std::uint32_t expected_bytes) {
  Block& block = Block::running_here();
  if (const LaneContext* lane = block.running())
    block.checks().arrive_at_object(*lane, barrier);
  State& state = state_of(barrier);
  const std::uint64_t before = *barrier;
  state.transactions += expected_bytes;
  if (drop)
    state.expected -= count;
  arrive(state, count);
  complete_phase(state);
  return before;
}

void __warplens_cpu_mbarrier_transact(std::uint64_t* barrier, std::uint32_t bytes, std::uint32_t complete) {
  State& state = state_of(barrier);
  if (!complete) {
    state.transactions += bytes;
    return;
  }
  state.transactions -= bytes;
  complete_phase(state);
}

std::uint32_t __warplens_cpu_mbarrier_pending(std::uint64_t token) {
  return static_cast<std::uint32_t>(state_of(&token).pending);
}

std::uint32_t __warplens_cpu_mbarrier_parity(std::uint64_t token) {
  return state_of(&token).phase;
}

std::uint32_t __warplens_cpu_mbarrier_wait(LaneContext* lane, const std::uint64_t* barrier,
                                           std::uint32_t parity) {
  const auto completed = [&] {
    std::uint64_t now = *static_cast<const volatile std::uint64_t*>(barrier);
    return state_of(&now).phase != (parity & 1);
  };
  const auto look = [&] {
    const bool is = completed();
    if (is)
      Block::of(*lane).checks().wait_for_object(*lane, barrier);
    return is;
  };
  if (look())
    return true;
  auto& waiting = *static_cast<Lane*>(lane);
  waiting.warp->poll(waiting);
  return look();
}
