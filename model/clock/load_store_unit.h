// The load/store unit of an SM: takes a warp's accesses through the SM's caches, and requests from the L2
// what these do not have.
#pragma once

#include "model/cache/l1.h"
#include "model/cache/read_only_cache.h"
#include "model/clock/clock_figures.h"
#include "model/clock/copied_arrivals.h"
#include "model/clock/scoreboards.h"
#include "model/clock/warp_program.h"
#include "model/counts/trial_observer.h"
#include "model/memory/memory.h"
#include "model/mshrs/mshr_limit.h"
#include "numeric/instructions.h"
#include "numeric/random.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warplens::model {

/// Counts of one site's accesses in one SM.
struct SiteAccesses {
  Lookups l1;       ///< sectors, or lines where the L1 has no sectors; or in another cache of the SM
  Lookups constant; ///< addresses
  std::array<Cycle, levels> latency{}; ///< of requests, by the level that served the slowest transaction
  Cycle passes = 0;                    ///< of the memory pipeline, in cycles
  Cycle shared_passes = 0;             ///< of these, by shared memory's banks
  Cycle constant_passes = 0;           ///< of the constant cache, for addresses after the first
  std::uint64_t accesses = 0;          ///< or arrivals at a barrier
  Ticks port = 0;                      ///< to the L2, in either direction
};

class LoadStoreUnit {
public:
  /// `random` and `scoreboards` are the SM's; `observer` may be null.
  LoadStoreUnit(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures, std::uint32_t l1_bytes,
                std::uint32_t sm, FastRandom& random, Scoreboards& scoreboards, TrialObserver* observer);
  LoadStoreUnit(const LoadStoreUnit&) = delete;

  /// Executes the access that a warp's instruction makes: it issues at `now` and reaches the memory pipeline
  /// at `leaves`. The scoreboard of the instruction waits for the answer.
  void execute(WarpNumber warp, const Instruction& instruction, const Issued& issued, Cycle now, Cycle leaves,
               Memory& memory);
  /// Copies in the background what an access reads, past the SM's caches: from cycle `begin` on, a line in a
  /// cycle. take_copied() says when all of it is there. The access itself is counted by issue_copy().
  void copy(WarpNumber warp, const Issued& issued, std::uint32_t phase, Cycle begin, Memory& memory);
  /// Notes an instruction that copies in the background.
  void issue_copy(const Access& access) { ++counts_[access.site].accesses; }
  /// A copy that is there.
  struct Copied {
    std::uint32_t phase;
    Cycle at;
    std::uint32_t site;
    Pc pc;
  };
  /// Follows the asynchronous copies of that many warps from now on, for arrive_with_copies().
  void follow_copies(std::size_t warps) {
    follows_copies_ = true;
    copied_arrivals_.resize(warps);
  }
  /// Notes that a warp arrives in a phase of a barrier when its asynchronous copies are there, and not before
  /// `own`. take_copied() then has the arrival.
  void arrive_with_copies(WarpNumber warp, std::uint32_t phase, const BarrierPhases::Last& own) {
    copied_arrivals_.arrive(warp, phase, own, [this](std::uint32_t of, const BarrierPhases::Last& last) {
      copied_.push_back({of, last.at, last.site, last.pc});
    });
  }
  /// Returns the copies, and arrivals with copies, of which it became known since this was last called.
  std::vector<Copied> take_copied() { return std::exchange(copied_, {}); }
  /// Notes a warp's arrival at a barrier.
  void arrive(const Access& barrier) { ++counts_[barrier.site].accesses; }

  /// Returns the first cycle, not before `from`, in which an access that needs an MSHR can execute, as far as
  /// that is known.
  Cycle mshr_free_at(Cycle from) {
    const Cycle free = std::max(awaited_.open_at(from), unawaited_.open_at(from));
    was_full_ |= free != from;
    return free;
  }
  /// Returns whether mshr_free_at() was another cycle than it was given since this was last called.
  bool was_full() { return std::exchange(was_full_, false); }
  /// Drops what was answered by cycle `now`.
  void forget_until(Cycle now) {
    fills_.forget_until(now);
    awaited_.forget_until(now);
    unawaited_.forget_until(now);
  }

