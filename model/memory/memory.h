// The memory that all SMs share, by time: the slices and partitions of the L2, and main memory.
#pragma once

#include "model/cache/l2.h"
#include "model/cache/lookups.h"
#include "model/cache/read_only_cache.h"
#include "model/dram/dram_map.h"
#include "model/gpu/slices.h"
#include "model/memory/calendar.h"
#include "model/memory/fills.h"
#include "model/memory/server.h"
#include "model/trial/trial.h"

#include <array>
#include <vector>

namespace warplens::model {

/// A request of an SM.
struct MemoryRequest {
  static constexpr FillNumber no_fill = ~FillNumber{0};
  std::uint32_t line = 0;
  FillNumber fill = no_fill;       ///< of the SM, to which the answer belongs
  std::uint32_t mask = 0;          ///< of a store: Transaction::mask
  std::uint32_t draw = 0;          ///< random: decides among requests of one cycle
  std::uint32_t site : 23 = 0;     ///< index into Snapshot::sites
  std::uint32_t partition : 1 = 0; ///< of the L2, next to the SM
  std::uint32_t conflicts : 8 = 1; ///< of an atomic: lanes with the same address
  std::uint16_t sm = 0;
  std::uint8_t sectors : 4 = 0;          ///< one bit each
  std::uint8_t of_constants : 1 = false; ///< the constant cache of a group of SMs is looked up first
  L2Kind kind = L2Kind::load;
};

struct MemoryAnswer {
  FillNumber fill = 0;
  Arrival arrival;
};

/// Busy ticks of the resources: of the busiest one of each kind, and of all of a kind together.
struct MemoryUse {
  Ticks slice = 0, slices = 0, fabric = 0, channel = 0, channels = 0;
};

class Memory {
public:
  /// Begins with the content of `before`, or empty where that is null.
  Memory(const Snapshot& snapshot, const Gpu& gpu, const L2* before);

  /// The shortest time from a request to its answer, in cycles.
  Cycle shortest() const { return shortest_; }

  /// Takes a request that leaves its SM in cycle `at`.
  void request(Cycle at, const MemoryRequest& request) {
    events_.add(at + way_there_, {request.draw, request});
  }
  /// Serves what the SMs requested before `end`, when all of that is known. Answers are for `end` or later if
  /// no more than shortest() cycles are served at once.
  void run_until(Cycle end);

  /// The answers for an SM since this was last cleared.
  std::vector<MemoryAnswer>& answers(std::uint32_t sm) { return answers_[sm]; }
  /// Returns a cycle before which nothing happens in the memory; `never` if nothing does.
  Cycle next() const { return events_.next(); }

  /// Adds what was looked up and transferred to the counts.
  void count(TrialCounts& counts) const;
  MemoryUse use() const;

private:
  struct Event {
    std::uint32_t draw = 0;
    MemoryRequest request;
    FillNumber near_fill =
        MemoryRequest::no_fill; ///< where it comes from the other partition: its fill there
    bool has_crossed = false;
  };
  /// An event that waits for sectors of which it is unknown when they arrive.
  struct Waiting {
    Event event;
    std::uint32_t unknown = 0;
    Arrival until;
  };
  struct Partition {
    L2 l2;
    Fills fills;
    std::vector<Server> slices;
    Server to_other; ///< the way to the other partition
  };
  struct Bank {
    Ticks free_at = 0;
    std::uint32_t open_row = no_line;
  };

  void arrive(Cycle now, const Event& event);
  void load(Cycle now, const Event& event, unsigned at);
  void load_constants(Cycle now, const Event& event);
  void write(Cycle now, const Event& event, unsigned at);
  L2Outcome look_up(Cycle now, const MemoryRequest& request, unsigned at);
  void cross(Cycle now, Event event, unsigned from);
  void answer_later(const Event& event, const Arrival& until, std::uint32_t unknown, Waiter waiter);
  void answer(const Event& event, Arrival arrival);
  void notify(Waiter waiter, const Arrival& arrival);
  Cycle start_in_slice(Cycle now, const MemoryRequest& request, unsigned sectors, unsigned at);
  Arrival read_memory(std::uint32_t line, unsigned sectors, Cycle now);
  void write_memory(std::uint32_t line, unsigned sectors, Cycle now);
  Ticks use_memory(std::uint32_t line, unsigned sectors, Cycle now);
  Waiter new_waiter(const Event& event);
  unsigned home_of(std::uint32_t line) const { return home_partition(line, partitions_); }

  const Snapshot& snapshot_;
  Slices slices_;
  DramMap dram_map_;
  unsigned partitions_;
  Cycle way_there_, way_back_, hop_, shortest_, constants_way_back_ = 0;
  Ticks sector_in_slice_, atomic_in_slice_, sector_across_ = 0;
  Ticks to_bank_, activate_, precharge_, burst_; ///< of memory
  Calendar<Event> events_;
  std::vector<Partition> l2_;
  std::uint32_t group_sms_;
  std::vector<ReadOnlyCache> constants_; ///< by group of SMs, where the snapshot reads constants
  Lookups constant_lookups_;
  std::vector<Bank> banks_;
  std::vector<Server> channels_;
  std::vector<Waiting> waiting_;
  std::vector<Waiter> free_waiters_;
  std::vector<std::vector<MemoryAnswer>> answers_; ///< by SM
  std::vector<std::array<Lookups, 4>> lookups_;    ///< in the order of Snapshot::sites, by L2Kind
  std::uint64_t read_sectors_ = 0, written_sectors_ = 0, reads_ = 0, crossed_sectors_ = 0, near_hits_ = 0;
  Cycle read_cycles_ = 0;
  double ns_per_cycle_;
};

} // namespace warplens::model
