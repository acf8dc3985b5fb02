// The clock of one streaming multiprocessor: when each warp issues each instruction, and why it waits.
#pragma once

#include "model/sm/instruction.h"
#include "model/sm/reservations.h"
#include "model/sm/sm_figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace warplens::model {

/// The number of a warp in its SM, which it keeps until its block has ended.
using WarpNumber = std::uint32_t;

/// Runs the warps of one SM from event to event: it visits only cycles in which an instruction can issue or a
/// block can end. The warps belong to the schedulers in turn, in the order of their arrival; in each cycle a
/// scheduler issues from the first warp in its policy's order whose operands are ready and whose pipe, queue
/// and miss entries are free.
///
/// `Execution` has the instructions that warps execute, and the times of their results. It has
/// - `Program`: a warp's position in its instructions, which is copied;
/// - `bool has_ended(const Program&)` and `Instruction next(const Program&)`;
/// - `Cycle issue(WarpNumber, Program&, const Instruction&, Cycle now, Cycle leaves)`: goes on to the
///   instruction after this one and returns when the register that it writes is ready: `never` where that is
///   unknown until complete(). `leaves`: when it leaves the queue before its pipe, or now;
/// - `Cycle entries_open_at(Cycle from)`: the first cycle, not before `from`, in which a miss entry is free,
///   as far as that is known; `from` is the cycle that is being visited or the one behind it;
/// - `void waited(WarpNumber, const Program&, Stall, Cycle cycles)`: the warp waited that long before the
///   instruction that it now issues, or for its block's end;
/// - `bool settle()`, if it wants to be asked: it may call complete() in it, and then returns true. It is
///   called behind each cycle that is visited;
/// - `void ended(std::uint32_t block, Cycle)`: all the block's results have arrived. It may dispatch another
/// one.
template <class Execution> class SmClock {
public:
  SmClock(const SmFigures& figures, Execution& execution)
      : figures_(figures), execution_(execution), schedulers_(figures.schedulers) {
    for (Scheduler& scheduler : schedulers_) {
      for (Queue& queue : scheduler.queues)
        queue.leaves.resize(has_queue() ? figures.queue.entries : 0);
      scheduler.last_of_kernel.resize(figures.kernels);
      for (std::size_t pipe = 0; pipe < figures.pipes.size(); ++pipe) {
        const bool has_own = !figures.pipes[pipe].shared || &scheduler == &schedulers_.front();
        scheduler.pipes[pipe + 1].unit =
            has_own ? std::uint32_t(units_.size()) : schedulers_.front().pipes[pipe + 1].unit;
        if (has_own)
          units_.emplace_back();
      }
    }
  }

  /// Dispatches a thread block: its warps begin in cycle `at`, which has not been visited, or is being
  /// visited in Execution::ended(). `kernel`: whose block it is, below SmFigures::kernels.
  template <class Programs>
  void dispatch(std::uint32_t number, const Programs& programs, Cycle at, std::uint32_t kernel = 0) {
    const std::uint32_t index = free_block();
    Block& block = blocks_[index];
    block = {.number = number, .kernel = kernel, .done_at = at};
    block.is_resident = true;
    for (const auto& program : programs)
      add_warp(index, program, at);
    block.all = std::uint32_t(block.warps.size());
    note_ended(block);
    wakeups_stale_ = true;
  }

  /// Visits the cycles before `end`.
  [[gnu::always_inline]] void run_until(Cycle end) {
    if (wakeups_stale_)
      find_wakeups();
    for (Cycle now = next(); now < end; now = next()) {
      for (Scheduler& scheduler : schedulers_)
        if (scheduler.ready != 0)
          count_blocked(scheduler, from_, now);
      from_ = now;
      if (open_at_ <= now)
        open_barriers();
      if (end_at_ <= now)
        retire_blocks();
      for (Scheduler& scheduler : schedulers_)
        if (scheduler.next <= now)
          step(scheduler);
        else if (scheduler.ready != 0)
          count_blocked(scheduler, now, now + 1);
      from_ = now + 1;
      if constexpr (requires { execution_.settle(); })
        if (execution_.settle()) [[unlikely]]
          find_wakeups();
    }
  }

  /// Returns the next cycle that run_until() would visit, or an earlier one; `never` if only complete() or
  /// dispatch() can go on.
  Cycle next() const {
    if (wakeups_stale_)
      return from_;
    Cycle next = std::min(open_at_, end_at_);
    for (const Scheduler& scheduler : schedulers_)
      next = std::min(next, scheduler.next);
    return std::max(next, from_);
  }

  /// Sets when a warp's register is written, where that was unknown, and wakes the warp; `at` has not been
  /// visited.
  void complete(WarpNumber number, std::int16_t result, Cycle at) {
    Warp& warp = warps_[number];
    Cycle& there = register_of(number, result);
    if (there != never)
      return;
    there = at;
    Block& block = blocks_[warp.block];
    block.done_at = std::max(block.done_at, at);
    --block.unknown;
    note_ended(block);
    const bool is_ready = (schedulers_[warp.scheduler].ready & bit(warp.place)) != 0;
    if (!warp.has_ended && !is_ready) {
      prepare(warp, number);
      wakeups_stale_ = true;
    }
  }
  /// Returns how many warps there were at once so far, at most: each WarpNumber is below it.
  std::size_t warps() const { return warps_.size(); }

  /// Prefetches what complete() and an issue of the warp change.
  void prefetch(WarpNumber number) const {
    __builtin_prefetch(&warps_[number], 1);
    __builtin_prefetch(reinterpret_cast<const char*>(&warps_[number]) + 64, 1);
    __builtin_prefetch(&registers_[number * registers_per_warp_], 1);
  }
  /// Calls visit(number, program) for each warp whose operands are ready before `end`.
  template <class Visit> void each_due(Cycle end, Visit&& visit) const {
    for (const Scheduler& scheduler : schedulers_)
      for (Mask left = due(scheduler, std::int64_t(end) - 1).by_then; left != 0; left &= left - 1) {
        const WarpNumber number = scheduler.warp[std::size_t(std::countr_zero(left))];
        visit(number, warps_[number].program);
      }
  }
  /// Says that miss entries became free, or that it is known now when they do.
  void entries_changed() { wakeups_stale_ = true; }

private:
  using Mask = std::uint64_t;    ///< of a scheduler's warps, the oldest in the lowest bit
  using PipeSet = std::uint64_t; ///< of pipe + 1, the lowest bit for instructions without one
  static constexpr PipeSet without_pipe = 1;
  static_assert(max_pipes < 64);

  struct alignas(64) Warp { // it lies in two lines of the host's cache
    typename Execution::Program program;
    Instruction next;
    std::uint32_t block = 0;
    std::uint32_t slot = 0; ///< ascends in the order of arrival
    std::uint16_t scheduler = 0, place = 0;
    bool at_barrier = false, has_ended = false;
    Cycle since = 0; ///< the first cycle that is not accounted for
    Cycle barrier_until = 0, data_at = 0, delayed_until = 0;
    std::uint64_t blocked_before = 0; ///< of its pipe's blocked cycles, those before it was ready

    Cycle ready_at() const { return std::max({since, barrier_until, data_at}); }
  };
  struct Block {
    std::uint32_t number = 0, kernel = 0;
    std::vector<WarpNumber> warps{};
    std::uint32_t all = 0, at_barrier = 0, ended = 0; ///< warps
    std::uint32_t unknown = 0;                        ///< pending results
    Cycle done_at = 0;                                ///< the last known result so far
    Cycle arrived_at = 0;                             ///< when the barrier has counted its last warp so far
    std::optional<std::uint32_t> issued_last{};       ///< slot
    bool is_resident = false;

    std::int64_t waiting() const { return std::int64_t(at_barrier) + ended; }
    bool all_at_barrier() const { return at_barrier > 0 && at_barrier + ended == all; }
  };
  /// A pipe as one scheduler sees it.
  struct SchedulerPipe {
    std::uint64_t blocked = 0; ///< cycles in which no instruction could enter
    std::uint32_t unit = 0;    ///< index into units_
  };
  /// The queue from a scheduler to the memory pipeline.
  struct Queue {
    Cycle next_leaves = 0;         ///< the earliest for the next instruction of this queue
    std::uint32_t first_leave = 0; ///< index of the earliest in `leaves`
    std::vector<Cycle> leaves;     ///< when each of the last instructions left the queue, in turn
  };
  /// The fields that every visit reads come first.
  struct Scheduler {
    Mask ready = 0;     ///< the warps whose operands have a known arrival
    Cycle next = never; ///< the next cycle in which it can issue, as long as no other scheduler changes it
    std::optional<std::uint32_t> issued_last; ///< slot
    std::optional<std::uint32_t> last_place;  ///< of that warp, until its block has ended
    std::uint32_t up_to_last = 0;             ///< warps that arrived no later than that one
    std::uint32_t warps = 0;                  ///< the oldest first
    /// The warps, by pipe + 1, the first for instructions without one: whose next instructions need it.
    std::array<Mask, max_pipes + 1> wanted{};
    std::array<Queue, max_queues> queues;
    std::vector<std::optional<std::uint32_t>> last_of_kernel; ///< slot, of the warp that issued last
    std::uint32_t first_in_turn = 0;                          ///< the kernel
    std::array<SchedulerPipe, max_pipes + 1> pipes;           ///< by pipe + 1
    /// When it is known what each waits for; `never` for those in `ready`. Processors compare signed numbers.
    std::array<std::int64_t, max_warps_of_scheduler> ready_at = filled_with_never();
    std::array<WarpNumber, max_warps_of_scheduler> warp{};
    std::array<Cycle, max_warps_of_scheduler> idle_since{}; ///< each warp's own last issue, or its arrival

    SchedulerPipe& pipe_state(std::int16_t pipe) { return pipes[std::size_t(pipe + 1)]; }
    Mask& wanting(std::int16_t pipe) { return wanted[std::size_t(pipe + 1)]; }
    /// Returns the pipes that the next instructions of the warps in `ready` need.
    [[gnu::always_inline]] PipeSet wanted_by_ready() const {
      PipeSet set = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        set |= PipeSet((wanted[i] & ready) != 0) << i;
      return set;
    }
  };
  static constexpr std::uint32_t compared_together = 8;
  static_assert(max_warps_of_scheduler % compared_together == 0);

  static constexpr std::array<std::int64_t, max_warps_of_scheduler> filled_with_never() {
    std::array<std::int64_t, max_warps_of_scheduler> times{};
    times.fill(std::int64_t(never));
    return times;
  }
  bool has_queue() const { return figures_.queue.entries != std::numeric_limits<std::uint32_t>::max(); }
  static constexpr Mask bit(std::uint32_t place) { return Mask{1} << place; }

  void find_wakeups() {
    wakeups_stale_ = false;
    for (Scheduler& scheduler : schedulers_)
      scheduler.next = next_of(scheduler, due(scheduler, -1).later, from_);
  }

  std::uint32_t free_block() {
    for (std::uint32_t i = 0; i < blocks_.size(); ++i)
      if (!blocks_[i].is_resident)
        return i;
    blocks_.emplace_back();
    return std::uint32_t(blocks_.size() - 1);
  }

  void add_warp(std::uint32_t block, const typename Execution::Program& program, Cycle at) {
    WarpNumber number;
    if (free_warps_.empty()) {
      number = WarpNumber(warps_.size());
      warps_.emplace_back();
    } else {
      number = free_warps_.back();
      free_warps_.pop_back();
    }
    blocks_[block].warps.push_back(number);
    Warp& warp = warps_[number];
    warp = Warp{.program = program, .next = {}, .block = block, .slot = next_slot_++};
    warp.scheduler = scheduler_of(warp.slot);
    warp.since = at;
    warp.has_ended = execution_.has_ended(program);
    blocks_[block].ended += warp.has_ended;
    const std::size_t end = (number + 1) * registers_per_warp_;
    registers_.resize(std::max(registers_.size(), end));
    std::fill(registers_.begin() + std::ptrdiff_t(end - registers_per_warp_),
              registers_.begin() + std::ptrdiff_t(end), 0);
    Scheduler& scheduler = schedulers_[warp.scheduler];
    warp.place = std::uint16_t(scheduler.warps++);
    scheduler.warp[warp.place] = number;
    scheduler.idle_since[warp.place] = at;
    fetch(warp);
    prepare(warp, number);
  }

  /// Returns the scheduler of a new warp: the next one in turn, or that with the fewest warps where it is
  /// full.
  std::uint16_t scheduler_of(std::uint32_t slot) const {
    const std::uint32_t next = slot % figures_.schedulers;
    if (schedulers_[next].warps < max_warps_of_scheduler)
      return std::uint16_t(next);
    return std::uint16_t(std::ranges::min_element(schedulers_, {}, &Scheduler::warps) - schedulers_.begin());
  }

  /// Releases the warps of blocks of which all have arrived.
  void open_barriers() {
    open_at_ = never;
    for (Block& block : blocks_)
      if (block.is_resident && block.all_at_barrier()) {
        block.at_barrier = 0;
        for (const WarpNumber number : block.warps) {
          Warp& warp = warps_[number];
          if (!std::exchange(warp.at_barrier, false))
            continue;
          warp.barrier_until = std::max(from_, block.arrived_at) + figures_.barrier;
          prepare(warp, number);
          Scheduler& scheduler = schedulers_[warp.scheduler];
          scheduler.next = std::min(scheduler.next, from_);
        }
      }
  }

  /// Removes the blocks that have ended and whose results have arrived.
  void retire_blocks() {
    end_at_ = never;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      if (!block.is_resident || block.ended != block.all || block.unknown != 0)
        continue;
      if (block.done_at > from_) {
        end_at_ = std::min(end_at_, block.done_at);
        continue;
      }
      for (const WarpNumber number : block.warps)
        execution_.waited(number, warps_[number].program, Stall::ended, from_ - warps_[number].since);
      remove_warps(block.warps);
      block.is_resident = false;
      ended_.push_back(block.number);
    }
    for (const std::uint32_t block : std::exchange(ended_, {}))
      execution_.ended(block, from_);
    if (std::exchange(wakeups_stale_, false))
      for (Scheduler& scheduler : schedulers_)
        scheduler.next = from_;
  }

  void remove_warps(const std::vector<WarpNumber>& numbers) {
    for (const WarpNumber number : numbers)
      free_warps_.push_back(number);
    for (Scheduler& scheduler : schedulers_) {
      const auto old = scheduler.warp;
      const auto old_ready_at = std::exchange(scheduler.ready_at, filled_with_never());
      const std::uint32_t count = std::exchange(scheduler.warps, 0);
      const Mask ready = std::exchange(scheduler.ready, 0);
      const auto last_place = std::exchange(scheduler.last_place, std::nullopt);
      const std::uint32_t up_to_last = std::exchange(scheduler.up_to_last, 0);
      scheduler.wanted.fill(0);
      for (std::uint32_t place = 0; place < count; ++place) {
        if (std::ranges::find(numbers, old[place]) != numbers.end())
          continue;
        Warp& warp = warps_[old[place]];
        const std::uint32_t now_at = scheduler.warps++;
        warp.place = std::uint16_t(now_at);
        if (place == last_place)
          scheduler.last_place = now_at;
        scheduler.up_to_last += place < up_to_last;
        scheduler.warp[now_at] = old[place];
        scheduler.idle_since[now_at] = scheduler.idle_since[place]; // of the same warp or an earlier one
        scheduler.ready_at[now_at] = old_ready_at[place];
        scheduler.ready |= (ready >> place & 1) << now_at;
        scheduler.wanting(warp.next.pipe) |= bit(now_at);
      }
    }
  }

  /// Counts the cycles from `begin` to before `end` in which warps that are ready cannot enter their pipes,
  /// given that nothing issues then.
  [[gnu::always_inline]] void count_blocked(Scheduler& scheduler, Cycle begin, Cycle end) {
    if (begin >= end)
      return;
    for (PipeSet left = scheduler.wanted_by_ready() & ~without_pipe; left != 0; left &= left - 1) {
      const auto pipe = std::size_t(std::countr_zero(left)) - 1;
      scheduler.pipes[pipe + 1].blocked += std::min(open_at(scheduler, pipe, begin), end) - begin;
    }
  }

  struct Due {
    Mask by_then = 0;    ///< the warps whose operands are ready by then, but for those in `ready`
    Cycle later = never; ///< when the operands of another one are first ready
  };
  [[gnu::always_inline]] static Due due(const Scheduler& scheduler, std::int64_t at) {
    Mask by_then = 0;
    auto later = std::int64_t(never);
    const std::uint32_t end =
        (scheduler.warps + compared_together - 1) / compared_together * compared_together;
    for (std::uint32_t i = 0; i < end; ++i) {
      const std::int64_t ready_at = scheduler.ready_at[i];
      const bool is_due = ready_at <= at;
      by_then |= is_due ? bit(i) : 0;
      later = std::min(later, is_due ? std::int64_t(never) : ready_at);
    }
    return {by_then, Cycle(later)};
  }

  [[gnu::always_inline]] void step(Scheduler& scheduler) {
    const Cycle now = from_;
    auto [fresh, later] = due(scheduler, std::int64_t(now));
    scheduler.ready |= fresh;
    for (; fresh != 0; fresh &= fresh - 1) {
      const auto place = std::uint32_t(std::countr_zero(fresh));
      scheduler.ready_at[place] = std::int64_t(never);
      Warp& warp = warps_[scheduler.warp[place]];
      warp.blocked_before = scheduler.pipe_state(warp.next.pipe).blocked;
    }
    Mask open = open_warps(scheduler, now);
    if (scheduler.ready != open)
      count_blocked(scheduler, now, now + 1);
    for (std::uint32_t issued = 0; open != 0;) {
      const std::uint32_t place = chosen(scheduler, open);
      const WarpNumber number = scheduler.warp[place];
      Warp& warp = warps_[number];
      const std::int16_t pipe = warp.next.pipe;
      account(scheduler, warp, number, now);
      issue(scheduler, warp, number, now);
      scheduler.issued_last = warp.slot;
      scheduler.last_place = place;
      scheduler.up_to_last = place + 1;
      if (figures_.kernels > 1)
        note_turn(scheduler, warp);
      later = std::min(later, Cycle(scheduler.ready_at[place]));
      if (++issued == figures_.front_end)
        break;
      open &= open_warps(scheduler, now) & ~wanting_kind_of(scheduler, pipe);
    }
    scheduler.next = next_of(scheduler, later, now + 1);
  }

  /// The kernel that issued goes behind the others. Turns by cycles would lock in step with pipes that take
  /// an instruction every other cycle: one kernel would find them free, always.
  void note_turn(Scheduler& scheduler, const Warp& warp) {
    const std::uint32_t kernel = blocks_[warp.block].kernel;
    scheduler.last_of_kernel[kernel] = warp.slot;
    scheduler.first_in_turn = (kernel + 1) % figures_.kernels;
  }

  /// Returns the warps that can issue now.
  [[gnu::always_inline]] Mask open_warps(Scheduler& scheduler, Cycle now) {
    Mask open = scheduler.wanted[0];
    for (PipeSet left = scheduler.wanted_by_ready() & ~without_pipe; left != 0; left &= left - 1)
      if (const auto pipe = std::size_t(std::countr_zero(left)) - 1; open_at(scheduler, pipe, now) <= now)
        open |= scheduler.wanted[pipe + 1];
    return open & scheduler.ready;
  }
  /// Returns the warps whose next instruction needs this pipe, or one to memory if this is one.
  Mask wanting_kind_of(const Scheduler& scheduler, std::int16_t pipe) const {
    Mask wanting = scheduler.wanted[std::size_t(pipe + 1)];
    if (pipe < 0 || !figures_.pipes[std::size_t(pipe)].uses_queue)
      return wanting;
    for (std::size_t other = 0; other < figures_.pipes.size(); ++other)
      if (figures_.pipes[other].uses_queue)
        wanting |= scheduler.wanted[other + 1];
    return wanting;
  }

  /// Says why the warp has waited since its last issue.
  void account(Scheduler& scheduler, const Warp& warp, WarpNumber number, Cycle now) {
    const auto waited = [&](Stall why, Cycle cycles) {
      if (cycles != 0)
        execution_.waited(number, warp.program, why, cycles);
    };
    const Cycle after_barrier = std::max(warp.since, std::min(warp.barrier_until, now));
    const Cycle ready = warp.ready_at();
    const std::uint64_t blocked = scheduler.pipe_state(warp.next.pipe).blocked - warp.blocked_before;
    const Cycle after_delay = std::max(after_barrier, warp.delayed_until);
    waited(Stall::barrier, after_barrier - warp.since);
    waited(Stall::delay, after_delay - after_barrier);
    waited(Stall::data, ready - after_delay);
    waited(Stall::structural, blocked);
    waited(Stall::not_selected, now - ready - blocked);
  }

  [[gnu::always_inline]] void issue(Scheduler& scheduler, Warp& warp, WarpNumber number, Cycle now) {
    const Instruction instruction = warp.next;
    Block& block = blocks_[warp.block];
    block.issued_last = warp.slot;
    scheduler.idle_since[warp.place] = now;
    warp.since = now + 1;
    warp.delayed_until = instruction.delay > 1 ? now + instruction.delay : 0;
    block.done_at = std::max(block.done_at, now + 1);
    Cycle leaves = now;
    if (instruction.pipe >= 0)
      leaves = enter(scheduler, instruction, now);
    const Cycle result = execution_.issue(number, warp.program, instruction, now, leaves);
    if (instruction.result != Instruction::none) {
      Cycle& there = register_of(number, instruction.result);
      block.unknown += std::uint32_t(result == never) - std::uint32_t(there == never);
      there = result;
    }
    if (result != never)
      block.done_at = std::max(block.done_at, result);
    block.done_at = std::max(block.done_at, leaves);
    if (instruction.pipe < 0)
      barriers_free_at_ = block.arrived_at = std::max(barriers_free_at_, now) + figures_.barrier_interval;
    warp.has_ended = execution_.has_ended(warp.program);
    if (warp.has_ended) {
      ++block.ended;
    } else if (instruction.pipe < 0) {
      warp.at_barrier = true; // the others count a warp that has ended as arrived
      ++block.at_barrier;
    }
    if (block.all_at_barrier())
      open_at_ = std::min(open_at_, now + 1);
    note_ended(block);
    scheduler.wanting(instruction.pipe) &= ~bit(warp.place);
    scheduler.ready &= ~bit(warp.place);
    fetch(warp);
    prepare(warp, number);
  }

  /// Takes the instruction's pipe, and its entry in the queue. Returns when it leaves that.
  [[gnu::always_inline]] Cycle enter(Scheduler& scheduler, const Instruction& instruction, Cycle now) {
    const auto number = std::size_t(instruction.pipe);
    const PipeFigures& pipe = figures_.pipes[number];
    unit_of(scheduler, number) = now + pipe.interval * (pipe.uses_queue ? 1 : instruction.passes);
    if (!pipe.uses_queue)
      return now;
    shared_pipeline_.forget_until(now);
    Queue& queue = scheduler.queues[pipe.queue];
    const Cycle leaves =
        shared_pipeline_.take(std::max(now, queue.next_leaves),
                              std::max<Cycle>(figures_.queue.shared_interval, instruction.passes));
    if (has_queue()) {
      queue.leaves[queue.first_leave] = leaves;
      if (++queue.first_leave == queue.leaves.size())
        queue.first_leave = 0;
    }
    queue.next_leaves = leaves + figures_.queue.own_interval;
    return leaves;
  }

  void note_ended(const Block& block) {
    if (block.ended == block.all && block.unknown == 0 && block.all == block.warps.size())
      end_at_ = std::min(end_at_, std::max(block.done_at, from_));
  }

  /// Fetches the warp's next instruction.
  void fetch(Warp& warp) {
    // It is made in its place: the host's processor stalls on a copy of what was just written in parts.
    if (warp.has_ended)
      new (&warp.next) Instruction{.pipe = Instruction::none};
    else
      new (&warp.next) Instruction(execution_.next(warp.program));
    schedulers_[warp.scheduler].wanting(warp.next.pipe) |= bit(warp.place);
    const int last = std::max(int(warp.next.result), int(std::ranges::max(warp.next.sources)));
    if (last >= int(registers_per_warp_)) [[unlikely]]
      add_registers(std::size_t(last) + 1);
  }

  /// Computes when the operands of the warp's next instruction are ready.
  void prepare(Warp& warp, WarpNumber number) {
    std::int64_t& ready_at = schedulers_[warp.scheduler].ready_at[warp.place];
    if (warp.has_ended || warp.at_barrier) {
      ready_at = std::int64_t(never);
      return;
    }
    warp.data_at = warp.delayed_until;
    for (const std::int16_t source : warp.next.sources) {
      if (source == Instruction::none)
        break;
      warp.data_at = std::max(warp.data_at, register_of(number, source));
    }
    ready_at = std::int64_t(warp.ready_at());
  }

  Cycle& register_of(WarpNumber number, std::int16_t one) {
    return registers_[number * registers_per_warp_ + std::size_t(one)];
  }
  void add_registers(std::size_t per_warp) {
    std::vector<Cycle> all(warps_.size() * per_warp);
    for (std::size_t i = 0; i < registers_.size(); ++i)
      all[i / registers_per_warp_ * per_warp + i % registers_per_warp_] = registers_[i];
    registers_ = std::move(all);
    registers_per_warp_ = per_warp;
  }

  /// Returns when the pipe is free.
  Cycle& unit_of(const Scheduler& scheduler, std::size_t pipe) {
    return units_[scheduler.pipes[pipe + 1].unit];
  }

  /// Returns the first cycle, not before `from`, in which an instruction can enter the pipe if none does
  /// before.
  [[gnu::always_inline]] Cycle open_at(Scheduler& scheduler, std::size_t pipe, Cycle from) {
    const PipeFigures& figures = figures_.pipes[pipe];
    Cycle open = std::max(from, unit_of(scheduler, pipe));
    if (figures.uses_queue && has_queue()) {
      const Queue& queue = scheduler.queues[figures.queue];
      open = std::max(open, queue.leaves[queue.first_leave]);
    }
    if (figures.needs_mshr)
      open = std::max(open, execution_.entries_open_at(from));
    return open;
  }

  /// Returns the next cycle, not before `from`, in which the scheduler can issue: the operands of a warp
  /// that is not ready are ready in cycle `next`.
  [[gnu::always_inline]] Cycle next_of(Scheduler& scheduler, Cycle next, Cycle from) {
    const PipeSet wanted = scheduler.wanted_by_ready();
    if ((wanted & without_pipe) != 0)
      next = from;
    for (PipeSet left = wanted & ~without_pipe; left != 0 && next > from; left &= left - 1)
      next = std::min(next, open_at(scheduler, std::size_t(std::countr_zero(left)) - 1, from));
    return std::max(next, from);
  }

  /// Returns the place of the warp that issues, of those that can.
  std::uint32_t chosen(const Scheduler& scheduler, Mask open) const {
    if (figures_.kernels > 1)
      return chosen_by_turns(scheduler, open);
    const IssuePolicyTraits& policy = traits_of(figures_.policy);
    switch (policy.shortcut) {
    case IssueShortcut::next_behind_last: {
      const Mask behind =
          scheduler.up_to_last < max_warps_of_scheduler ? open & (~Mask{0} << scheduler.up_to_last) : 0;
      return std::uint32_t(std::countr_zero(behind != 0 ? behind : open));
    }
    case IssueShortcut::last_then_oldest:
    case IssueShortcut::last_then_youngest:
      if (scheduler.last_place && (open & bit(*scheduler.last_place)) != 0)
        return *scheduler.last_place;
      return std::uint32_t(policy.shortcut == IssueShortcut::last_then_oldest
                               ? std::countr_zero(open)
                               : int(std::bit_width(open)) - 1);
    case IssueShortcut::last_then_least_recent: {
      if (scheduler.last_place && (open & bit(*scheduler.last_place)) != 0)
        return *scheduler.last_place;
      auto best = std::uint32_t(std::countr_zero(open));
      for (Mask left = open & (open - 1); left != 0; left &= left - 1)
        if (const auto place = std::uint32_t(std::countr_zero(left));
            scheduler.idle_since[place] < scheduler.idle_since[best])
          best = place;
      return best;
    }
    case IssueShortcut::none: break;
    }
    std::uint32_t best = 0;
    IssueRank lowest{};
    for (Mask left = open; left != 0; left &= left - 1) {
      const auto place = std::uint32_t(std::countr_zero(left));
      const IssueRank rank = policy.rank(candidate(scheduler, warps_[scheduler.warp[place]]));
      if (left == open || rank < lowest) {
        best = place;
        lowest = rank;
      }
    }
    return best;
  }

  /// Returns the same where kernels take turns.
  std::uint32_t chosen_by_turns(const Scheduler& scheduler, Mask open) const {
    std::uint32_t best = 0;
    std::array<std::uint64_t, 3> lowest{~std::uint64_t{0}};
    for (Mask left = open; left != 0; left &= left - 1) {
      const auto place = std::uint32_t(std::countr_zero(left));
      const Warp& warp = warps_[scheduler.warp[place]];
      const std::uint32_t kernel = blocks_[warp.block].kernel;
      const std::array<std::uint64_t, 3> rank{(kernel + figures_.kernels - scheduler.first_in_turn) %
                                                  figures_.kernels,
                                              scheduler.last_of_kernel[kernel] != warp.slot, warp.slot};
      if (rank < lowest)
        std::tie(best, lowest) = std::pair(place, rank);
    }
    return best;
  }

  IssueCandidate candidate(const Scheduler& scheduler, const Warp& warp) const {
    const Block& of = blocks_[warp.block];
    return {.slot = std::int64_t(warp.slot),
            .block = std::int64_t(of.number),
            .idle_since = std::int64_t(scheduler.idle_since[warp.place]),
            .waiting_in_block = of.waiting(),
            .is_other = scheduler.issued_last != warp.slot,
            .is_other_of_block = of.issued_last != warp.slot,
            .is_behind_last = scheduler.issued_last && warp.slot > *scheduler.issued_last};
  }

  const SmFigures& figures_;
  Execution& execution_;
  std::vector<Scheduler> schedulers_;
  std::vector<Cycle> units_; ///< of all pipes: when each is free
  std::vector<Block> blocks_;
  std::vector<Warp> warps_;
  std::vector<WarpNumber> free_warps_;
  std::vector<Cycle> registers_; ///< when each is written, by warp
  std::size_t registers_per_warp_ = 1;
  std::vector<std::uint32_t> ended_; ///< blocks, in this cycle
  std::uint32_t next_slot_ = 0;
  Cycle from_ = 0; ///< the first cycle that has not been visited, or the one that is being visited
  Reservations shared_pipeline_;           ///< behind all queues
  Cycle open_at_ = never, end_at_ = never; ///< the next barrier's and block's
  Cycle barriers_free_at_ = 0;             ///< when the next warp can arrive at a barrier
  bool wakeups_stale_ = false;             ///< the schedulers' next cycles must be found again
};

} // namespace warplens::model