  /// Takes the answers to its requests, and empties them. Calls clear(warp, scoreboard) for each scoreboard
  /// of which it becomes known when it is clear, and before that prefetch(warp).
  template <class Prefetch, class Clear>
  void take(std::vector<MemoryAnswer>& answers, Prefetch&& prefetch, Clear&& clear);
  /// Prefetches what take() reads for these answers.
  void prefetch_answers(const std::vector<MemoryAnswer>& answers) const {
    for (const MemoryAnswer& answer : answers)
      if (!MemoryRequest::is_unawaited(answer.fill))
        fills_.prefetch(answer.fill, answer.line);
  }
  /// Prefetches what the next accesses of these programs look up, and those of their bulk that follow.
  void prefetch_lookups(std::span<const WarpProgram* const> programs) const;

  const std::vector<SiteAccesses>& counts() const { return counts_; } ///< in the order of Snapshot::sites
  /// The requests of one launch for which no warp waits.
  struct Unawaited {
    std::uint32_t pending = 0;
    Cycle last_answer = 0;
  };
  /// One entry for each of the launches beside each other.
  const std::vector<Unawaited>& unawaited() const { return unawaited_of_; }
  /// Tells the launches beside each other apart: the launch of each site, and how many there are.
  void tell_apart(std::vector<std::uint16_t> launch_of_site, std::size_t launches) {
    launch_of_site_ = std::move(launch_of_site);
    unawaited_of_.resize(launches);
  }
  Ticks port_busy() const { return std::max(port_in_.busy(), port_out_.busy()); }

private:
  static constexpr std::uint32_t max_ahead = 64; ///< transactions of a warp that are prefetched, about

  /// An access of which some transactions have not been answered.
  struct Load {
    WarpNumber warp = 0;
    std::uint32_t site = 0;
    Pc pc = 0;
    std::uint32_t unknown = 0; ///< pending transactions
    std::int16_t scoreboard = Instruction::none;
    std::uint32_t phase = no_phase; ///< of a barrier, that needs it
    std::uint32_t batch = no_batch; ///< of an asynchronous copy: CopiedArrivals
    Cycle issued = 0;
    Arrival arrival;
  };
  static constexpr std::uint32_t no_phase = ~0u, no_batch = ~0u;
  using Transactions = std::span<const Transaction>;
  /// An access on its way through the memory pipeline.
  struct Passing {
    const Access& access;
    SiteAccesses& counts;
    std::uint32_t number; ///< index of the load
    Load& load;
    Cycle first_pass, last_pass;
    Memory& memory;
  };

  template <class Instructions, class Lines>
  void look_up(const Lines& lines, const Passing& passing, Transactions transactions);
  template <class Instructions, class Lines>
  void load(const Lines& lines, const Passing& passing, const Transaction& transaction, Cycle at);
  void load_read_only(const ReadOnlyCache& cache, Cycle latency, const Passing& passing,
                      Transactions transactions, bool of_constants);
  // A request stays in the host's registers until it is complete: memory that was written in parts is slow to
  // copy.
  [[gnu::always_inline]] void request(Cycle at, MemoryRequest request, const Passing& passing);
  [[gnu::always_inline]] void request_apart(Cycle at, MemoryRequest request, const Passing& passing,
                                            unsigned entries = 1);
  [[gnu::always_inline]] void send_awaited(Cycle at, const MemoryRequest& request, const Passing& passing,
                                           unsigned entries);
  [[gnu::always_inline]] void send(Cycle at, MemoryRequest request, const Passing& passing);
  static bool is_copy(std::int16_t result) {
    return result >= first_copy_scoreboard && result < first_product_scoreboard;
  }
  template <class Clear> void end_load(std::uint32_t number, Clear&& clear);
  std::uint32_t new_load(const Load& load);

