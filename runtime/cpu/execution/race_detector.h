// --racecheck: finds accesses of a block to its shared memory that no synchronisation orders.
//
// It uses happens-before by clocks. A thread's time is cut into intervals by its synchronisations; each
// access is stamped with its interval. A thread knows for each other thread up to which interval it is over:
// nearly always the same for the whole block (since the last __syncthreads) and a little more for the lanes
// of its own warp (since the last __syncwarp); only named barriers and mbarriers make it different for each
// thread of the block.
#pragma once

#include "vocabulary/geometry.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace warplens::cpu {

enum class RaceKind : std::uint8_t { read_after_write, write_after_read, write_after_write };

/// Two accesses to the same bytes, in the order in which they happened.
struct Race {
  RaceKind kind;
  std::uint32_t first_thread, second_thread; ///< linear
  const char *first_place, *second_place;    ///< "file:line"
  std::uint32_t offset, bytes;               ///< the second access, in the block's shared memory
};

class RaceDetector {
public:
  using Report = std::function<void(const Race&)>;

  /// Resets the state for a new block without accesses.
  void begin(std::uint32_t threads, std::uint64_t shared_bytes, Report report);

  enum class Access : std::uint8_t { read, write, atomic };
  void access(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, Access access,
              const char* place);

  // Synchronisations. A thread's accesses before it arrives at a meeting precede those of a thread after it
  // has waited for the meeting. Meetings of one number follow one another; `alive` threads have not exited.

  void arrive(std::uint64_t meeting, std::uint32_t thread);
  void leave(std::uint64_t meeting, std::uint32_t thread, std::uint32_t alive);
  /// Arrives at a meeting without waiting.
  void pass(std::uint64_t meeting, std::uint32_t thread);
  /// Arrives at an mbarrier, which counts arrivals of all its phases together.
  void arrive_at_object(std::uint64_t address, std::uint32_t thread);
  void wait_for_object(std::uint64_t address, std::uint32_t thread);

  static constexpr std::uint64_t meeting_of_warp(std::uint32_t warp, std::uint32_t mask) {
    return std::uint64_t{1} << 63 | std::uint64_t{warp} << 32 | mask;
  }

private:
  /// The first interval of each thread that is not known to be over.
  struct Clock {
    std::uint32_t all = 0;
    std::array<std::uint32_t, warp_lanes> warp{}; ///< values for the own warp's lanes, if larger
    std::vector<std::uint32_t> each;              ///< values for each thread, if larger; else empty
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
    std::uint8_t bytes; ///< one bit for each byte of the word
    bool atomic;
    const char* place;
  };
  /// The reads by lanes of a warp in one interval: many lanes read the same word.
  struct Read {
    std::uint32_t interval, lanes;
    std::uint16_t warp;
    std::uint8_t bytes;
    const char* place;
  };
  struct Word {
    std::uint64_t block = 0; ///< the block that these accesses belong to
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
  std::vector<std::shared_ptr<Meeting>> met_; ///< the meeting that each thread waits for
  std::map<std::uint64_t, Clock> objects_;
  Report report_;
};

} // namespace warplens::cpu
