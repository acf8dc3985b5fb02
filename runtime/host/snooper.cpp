#include "runtime/host/snooper.h"

#include "runtime/host/own_thread.h"

#include <algorithm>

namespace warplens::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Sleeps longer the longer nothing has come: a full ring then waits 200 µs at most.
class Backoff {
public:
  void reset() { pause_ = 1us; }
  void wait() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min<std::chrono::microseconds>(pause_ * 2, 200us);
  }

private:
  std::chrono::microseconds pause_ = 1us;
};

} // namespace

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
  while (state_ == State::running && !is_stuck())
    std::this_thread::sleep_for(50us);
  return join();
}

Snooper::State Snooper::abandon() {
  stop_producers(State::abandoned);
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

bool Snooper::drain(std::uint64_t& lines) {
  bool taken = true;
  lines =
      drain_.once([&](std::uint64_t block, std::uint32_t warp, std::span<const trace::WarpAccess> accesses) {
        ++heartbeat_;
        taken = taken && sink_.append(block, warp, accesses);
      });
  accesses_ += lines;
  return taken;
}

void Snooper::run() {
  Backoff backoff;
  auto last_line = Clock::now(), last_flush = last_line;
  bool unflushed = false;
  while (state_ == State::running) {
    ++heartbeat_;
    const bool last_round = kernel_ended_; // read before draining: what the kernel wrote is then all there
    std::uint64_t lines = 0;
    if (!drain(lines))
      return stop_producers(State::sink_failed);
    const auto now = Clock::now();
    unflushed |= lines != 0;
    if (unflushed && now - last_flush >= limits_.flush_interval) {
      if (!sink_.flush())
        return stop_producers(State::sink_failed);
      unflushed = false;
      last_flush = now;
    }
    if (lines != 0) {
      last_line = now;
      backoff.reset();
      if (accesses_ >= limits_.accesses)
        return stop_producers(State::limit_reached);
    } else if (last_round) {
      State running = State::running;
      state_.compare_exchange_strong(running, State::complete);
    } else if (now - last_line >= limits_.stall) {
      return stop_producers(State::stalled);
    } else {
      backoff.wait();
    }
  }
}

} // namespace warplens::runtime