  const ClockFigures& figures_;
  L1 l1_;
  std::optional<ReadOnlyCache> read_only_, texture_, constants_; ///< where the snapshot needs them
  std::uint16_t sm_;
  std::uint8_t partition_;
  bool sectored_, writes_local_back_;
  std::uint32_t tags_per_pass_;
  FastRandom& random_;
  Scoreboards& scoreboards_;
  TrialObserver* observer_; ///< or null
  std::vector<SiteAccesses> counts_;
  Mshrs fills_; ///< waiters are Loads
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_loads_;
  std::vector<Copied> copied_;
  bool follows_copies_ = false;
  CopiedArrivals copied_arrivals_;
  MshrLimit awaited_, unawaited_;          ///< of what warps wait for, and of the other requests to the L2
  std::vector<std::uint8_t> miss_entries_; ///< that each fill holds, by FillNumber
  bool was_full_ = false;
  Server port_in_, port_out_; ///< from the L2 and to it
  std::vector<Unawaited> unawaited_of_{1};
  std::vector<std::uint16_t> launch_of_site_; ///< empty if there is one launch
};

inline LoadStoreUnit::LoadStoreUnit(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures,
                                    std::uint32_t l1_bytes, std::uint32_t sm, FastRandom& random,
                                    Scoreboards& scoreboards, TrialObserver* observer)
    : figures_(figures), l1_(gpu, l1_bytes), sm_(std::uint16_t(sm)),
      partition_(std::uint8_t(sm % gpu.l2.partitions)), sectored_(gpu.l1.sectored),
      writes_local_back_(snapshot.stores_local && gpu.l1.local_stores == LocalStores::write_back),
      tags_per_pass_(gpu.lanes.tags_per_pass), random_(random), scoreboards_(scoreboards),
      observer_(observer), counts_(snapshot.sites.size()), awaited_(figures.misses),
      unawaited_(figures.stores) {
  if (snapshot.reads_read_only)
    read_only_.emplace(gpu.read_only.bytes, gpu.read_only.line_bytes, gpu.read_only.ways);
  if (snapshot.reads_textures)
    texture_.emplace(gpu.texture.bytes, gpu.texture.line_bytes, gpu.texture.ways);
  if (snapshot.reads_constants)
    constants_.emplace(gpu.constant.bytes, gpu.constant.line_bytes, gpu.constant.ways);
}

inline void LoadStoreUnit::execute(WarpNumber warp, const Instruction& instruction, const Issued& issued,
                                   Cycle now, Cycle leaves, Memory& memory) {
  const Access& access = *issued.access;
  const Transactions transactions = issued.transactions;
  SiteAccesses& counts = counts_[access.site];
  ++counts.accesses;
  const Lookups l1_before = counts.l1;
  const std::uint32_t number = new_load({.warp = warp,
                                         .site = access.site,
                                         .pc = issued.pc,
                                         .scoreboard = instruction.result,
                                         .issued = now,
                                         .arrival = {now, Level::l1}});
  Load& load = loads_[number];
  if (follows_copies_ && is_copy(instruction.result))
    load.batch = copied_arrivals_.begin_copy(warp);
  if (instruction.result != Instruction::none)
    scoreboards_.wait_for_access(warp, instruction.result);
  if (access.cache == FirstCache::constant) {
    const Cycle further = instruction.passes * figures_.constant_pass;
    counts.constant_passes += further;
    load_read_only(*constants_, figures_.constant,
                   {access, counts, number, load, leaves, leaves + further, memory}, transactions, true);
  } else {
    const Passing passing{access, counts, number, load, leaves, leaves + instruction.passes - 1, memory};
    const Cycle passes = std::max<Cycle>(figures_.sm.queue.shared_interval, instruction.passes);
    counts.passes += passes;
    if (access.cache == FirstCache::shared) {
      counts.shared_passes += passes;
      load.arrival.and_also({passing.last_pass + figures_.shared, Level::shared});
    } else if (access.cache == FirstCache::read_only) {
      load_read_only(*read_only_, figures_.read_only, passing, transactions, false);
    } else if (access.cache == FirstCache::texture) {
      load_read_only(*texture_, figures_.texture, passing, transactions, false);
    } else {
      with_instructions([&]<class Instructions>(Instructions) {
        Instructions::run([&] {
          l1_.with_lines([&](auto& lines) { look_up<Instructions>(lines, passing, transactions); });
        });
      });
    }
  }
  if (observer_ != nullptr)
    observer_->issued(sm_, access, transactions,
                      {counts.l1.hits - l1_before.hits, counts.l1.all - l1_before.all}, now);
  if (load.unknown == 0)
    end_load(number, [](WarpNumber, std::int16_t) {}); // the caller finds it
}

