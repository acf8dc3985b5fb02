// The threads that empty a channel's rings while its kernel runs.
#pragma once

#include "runtime/host/drain.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

namespace warplens::runtime {

/// The end of a launch's snooping. All but `complete` end it early.
enum class SnooperState { running, complete, stalled, limit_reached, sink_failed, stuck, abandoned };

/// Receives the drained accesses. The first two functions return false if the sink takes no more; tracing
/// then stops. They may be called at the same time for different parts of the channel.
struct Sink {
  std::function<bool(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
                     std::span<const trace::WarpAccess> accesses)>
      append;
  std::function<bool(std::uint32_t part)> flush; ///< makes appended accesses survive a kill
  std::function<void(SnooperState)>
      ended_early{}; ///< called once, by the thread that ends the snooping; may be empty
};

struct SnooperLimits {
  /// Tracing ends if a write takes this long, or, with `ends_at_silence`, if no access comes for this long.
  std::chrono::milliseconds stall{10'000};
  bool ends_at_silence = true;
  std::uint64_t accesses = ~std::uint64_t{0}; ///< end tracing after this number of lines
  std::chrono::milliseconds flush_interval{100};
  std::uint32_t parts = 1; ///< the number of threads that can drain at the same time
  /// The snooper's own threads, from 1 to `parts`. A part's lines are encoded and compressed by the thread
  /// that drains them, which takes far longer than a GPU takes to write them.
  std::uint32_t threads = 1;
  /// A thread's sleep if there are no lines: longer each time.
  std::chrono::microseconds first_pause{1}, longest_pause{200};
};

/// Empties the rings from construction to destruction. An early end sets the channel's stop word, so that no
/// producer waits on.
class Snooper {
public:
  using State = SnooperState;

  /// `channel`'s shared memory must outlive this.
  Snooper(const ring::Channel& channel, Sink sink, SnooperLimits limits);
  /// Abandons undrained lines if neither finish() nor abandon() was called.
  ~Snooper();

  State state() const { return state_; }

  /// Does one round of a thread's work for the part of the channel with this buffer, unless another thread
  /// is doing so. For a producer of this process that finds its ring full, and so need not wait.
  void help(std::uint32_t buffer);

  /// Returns whether one of the snooper's threads has been blocked for as long as a stall may last, because
  /// its sink never returns (as on a failed disk). To be called repeatedly, by any threads. Once it returns
  /// true the producers have been stopped and the threads are left to themselves: this object must outlive
  /// the process.
  bool is_stuck();

  /// Ends the threads after the kernel, and drains the rest. Returns `complete` if no line was lost, `stuck`
  /// if a thread is (see above).
  State finish();
  /// Ends the threads, or leaves them as above, while the kernel may still run, and stops the producers. The
  /// program may call exit() while another of its threads is in finish(): both return then.
  State abandon();

private:
  using Clock = std::chrono::steady_clock;

  /// The rings that one thread drains at a time.
  struct Part {
    std::mutex mutex;
    Clock::time_point last_flush = Clock::now();
    bool unflushed = false;
  };

  /// One of the snooper's threads, which drains every part whose number modulo the threads' is its own.
  /// Aligned, lest the threads share cache lines.
  struct alignas(64) Worker {
    std::atomic<std::uint64_t> heartbeat = 0;
    std::atomic<bool> ended = false;  ///< set when the thread has written all it had
    std::uint64_t last_heartbeat = 0; ///< the value that is_stuck() read last; guarded by watching_
    Clock::time_point last_heard = Clock::now(); ///< guarded by watching_
    std::thread thread;                          ///< joined or detached under watching_
  };

  void start_workers();
  void run(std::uint32_t number);
  bool drain_until_kernel_ends(std::uint32_t number);
  std::uint64_t drain(std::uint32_t part);
  bool flush(std::uint32_t part);
  void flush_rest(std::uint32_t part);
  Worker& worker_of(std::uint32_t part) { return workers_[part % threads_]; }
  bool have_ended() const { return unended_ == 0; }
  void wake();
  void stop_producers(State reason);
  State join();

  ring::Channel channel_;
  Sink sink_;
  SnooperLimits limits_;
  Drain drain_;
  std::unique_ptr<Part[]> parts_;
  std::atomic<std::uint64_t> accesses_ = 0;
  std::atomic<Clock::time_point> last_line_ = Clock::now();
  std::atomic<State> state_ = State::running;
  std::atomic<bool> kernel_ended_ = false;
  std::mutex sleeping_;
  std::condition_variable woken_;
  std::mutex watching_;
  std::atomic<std::uint32_t> threads_;  ///< the snooper's threads
  std::atomic<std::uint32_t> draining_; ///< those that have not seen the end of the kernel's lines
  std::atomic<std::uint32_t> unended_;  ///< those that may still write
  std::unique_ptr<Worker[]> workers_;   ///< last: their threads use all of the above
};

} // namespace warplens::runtime
