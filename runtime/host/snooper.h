// The thread that empties a channel's rings while its kernel runs.
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

/// How the snooping of a launch ends. All but `complete` end it early.
enum class SnooperState { running, complete, stalled, limit_reached, sink_failed, stuck, abandoned };

/// Where the snooper puts what it finds. The first two return false where nothing more can be taken; tracing
/// then stops. They may be called at the same time for different parts of the channel.
struct Sink {
  std::function<bool(std::uint32_t part, std::uint64_t block, std::uint32_t warp,
                     std::span<const trace::WarpAccess> accesses)>
      append;
  std::function<bool(std::uint32_t part)> flush;   ///< makes what was appended survive a kill
  std::function<void(SnooperState)> ended_early{}; ///< told once, by whichever thread ends it; may be empty
};

struct SnooperLimits {
  std::chrono::milliseconds stall{10'000};    ///< end tracing when nothing has happened for so long
  std::uint64_t accesses = ~std::uint64_t{0}; ///< end tracing after so many lines
  std::chrono::milliseconds flush_interval{100};
  std::uint32_t parts = 1; ///< so many threads can drain at the same time
  /// How long the thread sleeps where nothing has come: longer each time.
  std::chrono::microseconds first_pause{1}, longest_pause{200};
};

/// Runs from construction to destruction. Whatever ends it early sets the channel's stop word, so that no
/// producer waits on.
class Snooper {
public:
  using State = SnooperState;

  /// `channel`'s shared memory must outlive this.
  Snooper(const ring::Channel& channel, Sink sink, SnooperLimits limits);
  /// Abandons what is not drained if neither finish() nor abandon() was called.
  ~Snooper();

  State state() const { return state_; }

  /// Does the thread's work for once for the part of the channel that has this buffer, unless somebody is at
  /// it. For a producer of this process that finds its ring full: it need not wait.
  void help(std::uint32_t buffer);

  /// Has the thread itself done nothing for as long as a stall may last, its sink never returning (a disk
  /// that is gone)? To be asked again and again, by any threads. Once true the producers have been
  /// told to stop and the thread is left to itself: this object has to outlive the process.
  bool is_stuck();

  /// The kernel has ended: takes out the rest and ends the thread. Returns `complete` if nothing was lost,
  /// `stuck` if the thread is (see above).
  State finish();
  /// The kernel may still run: tells the producers to stop and ends the thread, or leaves it, as above. The
  /// program may call exit() while another of its threads is in finish(): both return then.
  State abandon();

private:
  using Clock = std::chrono::steady_clock;

  /// What is drained by one thread at a time.
  struct Part {
    std::mutex mutex;
    Clock::time_point last_flush = Clock::now();
    bool unflushed = false;
  };

  void run();
  std::uint64_t drain(std::uint32_t part);
  bool flush(std::uint32_t part);
  void flush_rest(std::uint32_t part);
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
  std::atomic<bool> ended_ = false; ///< the thread, having written all it had
  std::mutex sleeping_;
  std::condition_variable woken_;
  std::atomic<std::uint64_t> heartbeat_ = 0;
  std::mutex watching_;              ///< guards what follows
  std::uint64_t last_heartbeat_ = 0; ///< as is_stuck() saw it
  Clock::time_point last_heard_ = Clock::now();
  std::thread thread_; ///< last: it uses all of the above
};

} // namespace warplens::runtime