inline void LoadStoreUnit::copy(WarpNumber warp, const Issued& issued, std::uint32_t phase, Cycle begin,
                                Memory& memory) {
  const Access& access = *issued.access;
  SiteAccesses& counts = counts_[access.site];
  const std::uint32_t number = new_load({.warp = warp,
                                         .site = access.site,
                                         .pc = issued.pc,
                                         .phase = phase,
                                         .issued = begin,
                                         .arrival = {begin, Level::l1}});
  const Passing passing{access, counts, number, loads_[number], begin, begin, memory};
  for (const Transaction& t : issued.transactions) {
    const MemoryRequest request{
        .line = t.line, .site = access.site, .sectors = std::uint8_t(t.sectors & whole_line)};
    request_apart(begin++, request, passing, 0);
  }
  if (observer_ != nullptr)
    observer_->issued(sm_, access, issued.transactions, {}, begin);
}

template <class Instructions, class Lines>
[[gnu::always_inline]] inline void LoadStoreUnit::look_up(const Lines& lines, const Passing& passing,
                                                          Transactions transactions) {
  const Access& access = passing.access;
  const bool loads = access.kind == AccessKind::load || access.kind == AccessKind::update;
  const bool stores = access.kind == AccessKind::store || access.kind == AccessKind::update;
  const bool stores_back = stores && writes_local_back_ && access.cache == FirstCache::l1_local;
  const auto write_back = [&](std::uint32_t line, unsigned dirty) {
    send(passing.first_pass,
         {.line = line,
          .site = access.site,
          .sectors = std::uint8_t(dirty & whole_line),
          .kind = L2Kind::store_of_update},
         passing);
  };
  Cycle at = passing.first_pass;
  std::uint32_t pass_transactions = 0; // transactions so far
  for (const Transaction& t : transactions) {
    if (std::exchange(pass_transactions, pass_transactions + 1) == tags_per_pass_) {
      ++at;
      pass_transactions = 1;
    }
    MemoryRequest to_l2{.line = t.line, .site = access.site, .sectors = std::uint8_t(t.sectors & whole_line)};
    if (loads && !access.skips_l1)
      load<Instructions>(lines, passing, t, at);
    else if (loads)
      request_apart(at, to_l2, passing);
    if (stores_back) {
      l1_.template store_back<Instructions>(lines, t.line, t.sectors, write_back);
    } else if (stores) {
      l1_.template store<Instructions>(lines, t.line, t.sectors, t.mask == 0);
      to_l2.mask = t.mask;
      to_l2.kind = access.kind == AccessKind::store && access.is_store_of_update == 0
                       ? L2Kind::store
                       : L2Kind::store_of_update;
      send(at, to_l2, passing);
    } else if (access.kind == AccessKind::atomic) {
      to_l2.kind = L2Kind::atomic;
      to_l2.atomics = t.mask;
      if (access.is_awaited)
        request_apart(at, to_l2, passing);
      else
        send(at, to_l2, passing);
    }
  }
  if (access.kind == AccessKind::store)
    passing.load.arrival.and_also({passing.last_pass, Level::l1});
}

