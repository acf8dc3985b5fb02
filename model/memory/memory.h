// The memory that all SMs share, by time: the slices and partitions of the L2, and main memory.
#pragma once

#include "model/cache/l2.h"
#include "model/cache/lookups.h"
#include "model/cache/read_only_cache.h"
#include "model/counts/trial_counts.h"
#include "model/counts/trial_observer.h"
#include "model/dram/dram_map.h"
#include "model/gpu/slices.h"
#include "model/memory/calendar.h"
#include "model/memory/opened_rows.h"
#include "model/memory/server.h"
#include "model/mshrs/mshrs.h"
#include "numeric/random.h"

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// A request of an SM.
struct MemoryRequest {
  static constexpr FillNumber no_fill = ~FillNumber{0};
  static constexpr std::uint32_t max_launches = 1024; ///< beside each other
  /// The fill of a request of this launch, of those beside each other, for which no warp waits; the SM counts
  /// its answer.
  static constexpr FillNumber unawaited(std::uint32_t launch) { return no_fill - 1 - launch; }
  static constexpr std::uint32_t launch_of(FillNumber unawaited_fill) { return no_fill - 1 - unawaited_fill; }
  static constexpr bool is_unawaited(FillNumber fill) { return launch_of(fill) < max_launches; }
  std::uint32_t line = 0;
  FillNumber fill = no_fill;       ///< of the SM, to which the answer belongs
  std::uint32_t mask = 0;          ///< of a store: Transaction::mask
  std::uint32_t draw = 0;          ///< random: decides among requests of one cycle
  std::uint32_t site : 23 = 0;     ///< index into Snapshot::sites
  std::uint32_t partition : 1 = 0; ///< of the L2, next to the SM
  std::uint32_t atomics : 8 = 0;   ///< that a slice executes one after the other
  std::uint16_t sm = 0;
  std::uint8_t sectors : 4 = 0;          ///< one bit each
  std::uint8_t has_crossed : 1 = false;  ///< to the other partition
  std::uint8_t of_constants : 1 = false; ///< the constant cache of a group of SMs is looked up first
  L2Kind kind = L2Kind::load;
};

struct MemoryAnswer {
  FillNumber fill = 0;
  std::uint32_t line = 0;
  Arrival arrival;
};

class Memory {
public:
  /// Begins with the content of `before`, one for each partition of the L2. Where that is empty, the L2 is
  /// empty at a launch's begin, and has lines of its earlier blocks in the middle of it. `observer` may be
  /// null.
  Memory(const Snapshot& snapshot, const Gpu& gpu, std::span<const L2> before, Random& random,
         TrialObserver* observer);

  /// The shortest time from a request to its answer, in cycles.
  Cycle shortest() const { return shortest_; }

  /// Takes a request that leaves its SM in cycle `at`.
  [[gnu::always_inline]] void request(Cycle at, const MemoryRequest& request) {
    events_.add(at + way_there_, {request});
  }
  /// Leaves in the L2 what requests of a kind that are not served, load or store, would: they take no time,
  /// and what is evicted is not written.
  void pass_over(std::span<const Transaction> transactions, L2Kind kind);
  /// Serves what the SMs requested before `end`, when all of that is known. Answers are for `end` or later if
  /// no more than shortest() cycles are served at once.
  void run_until(Cycle end);

  /// The answers for an SM since this was last cleared.
  std::vector<MemoryAnswer>& answers(std::uint32_t sm) { return answers_[sm]; }
  /// Returns a cycle before which nothing happens in the memory; `never` if nothing does.
  Cycle next() const { return events_.next(); }

  /// Adds what was looked up and transferred to the counts, with its time.
  void count(TrialCounts& counts) const;

private:
  struct Event {
    MemoryRequest request;
    FillNumber near_fill =
        MemoryRequest::no_fill; ///< where it comes from the other partition: its fill there
    std::uint32_t draw() const { return request.draw; }
  };
  /// A request that waits for pending sectors, which come from the other partition into that next to its SM.
  struct Waiting {
    FillNumber fill = MemoryRequest::no_fill;
    std::uint32_t line = 0;
    std::uint16_t sm = 0;
    std::uint32_t unknown = 0;
    Arrival until;
  };
  /// A slice reads and writes at a time, but a read takes a part of a write's time from the writes
  /// (Gpu::L2::read_cost). It executes an atomic in the place of a write. A sum of floating-point numbers
  /// takes longer, but keeps only those in the same line waiting.
  struct Slice {
    Server reads, writes;
    Ticks atomics = 0;                              ///< of the busy ticks of `writes`
    std::unordered_map<std::uint32_t, Server> sums; ///< of floating-point numbers, by line
  };
  struct Partition {
    L2 l2;
    Mshrs fills;
    std::vector<Slice> slices;
    Server to_other; ///< the way to the other partition
  };
  struct Bank {
    Ticks free_at = 0;
    std::uint32_t open_row = no_row;
    RowsInView in_view;
    RowsWritten written;
  };
  /// A channel of memory: it writes what it has collected in one go.
  struct Channel {
    Server bus;
    std::uint32_t collected = 0; ///< sectors to write
    std::uint32_t opened = 0;    ///< rows, for what is collected
    std::uint32_t read = 0;      ///< sectors, since the bus was turned, at most a batch
  };
  enum class MemoryUse : std::uint8_t { read, write, write_back };

