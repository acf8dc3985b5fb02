// --racecheck: finds accesses of a block's threads to the same memory that no synchronisation orders; those
// of several blocks are in global_races.h.
//
// It uses happens-before by clocks. A thread's time is cut into intervals by its synchronisations; each
// access is stamped with its interval. A thread knows for each other thread up to which interval it is over:
// nearly always the same for the whole block (since the last __syncthreads) and a little more for the lanes
// of its own warp (since the last __syncwarp); only named barriers, mbarriers, and fences with atomic
// accesses make it different for each thread of the block.
#pragma once

#include "vocabulary/geometry.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace warplens::cpu {

enum class RaceKind : std::uint8_t { read_after_write, write_after_read, write_after_write };

/// Two accesses to the same bytes, in the order in which they happened.
struct Race {
  RaceKind kind;
  std::uint32_t first_thread, second_thread; ///< linear
  const char *first_place, *second_place;    ///< "file:line"
  /// The second access: its offset in the block's shared memory, or its address in global memory.
  std::uint64_t address;
  std::uint64_t bytes;
  bool is_shared;
  bool first_is_copy = false; ///< an asynchronous copy that nothing has waited for
};

/// The number of a stretch of a thread's time. With 64 bits it does not come round: a kernel that runs for
/// hours has more than 2^32 synchronisations.
using Interval = std::uint64_t;

/// The first interval of each thread of a block that is not known to be over.
struct RaceClock {
  Interval all = 0;
  std::array<Interval, warp_lanes> warp{}; ///< values for the own warp's lanes, if larger
  std::vector<Interval> each;              ///< values for each thread, if larger; else empty
};

/// What a thread knows to be over at a fence, its own accesses included.
struct Knowledge {
  RaceClock clock;
  std::uint32_t thread = 0;
  Interval own = 0; ///< the thread's first interval that is not over

  bool covers(std::uint32_t other, Interval interval) const;
};

class RaceDetector {
public:
  using Report = std::function<void(const Race&)>;

  /// Resets the state for a new block without accesses.
  void begin(std::uint32_t threads, std::uint64_t shared_bytes, Report report);

  /// `atomic_read` is a load that races with no atomic access.
  enum class Access : std::uint8_t { read, write, atomic, atomic_read };
  /// An access at an offset in shared memory, or at an address in global memory.
  void access(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, Access access,
              const char* place);
  void access_global(std::uint32_t thread, std::uint64_t address, std::uint64_t bytes, Access access,
                     const char* place);
  Interval interval_of(std::uint32_t thread) const { return threads_[thread].interval; }

  // Asynchronous copies into shared memory: the bytes are in flight until the thread has waited for the
  // copy's group, and then written as by the thread itself.

  void begin_copy(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, const char* place);
  void end_copies(std::uint32_t thread);
  void wait_for_copies(std::uint32_t thread, std::uint32_t pending_groups, bool also_without_group);

  // Synchronisations. A thread's accesses before it arrives at a meeting precede those of a thread after it
  // has waited for the meeting. Meetings of one number follow one another; `alive` threads have not exited.

  void arrive(std::uint64_t meeting, std::uint32_t thread);
  void leave(std::uint64_t meeting, std::uint32_t thread, std::uint32_t alive);
  /// Arrives at a meeting without waiting.
  void pass(std::uint64_t meeting, std::uint32_t thread);
  /// Arrives at an mbarrier, which counts arrivals of all its phases together.
  void arrive_at_object(std::uint64_t address, std::uint32_t thread);
  void wait_for_object(std::uint64_t address, std::uint32_t thread);
  /// A fence: returns what the thread may pass on, and begins its next interval.
  Knowledge publish(std::uint32_t thread);
  /// The thread has read what another thread of the block wrote after it published this.
  void learn(std::uint32_t thread, const Knowledge& knowledge);

  static constexpr std::uint64_t meeting_of_warp(std::uint32_t warp, std::uint32_t mask) {
    return std::uint64_t{1} << 63 | std::uint64_t{warp} << 32 | mask;
  }

private:
  using Clock = RaceClock;
  static constexpr Interval in_flight = ~Interval{0}; ///< of a copy: no thread can know that it is over

  struct Thread {
    Interval interval = 0;
    Clock knows;
  };
  /// A copy in flight.
  struct Copy {
    std::uint64_t offset, bytes;
    std::uint32_t thread;
    std::uint64_t group; ///< of the thread's groups; the open one until it is ended
  };
  struct Meeting {
    std::vector<std::uint32_t> waiting;
    bool others_passed = false, closed = false, of_all = false;
    Clock joined; ///< without `warp`
  };
  struct Write {
    Interval interval;
    std::uint16_t thread;
    std::uint8_t bytes; ///< one bit for each byte of the word
    bool atomic;
    const char* place;
  };
  /// The reads by lanes of a warp in one interval: many lanes read the same word.
  struct Read {
    Interval interval;
    std::uint32_t lanes;
    std::uint16_t warp;
    std::uint8_t bytes;
    bool atomic;
    const char* place;
  };
  struct Word {
    std::uint64_t block = 0; ///< the block that these accesses belong to
    std::vector<Write> writes;
    std::vector<Read> reads;
  };

  void access_word(Word& word, std::uint32_t thread, std::uint8_t mask, Access access, const Race& race);
  template <class Visit>
  void visit_words(std::uint64_t address, std::uint64_t bytes, bool is_shared, Visit visit);
  bool knows(std::uint32_t thread, std::uint32_t other, Interval interval) const;
  void join(Clock& to, const Clock& from, std::uint32_t threads_warp) const;
  void close(Meeting& meeting, std::uint32_t alive);
  void learn(std::uint32_t thread, const Clock& clock);
  void add_read(Word& word, std::uint32_t thread, std::uint8_t bytes, bool atomic, const char* place);
  void add_write(Word& word, std::uint32_t thread, std::uint8_t bytes, bool atomic, const char* place);

  std::vector<Thread> threads_;
  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Word> global_words_; ///< by the address over 4
  std::vector<Copy> copies_;
  std::vector<std::uint64_t> open_groups_; ///< the number of each thread's open group
  std::uint64_t block_ = 0;
  Interval now_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Meeting>> open_;
  std::vector<std::shared_ptr<Meeting>> met_; ///< the meeting that each thread waits for
  std::map<std::uint64_t, Clock> objects_;
  Report report_;
};

} // namespace warplens::cpu