template <class Instructions, class Lines>
[[gnu::always_inline]] inline void LoadStoreUnit::load(const Lines& lines, const Passing& passing,
                                                       const Transaction& transaction, Cycle at) {
  const unsigned sectors = l1_.looked_up(transaction.sectors);
  const L1::Found found = l1_.template load_on_clock<Instructions>(
      lines, transaction.line, sectors, [&](std::uint32_t line, unsigned dirty) {
        send(at,
             {.line = line,
              .site = passing.access.site,
              .sectors = std::uint8_t(dirty & whole_line),
              .kind = L2Kind::store_of_update},
             passing);
      });
  const unsigned hits = sectors & ~found.missing;
  passing.counts.l1 += sectored_ ? Lookups{sector_count(hits), sector_count(sectors)} : Lookups{hits != 0, 1};
  Load& load = passing.load;
  if (hits != 0)
    load.arrival.and_also({passing.last_pass + figures_.l1, Level::l1});
  unsigned missing = found.missing;
  if ((found.coming | missing) != 0) {
    // A line that was evicted while it was on its way is not requested again.
    const Mshrs::Wait wait =
        fills_.wait(transaction.line, found.coming | missing, load.issued, [&] { return passing.number; });
    load.unknown += wait.unknown;
    load.arrival.and_also(wait.known);
    if (const unsigned arrived = found.coming & ~wait.sectors; arrived != 0)
      l1_.have_arrived(lines, transaction.line, arrived);
    missing &= ~wait.sectors;
  }
  if (missing != 0)
    request(at,
            {.line = transaction.line,
             .site = passing.access.site,
             .sectors = std::uint8_t(missing & whole_line)},
            passing);
}

/// Loads from a cache other than the L1, a line for each transaction.
inline void LoadStoreUnit::load_read_only(const ReadOnlyCache& cache, Cycle latency, const Passing& passing,
                                          Transactions transactions, bool of_constants) {
  SiteAccesses& counts = passing.counts;
  Load& load = passing.load;
  load.arrival.and_also({passing.last_pass + latency, of_constants ? Level::constant : Level::l1});
  for (const Transaction& t : transactions) {
    unsigned missed = 0;
    const Lookups found = cache.load(t.line, t.sectors, [&](unsigned sectors) { missed |= sectors; });
    (of_constants ? counts.constant : counts.l1) += found;
    if (const unsigned hits = t.sectors & ~missed; hits != 0) {
      const Mshrs::Wait wait = fills_.wait(t.line, hits, load.issued, [&] { return passing.number; });
      load.unknown += wait.unknown;
      load.arrival.and_also(wait.known);
    }
    if (missed != 0)
      request(passing.first_pass,
              {.line = t.line,
               .site = passing.access.site,
               .sectors = std::uint8_t(missed & whole_line),
               .of_constants = of_constants},
              passing);
  }
}

/// Requests sectors from the L2 for a cache of the SM; the load waits for them. A cache that has no sectors
/// waits for lines.
inline void LoadStoreUnit::request(Cycle at, MemoryRequest request, const Passing& passing) {
  request.fill = fills_.add(request.line, request.sectors, passing.number);
  send_awaited(at, request, passing, sectored_ ? sector_count(request.sectors) : 1);
}
/// Requests what none of the SM's caches keeps, for as many miss entries: a copy in the background takes
/// none.
inline void LoadStoreUnit::request_apart(Cycle at, MemoryRequest request, const Passing& passing,
                                         unsigned entries) {
  request.fill = fills_.add_apart(passing.number);
  send_awaited(at, request, passing, entries);
}
inline void LoadStoreUnit::send_awaited(Cycle at, const MemoryRequest& request, const Passing& passing,
                                        unsigned entries) {
  ++passing.load.unknown;
  awaited_.sent(entries);
  if (request.fill >= miss_entries_.size())
    miss_entries_.resize(request.fill + 1);
  miss_entries_[request.fill] = std::uint8_t(entries);
  send(at, request, passing);
}