  /// The L2 as the loop over events looks it up: the code is compiled for its form, for the number of its
  /// ways and for the host's processor.
  template <class Instructions, L2Form form, class Lines> struct LookedUp {
    std::array<Lines, 2> lines; ///< of each partition

    template <class WriteBack>
    [[gnu::always_inline]] L2Outcome request(L2& l2, unsigned at, const MemoryRequest& request,
                                             const ByteMask* written, WriteBack&& write_back) const {
      return l2.request<Instructions, form>(lines[at], request.kind, lines[at].set_of(0, request.line),
                                            request.line, request.sectors, written, write_back);
    }
    void prefetch(unsigned at, std::uint32_t line) const { lines[at].prefetch(lines[at].set_of(0, line)); }
  };
  template <class Work> void with_l2(Work&& work) const;
  template <class AnyL2> void prefetch(const AnyL2& l2, const Event& event) const;
  template <class AnyL2> void arrive(const AnyL2& l2, Cycle now, const Event& event);
  template <class AnyL2> void load(const AnyL2& l2, Cycle now, const Event& event, unsigned at);
  template <class AnyL2> void load_constants(const AnyL2& l2, Cycle now, const Event& event);
  template <class AnyL2> void write(const AnyL2& l2, Cycle now, const Event& event, unsigned at);
  template <class AnyL2>
  L2Outcome look_up(const AnyL2& l2, Cycle now, const MemoryRequest& request, unsigned at, Arrival& until);
  void cross(Cycle now, Event event, unsigned from);
  void answer_later(const Event& event, const Arrival& until, std::uint32_t unknown, Waiter waiter);
  void answer(const Event& event, Arrival arrival);
  void answer_sm(std::uint16_t sm, FillNumber fill, std::uint32_t line, Arrival arrival);
  void fill_with_others(std::uint64_t lines, double stored, Random& random);
  Slice& slice_of(const MemoryRequest& request, unsigned at);
  Cycle read_slice(Cycle now, const MemoryRequest& request, unsigned sectors, unsigned at);
  Cycle write_slice(Cycle now, const MemoryRequest& request, unsigned at);
  Cycle execute_atomic(Slice& slice, Cycle now, const MemoryRequest& request);
  Arrival read_memory(std::uint32_t line, unsigned sectors, Cycle now, Ticks& on_bus);
  Cycle write_memory(std::uint32_t line, unsigned sectors, Cycle now, MemoryUse use);
  struct Transfer {
    Ticks end = 0, waited = 0; ///< when it is done, and for how long it waited for others
    Ticks on_bus = 0;          ///< the bus's time for it and for the row that it opens
  };
  Transfer use_memory(std::uint32_t line, unsigned sectors, Cycle now, MemoryUse use);
  Ticks read_bus(Channel& channel, Ticks arrival, unsigned sectors, Ticks on_bus) const;
  Ticks write_bus(Channel& channel, Ticks arrival, unsigned sectors, bool opens) const;
  Ticks time_of_batch(const Channel& channel) const;
  Ticks& occupied(const MemoryRequest& request, Resource resource) {
    return occupied_[request.site][std::size_t(resource)];
  }
  Waiter new_waiter(const MemoryRequest& request);
  unsigned home_of(std::uint32_t line) const { return home_partition(line, partitions_); }

  const Snapshot& snapshot_;
  Slices slices_;
  Divisor slices_of_partition_;
  DramMap dram_map_;
  unsigned partitions_; ///< one or two
  Cycle way_there_, way_back_, hop_, shortest_, constants_way_back_ = 0;
  Ticks atomic_, float_sum_, sector_across_ = 0;
  Ticks pass_read_, pass_written_, pass_partly_written_;      ///< of a slice of the L2
  Ticks pass_unwritten_;                                      ///< that a pass read keeps it from writing
  std::array<std::uint8_t, 1u << sectors_per_line> passes_{}; ///< in which it passes these sectors
  /// The times of memory: a turn of its bus is shared out to sectors, an opening is a row's, and a channel's
  /// scheduler has in view what its bus transfers in so much time.
  Ticks to_bank_, activate_, precharge_, burst_, turn_, opening_, in_view_;
  Calendar<Event> events_;
  std::vector<Partition> l2_;
  L2Form form_; ///< of each partition
  std::uint32_t group_sms_;
  std::vector<ReadOnlyCache> constants_; ///< by group of SMs, where the snapshot reads constants
  Lookups constant_lookups_;
  std::uint32_t write_batch_;
  std::vector<Bank> banks_;
  std::vector<Channel> channels_;
  std::vector<Waiting> waiting_;
  std::vector<Waiter> free_waiters_;
  std::vector<std::vector<MemoryAnswer>> answers_;          ///< by SM
  std::vector<std::array<Lookups, 4>> lookups_;             ///< in the order of Snapshot::sites, by L2Kind
  std::vector<std::array<Ticks, resource_count>> occupied_; ///< likewise; without what is evicted
  std::uint64_t read_sectors_ = 0, reads_ = 0, crossed_sectors_ = 0, near_hits_ = 0;
  std::uint64_t written_sectors_ = 0, written_back_sectors_ = 0; ///< the latter are among the former
  std::uint64_t activations_ = 0;                                ///< of rows of DRAM
  Cycle read_cycles_ = 0;
  double ns_per_cycle_;
  TrialObserver* observer_; ///< or null
};

} // namespace warplens::model
