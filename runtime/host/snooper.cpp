#include "runtime/host/snooper.h"

#include "runtime/host/own_thread.h"

#include <algorithm>

using namespace std::chrono_literals;

namespace warplens::runtime {

Snooper::Snooper(const ring::Channel& channel, Sink sink, SnooperLimits limits)
    : channel_(channel), sink_(std::move(sink)), limits_(limits), drain_(channel),
      thread_(start_without_signals<std::thread>([this] { run(); })) {}

Snooper::~Snooper() {
  if (thread_.joinable())
    abandon();
}

bool Snooper::is_stuck() {
  const auto now = Clock::now();
  if (const std::uint64_t heartbeat = heartbeat_; state_ != State::running || heartbeat != last_heartbeat_) {
    last_heartbeat_ = heartbeat;
    last_heard_ = now;
    return state_ == State::stuck;
  }
  if (now - last_heard_ < limits_.stall)
    return false;
  stop_producers(State::stuck);
  if (state_ != State::stuck)
    return false; // it has just come to an end by itself
  thread_.detach();
  return true;
}

Snooper::State Snooper::finish() {
  kernel_ended_ = true;
  woken_.notify_all(); // where the thread just falls asleep it misses this, and sleeps for longest_pause
  while (state_ == State::running && !is_stuck())
    std::this_thread::sleep_for(50us);
  return join();
}

Snooper::State Snooper::abandon() {
  stop_producers(State::abandoned);
  if (state_ == State::stuck)
    return state_; // whoever is in the sink keeps the mutex
  {
    const std::lock_guard lock(mutex_); // nobody drains any more
    woken_.notify_all();
  }
  return join();
}

Snooper::State Snooper::join() {
  if (thread_.joinable())
    thread_.join();
  return state_;
}

void Snooper::stop_producers(State reason) {
  State running = State::running;
  const bool first = state_.compare_exchange_strong(running, reason); // the first reason stands
  scoped::store_release(channel_.stop, std::uint32_t{1});
  if (first && sink_.ended_early && reason != State::abandoned)
    sink_.ended_early(reason);
}

void Snooper::help() {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
    drain();
  else
    std::this_thread::yield();
}

/// Takes out what is there, and says how many lines that were. Under the mutex.
std::uint64_t Snooper::drain() {
  if (state_ != State::running)
    return 0;
  bool taken = true;
  const std::uint64_t lines =
      drain_.once([&](std::uint64_t block, std::uint32_t warp, std::span<const trace::WarpAccess> accesses) {
        ++heartbeat_;
        taken = taken && sink_.append(block, warp, accesses);
      });
  accesses_ += lines;
  const auto now = Clock::now();
  if (lines != 0) {
    last_line_ = now;
    unflushed_ = true;
  }
  if (taken && unflushed_ && now - last_flush_ >= limits_.flush_interval) {
    taken = sink_.flush();
    unflushed_ = false;
    last_flush_ = now;
  }
  if (!taken)
    stop_producers(State::sink_failed);
  else if (accesses_ >= limits_.accesses)
    stop_producers(State::limit_reached);
  return lines;
}

void Snooper::run() {
  auto pause = limits_.first_pause;
  std::unique_lock lock(mutex_);
  while (state_ == State::running) {
    ++heartbeat_;
    const bool last_round = kernel_ended_; // read before draining: what the kernel wrote is then all there
    if (drain() != 0) {
      pause = limits_.first_pause;
    } else if (last_round) {
      State running = State::running;
      state_.compare_exchange_strong(running, State::complete);
    } else if (Clock::now() - last_line_ >= limits_.stall) {
      stop_producers(State::stalled);
    } else {
      woken_.wait_for(lock, pause, [&] { return kernel_ended_ || state_ != State::running; });
      pause = std::min(pause * 2, limits_.longest_pause);
    }
  }
}

} // namespace warplens::runtime