inline void LoadStoreUnit::send(Cycle at, MemoryRequest request, const Passing& passing) {
  request.sm = sm_;
  request.partition = partition_;
  request.draw = random_.bits();
  if (request.fill == MemoryRequest::no_fill) {
    const std::uint32_t launch = launch_of_site_.empty() ? 0 : launch_of_site_[request.site];
    request.fill = MemoryRequest::unawaited(launch);
    ++unawaited_of_[launch].pending;
    unawaited_.sent(1);
  }
  const bool comes_in = request.kind == L2Kind::load;
  const Ticks service =
      (comes_in ? figures_.sector_read : figures_.sector_written) * sector_count(request.sectors);
  passing.counts.port += service;
  const Ticks start = (comes_in ? port_in_ : port_out_).serve(at * ticks_per_cycle, service);
  passing.memory.request(cycle_after(start), request);
}

template <class Prefetch, class Clear>
inline void LoadStoreUnit::take(std::vector<MemoryAnswer>& answers, Prefetch&& prefetch, Clear&& clear) {
  std::erase_if(answers, [&](const MemoryAnswer& answer) {
    if (!MemoryRequest::is_unawaited(answer.fill))
      return false;
    unawaited_.answered(answer.arrival.at, 1);
    Unawaited& unawaited = unawaited_of_[MemoryRequest::launch_of(answer.fill)];
    --unawaited.pending;
    unawaited.last_answer = std::max(unawaited.last_answer, answer.arrival.at);
    return true;
  });
  for (const MemoryAnswer& answer : answers)
    __builtin_prefetch(&loads_[fills_.waiter_of(answer.fill)], 1);
  for (const MemoryAnswer& answer : answers)
    prefetch(loads_[fills_.waiter_of(answer.fill)].warp);
  for (const MemoryAnswer& answer : answers) {
    awaited_.answered(answer.arrival.at, miss_entries_[answer.fill]);
    fills_.arrived(answer.fill, answer.arrival, [&](Waiter waiter) {
      Load& load = loads_[waiter];
      load.arrival.and_also(answer.arrival);
      if (--load.unknown == 0)
        end_load(waiter, clear);
    });
  }
  answers.clear();
}

/// Notes that all transactions of an access are answered.
template <class Clear> void LoadStoreUnit::end_load(std::uint32_t number, Clear&& clear) {
  const Load load = loads_[number];
  free_loads_.push_back(number);
  counts_[load.site].latency[unsigned(load.arrival.level)] += load.arrival.at - load.issued;
  if (observer_ != nullptr)
    observer_->answered(load.issued, load.arrival.at);
  if (load.phase != no_phase)
    copied_.push_back({load.phase, load.arrival.at, load.site, load.pc});
  if (load.batch != no_batch)
    copied_arrivals_.end_copy(load.warp, load.batch, {load.arrival.at, load.site, load.pc},
                              [this](std::uint32_t phase, const BarrierPhases::Last& last) {
                                copied_.push_back({phase, last.at, last.site, last.pc});
                              });
  if (load.scoreboard == Instruction::none)
    return;
  scoreboards_.answered(load.warp, load.scoreboard, load.site, load.pc, load.arrival.at);
  if (scoreboards_.clear_at(load.warp, load.scoreboard) != never)
    clear(load.warp, load.scoreboard);
}

inline void LoadStoreUnit::prefetch_lookups(std::span<const WarpProgram* const> programs) const {
  l1_.with_lines([&](const auto& lines) {
    for (const WarpProgram* const program : programs) {
      const Access* access = program->access;
      std::uint32_t left = program->accesses_left, ahead = 0;
      if (left == 0)
        continue;
      do {
        for (const Transaction& t : Transactions(program->transactions + ahead, access->transactions)) {
          lines.prefetch(lines.set_of(0, t.line));
          fills_.prefetch(t.line);
        }
        ahead += access->transactions;
      } while (--left != 0 && !(++access)->starts_bulk && ahead < max_ahead);
    }
  });
}

inline std::uint32_t LoadStoreUnit::new_load(const Load& load) {
  if (free_loads_.empty()) {
    loads_.push_back(load);
    return std::uint32_t(loads_.size() - 1);
  }
  const std::uint32_t number = free_loads_.back();
  free_loads_.pop_back();
  loads_[number] = load;
  return number;
}

} // namespace warplens::model
