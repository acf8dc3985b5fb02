#include "runtime/host/snooper.h"

#include "runtime/host/own_thread.h"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace warplens::runtime {

Snooper::Snooper(const ring::Channel& channel, Sink sink, SnooperLimits limits)
    : channel_(channel), sink_(std::move(sink)), limits_(limits), drain_(channel, limits.parts),
      parts_(std::make_unique<Part[]>(limits.parts)),
      thread_(start_without_signals<std::thread>([this] { run(); })) {}

Snooper::~Snooper() {
  if (thread_.joinable())
    abandon();
}

bool Snooper::is_stuck() {
  const std::lock_guard lock(watching_);
  if (state_ == State::stuck || ended_)
    return state_ == State::stuck;
  const auto now = Clock::now();
  if (const std::uint64_t heartbeat = heartbeat_; heartbeat != last_heartbeat_) {
    last_heartbeat_ = heartbeat;
    last_heard_ = now;
    return false;
  }
  if (now - last_heard_ < limits_.stall)
    return false;
  stop_producers(State::stuck);
  thread_.detach();
  return true;
}

Snooper::State Snooper::finish() {
  kernel_ended_ = true;
  wake();
  while (state_ == State::running && !is_stuck())
    std::this_thread::sleep_for(50us);
  if (state_ != State::stuck && drain_.parts() > 1) // producers of this process, which wait for writes anyway
    for (std::uint32_t part = drain_.parts(); part-- > 0;) // the snooper's thread begins at the other end
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
      sleeping_); // the thread that is about to sleep has not seen the reason to stay awake
  woken_.notify_all();
}

/// Waits for the thread, whose last write may never return.
Snooper::State Snooper::join() {
  while (!ended_ && !is_stuck())
    std::this_thread::sleep_for(50us);
  const std::lock_guard lock(watching_); // only one of two threads that end it joins the thread
  if (thread_.joinable())
    thread_.join();
  return state_;
}

void Snooper::stop_producers(State reason) {
  State running = State::running;
  // The first reason is kept, but a thread that is stuck can only be left.
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
  bool taken = true;
  const std::uint64_t lines = drain_.once(
      [&](std::uint64_t block, std::uint32_t warp, std::span<const trace::WarpAccess> accesses) {
        ++heartbeat_;
        taken = taken && sink_.append(number, block, warp, accesses);
      },
      number);
  const std::uint64_t accesses = accesses_ += lines;
  const auto now = Clock::now();
  if (lines != 0) {
    last_line_ = now;
    part.unflushed = true;
  }
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

void Snooper::run() {
  auto pause = limits_.first_pause;
  while (state_ == State::running) {
    ++heartbeat_;
    const bool last_round =
        kernel_ended_; // read before draining: all of the kernel's lines are then available
    std::uint64_t lines = 0;
    for (std::uint32_t part = 0; part < drain_.parts(); ++part) {
      const std::lock_guard lock(parts_[part].mutex);
      lines += drain(part);
    }
    if (lines != 0) {
      pause = limits_.first_pause;
    } else if (last_round) {
      State running = State::running;
      state_.compare_exchange_strong(running, State::complete);
    } else if (Clock::now() - last_line_.load() >= limits_.stall) {
      stop_producers(State::stalled);
    } else {
      std::unique_lock lock(sleeping_);
      woken_.wait_for(lock, pause, [&] { return kernel_ended_ || state_ != State::running; });
      pause = std::min(pause * 2, limits_.longest_pause);
    }
  }
  for (std::uint32_t part = 0; part < drain_.parts(); ++part) {
    ++heartbeat_;
    flush_rest(part);
  }
  ended_ = true;
}

/// Flushes the part after the end: no new drain begins, and a running one is waited for.
void Snooper::flush_rest(std::uint32_t part) {
  const std::lock_guard lock(parts_[part].mutex);
  State complete = State::complete;
  if (!flush(part))
    state_.compare_exchange_strong(complete, State::sink_failed);
}

} // namespace warplens::runtime
