#include "runtime/host/snooper.h"

#include "runtime/host/own_thread.h"

#include <algorithm>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;

namespace warplens::runtime {

Snooper::Snooper(const ring::Channel& channel, Sink sink, SnooperLimits limits)
    : channel_(channel), sink_(std::move(sink)), limits_(limits), drain_(channel, limits.parts),
      parts_(std::make_unique<Part[]>(limits.parts)), threads_(limits.threads), draining_(limits.threads),
      unended_(limits.threads), workers_(std::make_unique<Worker[]>(limits.threads)) {
  start_workers();
}

Snooper::~Snooper() {
  if (std::any_of(workers_.get(), workers_.get() + threads_,
                  [](const Worker& worker) { return worker.thread.joinable(); }))
    abandon();
}

/// Starts the threads. Those that the system refuses leave their parts to the others; it is an error if there
/// is none at all.
void Snooper::start_workers() {
  for (std::uint32_t number = 0; number < limits_.threads; ++number)
    try {
      workers_[number].thread = start_without_signals<std::thread>([this, number] { run(number); });
    } catch (const std::system_error&) {
      if (number == 0)
        throw;
      threads_ = number;
      draining_ -= limits_.threads - number;
      unended_ -= limits_.threads - number;
      return;
    }
}

bool Snooper::is_stuck() {
  const std::lock_guard lock(watching_);
  if (state_ == State::stuck || have_ended())
    return state_ == State::stuck;
  const auto now = Clock::now();
  bool all_heard = true;
  for (Worker* worker = workers_.get(); worker != workers_.get() + threads_; ++worker) {
    if (const std::uint64_t heartbeat = worker->heartbeat; heartbeat != worker->last_heartbeat) {
      worker->last_heartbeat = heartbeat;
      worker->last_heard = now;
    }
    all_heard &= worker->ended || now - worker->last_heard < limits_.stall;
  }
  if (all_heard)
    return false;
  stop_producers(State::stuck);
  for (std::uint32_t number = 0; number < threads_; ++number)
    if (workers_[number].thread.joinable())
      workers_[number].thread.detach();
  return true;
}

Snooper::State Snooper::finish() {
  kernel_ended_ = true;
  wake();
  while (state_ == State::running && !is_stuck())
    std::this_thread::sleep_for(50us);
  if (state_ != State::stuck &&
      drain_.parts() > limits_.threads) // producers of this process drain, which wait for writes anyway
    for (std::uint32_t part = drain_.parts(); part-- > 0;) // the snooper's threads begin at the other end
      flush_rest(part);
  // A launch on another stream may have taken the channel first, and continue: it is no longer drained.
  scoped::store_release(channel_.stop, std::uint32_t{1});
  return join();
}

Snooper::State Snooper::abandon() {
  stop_producers(State::abandoned);
  wake();
  return join();
}

void Snooper::wake() {
  const std::lock_guard lock(
      sleeping_); // a thread that is about to sleep has not seen the reason to stay awake
  woken_.notify_all();
}

/// Waits for the threads, of which one's last write may never return.
Snooper::State Snooper::join() {
  while (!have_ended() && !is_stuck())
    std::this_thread::sleep_for(50us);
  const std::lock_guard lock(watching_); // only one of two threads that end them joins them
  for (std::uint32_t number = 0; number < threads_; ++number)
    if (workers_[number].thread.joinable())
      workers_[number].thread.join();
  return state_;
}

void Snooper::stop_producers(State reason) {
  State running = State::running;
  // The first reason is kept, but threads that are stuck can only be left.
  const bool first_report = reason == State::stuck ? state_.exchange(reason) != reason
                                                   : state_.compare_exchange_strong(running, reason);
  scoped::store_release(channel_.stop, std::uint32_t{1});
  if (first_report && sink_.ended_early && reason != State::abandoned)
    sink_.ended_early(reason);
}

void Snooper::help(std::uint32_t buffer) {
  const std::uint32_t part = buffer % drain_.parts();
  if (const std::unique_lock lock(parts_[part].mutex, std::try_to_lock); lock)
    drain(part);
  else
    std::this_thread::yield();
}

/// Takes out the available lines and returns their number. The part's mutex must be held.
std::uint64_t Snooper::drain(std::uint32_t number) {
  if (state_ != State::running)
    return 0;
  Part& part = parts_[number];
  std::atomic<std::uint64_t>& heartbeat = worker_of(number).heartbeat;
  bool taken = true;
  const std::uint64_t lines = drain_.once(
      [&](std::uint64_t block, std::uint32_t warp, std::span<const trace::WarpAccess> accesses) {
        ++heartbeat;
        taken = taken && sink_.append(number, block, warp, accesses);
      },
      number);
  const auto now = Clock::now();
  if (lines != 0) {
    last_line_ = now;
    part.unflushed = true;
  }
  const std::uint64_t accesses = lines == 0 ? accesses_.load() : accesses_ += lines;
  if (taken && now - part.last_flush >= limits_.flush_interval) {
    taken = flush(number);
    part.last_flush = now;
  }
  if (!taken)
    stop_producers(State::sink_failed);
  else if (accesses >= limits_.accesses)
    stop_producers(State::limit_reached);
  return lines;
}

/// Flushes the part, whose mutex must be held.
bool Snooper::flush(std::uint32_t part) {
  return !std::exchange(parts_[part].unflushed, false) || sink_.flush(part);
}

void Snooper::run(std::uint32_t number) {
  Worker& worker = workers_[number];
  if (drain_until_kernel_ends(number) && --draining_ == 0) {
    State running = State::running;
    state_.compare_exchange_strong(running, State::complete);
  }
  for (std::uint32_t part = number; part < drain_.parts(); part += threads_) {
    ++worker.heartbeat;
    flush_rest(part);
  }
  worker.ended = true;
  --unended_;
}

/// Drains the thread's parts, and returns true once the kernel has ended and they are empty; false if the
/// tracing ends before.
bool Snooper::drain_until_kernel_ends(std::uint32_t number) {
  auto pause = limits_.first_pause;
  while (state_ == State::running) {
    ++workers_[number].heartbeat;
    const bool last_round =
        kernel_ended_; // read before draining: all of the kernel's lines are then available
    std::uint64_t lines = 0;
    for (std::uint32_t part = number; part < drain_.parts(); part += threads_) {
      const std::lock_guard lock(parts_[part].mutex);
      lines += drain(part);
    }
    if (lines != 0) {
      pause = limits_.first_pause;
    } else if (last_round) {
      return state_ == State::running;
    } else if (limits_.ends_at_silence && Clock::now() - last_line_.load() >= limits_.stall) {
      stop_producers(State::stalled);
    } else {
      std::unique_lock lock(sleeping_);
      woken_.wait_for(lock, pause, [&] { return kernel_ended_ || state_ != State::running; });
      pause = std::min(pause * 2, limits_.longest_pause);
    }
  }
  return false;
}

/// Flushes the part after the end: no new drain begins, and a running one is waited for.
void Snooper::flush_rest(std::uint32_t part) {
  const std::lock_guard lock(parts_[part].mutex);
  if (flush(part))
    return;
  stop_producers(State::sink_failed); // nothing if all have drained their parts, in which case:
  State complete = State::complete;
  state_.compare_exchange_strong(complete, State::sink_failed);
}

} // namespace warplens::runtime
