// --racecheck: which accesses of a block to its shared memory are ordered by no synchronisation?
//
// Happens-before by clocks. A thread's time is cut into intervals by its synchronisations; each access is
// stamped with the interval it is in. What a thread knows of others is, for each, up to which interval:
// nearly always the same for the whole block (since the last __syncthreads) and a little more for the lanes
// of its own warp (since the last __syncwarp); only named barriers and mbarriers make it different for each
// thread of the block.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace warplens::cpu {

enum class RaceKind : std::uint8_t { read_after_write, write_after_read, write_after_write };

/// Two accesses to the same bytes, in the order in which they happened to come.
struct Race {
  RaceKind kind;
  std::uint32_t first_thread, second_thread; ///< linear
  const char *first_place, *second_place;    ///< "file:line"
  std::uint32_t offset, bytes;               ///< of the second, in the block's shared memory
};

class RaceDetector {
public:
  using Report = std::function<void(const Race&)>;

  /// A block begins: nothing has been accessed.
  void begin(std::uint32_t threads, std::uint64_t shared_bytes, Report report);

  enum class Access : std::uint8_t { read, write, atomic };
  void access(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, Access access,
              const char* place);

  // Synchronisations. What a thread did before it arrives at a meeting comes before what a thread does that
  // has waited for it. Meetings of one number follow one another; `alive` threads have not ended.

  void arrive(std::uint64_t meeting, std::uint32_t thread);
  void leave(std::uint64_t meeting, std::uint32_t thread, std::uint32_t alive);
  /// The same for a thread that does not wait.
  void pass(std::uint64_t meeting, std::uint32_t thread);
  /// An mbarrier counts arrivals of all its phases together.
  void arrive_at_object(std::uint64_t address, std::uint32_t thread);
  void wait_for_object(std::uint64_t address, std::uint32_t thread);

  static constexpr std::uint64_t meeting_of_warp(std::uint32_t warp, std::uint32_t mask) {
    return std::uint64_t{1} << 63 | std::uint64_t{warp} << 32 | mask;
  }

private:
  static constexpr std::uint32_t warp_lanes = 32;

  /// Of each thread, the first interval that is not known to be over.
  struct Clock {
    std::uint32_t all = 0;
    std::array<std::uint32_t, warp_lanes> warp{}; ///< of the own warp's lanes, where that is more
    std::vector<std::uint32_t> each;              ///< of each thread, where that is more; empty: it is not
  };
  struct Thread {
    std::uint32_t interval = 0;
    Clock knows;
  };
  struct Meeting {
    std::vector<std::uint32_t> waiting;
    bool others_passed = false, closed = false, of_all = false;
    Clock joined; ///< without `warp`
  };
  struct Write {
    std::uint32_t interval;
    std::uint16_t thread;
    std::uint8_t bytes; ///< of the word, a bit each
    bool atomic;
    const char* place;
  };
  /// By lanes of a warp in one interval, for there are many that read the same.
  struct Read {
    std::uint32_t interval, lanes;
    std::uint16_t warp;
    std::uint8_t bytes;
    const char* place;
  };
  struct Word {
    std::uint64_t block = 0; ///< whose accesses these are
    std::vector<Write> writes;
    std::vector<Read> reads;
  };

  bool knows(std::uint32_t thread, std::uint32_t other, std::uint32_t interval) const;
  void join(Clock& to, const Clock& from, std::uint32_t threads_warp) const;
  void close(Meeting& meeting, std::uint32_t alive);
  void learn(std::uint32_t thread, const Clock& clock);
  void add_read(Word& word, std::uint32_t thread, std::uint8_t bytes, const char* place);
  void add_write(Word& word, std::uint32_t thread, std::uint8_t bytes, bool atomic, const char* place);

  std::vector<Thread> threads_;
  std::vector<Word> words_;
  std::uint64_t block_ = 0;
  std::uint32_t now_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Meeting>> open_;
  std::vector<std::shared_ptr<Meeting>> met_; ///< by thread: where it waits
  std::map<std::uint64_t, Clock> objects_;
  Report report_;
};

} // namespace warplens::cpu
