// The course of one trial. A template over who is told of it, so that nobody costs nothing.
#pragma once

#include "model/constant_caches.h"
#include "model/dram.h"
#include "model/instructions.h"
#include "model/l1.h"
#include "model/l2.h"
#include "model/random_merge.h"
#include "model/schedule.h"
#include "model/tallies.h"
#include "model/tape.h"
#include "model/trial.h"
#include "model/trial_records.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <numeric>
#include <optional>

namespace warplens::model {

/// Transactions of all SMs between two merges: long enough that an SM's L1 stays in the host's caches, short
/// enough for memory.
inline constexpr std::uint64_t round_transactions = 1u << 16;
/// How many of a round's requests to the L2 go through its loops together: what they write on the way stays
/// in the host's caches.
inline constexpr std::size_t requests_together = 1u << 11;

/// Nobody listens.
struct NoObserver {
  void issued(std::uint32_t, const Access&, std::span<const Transaction>, const Lookups&) {}
  void looked_up(std::uint32_t, bool, std::uint32_t, unsigned, const L2Outcome&) {}
  void went_to_memory(std::uint32_t, bool, std::uint32_t, std::uint64_t) {}
  void read_memory(float) {}
  void round_ended() {}
};

/// `Instructions`: what the loops are compiled for. Without `by_site` all is counted as if there were one
/// site, which is there to measure what telling sites apart costs.
template <class Observer, class Instructions, bool by_site = true> class Trial {
public:
  Trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random& random,
        Observer& observer, const L2* before = nullptr)
      : snapshot_(snapshot), merging_(random), observer_(observer),
        l2_(before != nullptr ? L2(*before) : L2(gpu)), form_(l2_.form(snapshot.byte_masks.size() > 1)),
        dram_(gpu, busy_sms(snapshot, gpu), random), l1_latency_ns_(float(gpu.l1.latency_ns)),
        l2_latency_ns_(float(gpu.l2.latency_ns)), far_latency_ns_(float(gpu.l2.copies.far_latency_ns)),
        constant_latency_ns_(float(gpu.constant.latency_ns)),
        group_latency_ns_(float(gpu.constant.group.latency_ns)),
        read_only_latency_ns_(float(gpu.read_only.latency_ns)),
        texture_latency_ns_(float(gpu.texture.latency_ns)),
        writes_local_back_(snapshot.stores_local && gpu.l1.local_stores == LocalStores::write_back),
        tallies_(snapshot, gpu.l1.sectored) {
    const auto blocks = place_blocks(snapshot, gpu, random);
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      if (!blocks[sm].empty())
        sms_.push_back({std::uint32_t(sms_.size()),
                        SmSchedule(snapshot, blocks[sm], occupancy.blocks_per_sm, gpu, random),
                        L1(gpu, occupancy.l1_bytes),
                        sm,
                        std::uint8_t(sm % gpu.l2.partitions),
                        {}});
    const auto give_each_sm = [&](std::vector<ReadOnlyCache>& caches, const Gpu::ReadOnly& figures) {
      for (std::size_t i = 0; i < sms_.size(); ++i)
        caches.emplace_back(figures.bytes, figures.line_bytes, figures.ways);
    };
    if (snapshot.reads_read_only)
      give_each_sm(read_only_, gpu.read_only);
    if (snapshot.reads_textures)
      give_each_sm(textures_, gpu.texture);
    if (snapshot.reads_constants)
      constants_.emplace(gpu, snapshot.sites.size());
    for (const auto& of_sm : blocks)
      for (std::size_t i = 0; i < std::min<std::size_t>(of_sm.size(), occupancy.blocks_per_sm); ++i)
        resident_warps_ += snapshot.blocks[of_sm[i]].warps;
  }

  TrialCounts run() {
    for (std::uint64_t left = transactions_left(); left != 0; left = transactions_left()) {
      for (Sm& sm : sms_) {
        // All SMs reach their ends together: each issues its share of what is left.
        const double share = double(sm.schedule.transactions_left()) / double(left);
        const auto quota = std::uint64_t(share * double(std::min(left, round_transactions)));
        std::uint64_t count = 0;
        Instructions::run([&] { count = take_turns(sm.schedule, quota); });
        sm.l1.with_lines([&](auto& lines) {
          if (writes_local_back_) [[unlikely]]
            Instructions::run([&] { look_up_l1<true>(sm, lines, count); });
          else
            Instructions::run([&] { look_up_l1<false>(sm, lines, count); });
        });
      }
      queue_up();
      while (merge_.waiting() != 0) {
        Instructions::run([&] { merge(); });
        if (constants_)
          ask_constant_groups();
        if (l2_.has_copies())
          l2_.with_copies([&](auto& lines) { Instructions::run([&] { find_copies(lines); }); });
        l2_.with_lines([&](auto& lines) {
          switch (form_) {
          case L2Form::sectors: Instructions::run([&] { serve<L2Form::sectors>(lines); }); break;
          case L2Form::blocks: Instructions::run([&] { serve<L2Form::blocks>(lines); }); break;
          case L2Form::any: Instructions::run([&] { serve<L2Form::any>(lines); }); break;
          }
        });
        if (dram_.by_load())
          Instructions::run([&] { go_to_memory<true>(); });
        else
          Instructions::run([&] { go_to_memory<false>(); });
      }
      if (dram_.by_load())
        Instructions::run([&] { wait_for_memory(); });
      Instructions::run([&] { tally_latencies(); });
      observer_.round_ended();
    }
    return counts();
  }

private:
  static constexpr bool listened = !std::same_as<Observer, NoObserver>;

  struct Sm {
    std::uint32_t number; ///< among those with work
    SmSchedule schedule;
    L1 l1;
    std::uint32_t number_on_gpu;
    std::uint8_t partition; ///< of the L2; which SM lies next to which is assumed
    Tape<OfSm> queue;
  };

  /// Blocks have consecutive ids and go to the SMs in turn.
  static std::uint32_t busy_sms(const Snapshot& snapshot, const Gpu& gpu) {
    return std::uint32_t(std::clamp<std::size_t>(snapshot.blocks.size(), 1, gpu.sms));
  }

  std::uint64_t transactions_left() const {
    std::uint64_t sum = 0;
    for (const Sm& sm : sms_)
      sum += sm.schedule.transactions_left();
    return sum;
  }

  /// The SM's warps take turns, until they have issued at least `quota` transactions; a started bulk is
  /// finished. How many they were.
  std::uint64_t take_turns(SmSchedule& schedule, std::uint64_t quota) {
    quota = std::max<std::uint64_t>(quota, 1);
    issued_.clear();
    Issued* issued = issued_.room_for(quota + snapshot_.longest_bulk); // each has a transaction or more
    const std::uint64_t count =
        schedule.take_turns(quota, [&](const Access& access, const Transaction* transactions) {
          *issued++ = {access, transactions};
        });
    issued_.written_to(issued);
    return count;
  }

  /// What the SM's warps issued, as far as its L1. `count`: of transactions; `writes_back`: the L1 holds
  /// stores to local memory.
  template <bool writes_back, class Lines> void look_up_l1(Sm& sm, const Lines lines, std::uint64_t count) {
    const std::uint64_t most = (1 + writes_back) * count;
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition);
    const bool always_starts = sm.schedule.each_starts_turn();
    const unsigned always = sm.l1.looked_up(0); // without sectors, a line's four
    auto number = std::uint32_t(requests_.size());
    Request* request = requests_.room_for(issued_.size());
    OfSm* queue = sm.queue.room_for(most);
    for (const Issued& one : issued_) {
      *request = Request::of(one.access, always_starts);
      Lookups l1;
      if (one.is_plain_load()) {
        queue = load<writes_back>(sm.l1, lines, always, one, number, *request, asking, queue, l1);
      } else {
        sm.queue.written_to(queue);
        l1 = look_up_other(sm, lines, one, number);
        queue = sm.queue.room_for(most);
      }
      observer_.issued(sm.number, one.access, {one.transactions, one.access.transactions}, l1);
      ++number;
      ++request;
    }
    requests_.written_to(request);
    sm.queue.written_to(queue);
  }

  /// `always`: sectors that any load looks up; `asking`: a load of the L2. Where the queue goes on.
  template <bool writes_back, class Lines>
  OfSm* load(const L1& l1, const Lines& lines, unsigned always, const Issued& one, std::uint32_t number,
             Request& request, std::uint32_t asking, OfSm* queue, Lookups& lookups) {
    std::uint32_t all = 0, found = 0;
    const auto load_line = [&](const Transaction& transaction) {
      const unsigned sectors = transaction.sectors | always;
      const unsigned missing = l1.template load<Instructions>(
          lines, transaction.line, sectors, [&](std::uint32_t line, unsigned dirty) {
            if constexpr (writes_back)
              *queue++ = written_back(line, dirty, number, asking);
          });
      *queue = {transaction.line, {number, asking | missing}};
      queue += missing != 0;
      all += Instructions::sector_count(sectors);
      found += Instructions::sector_count(sectors ^ missing);
    };
    // Most accesses have one line: nothing is to be kept for a loop then.
    load_line(one.transactions[0]);
    for (unsigned i = 1; i < one.access.transactions; ++i)
      load_line(one.transactions[i]);
    lookups = tallies_.l1_lookups(found, all);
    if (found != 0) {
      request.wait_for(Level::l1, l1_latency_ns_);
      tallies_.of(one.access.site).in_l1 += found;
    }
    return queue;
  }

  /// Nobody waits for it. `asking`: as for a load.
  static OfSm written_back(std::uint32_t line, unsigned dirty, std::uint32_t number, std::uint32_t asking) {
    return {line, {number, asking | L2Request::asking(L2Kind::store_of_update, 0) | dirty}};
  }

  /// All but plain loads: apart, as they are many steps and mostly rarer.
  template <class Lines>
  Lookups look_up_other(Sm& sm, const Lines lines, const Issued& one, std::uint32_t number) {
    return Instructions::run(
        [this, &sm, lines, &one, number] { return look_up_any(sm, lines, one, number); });
  }
  template <class Lines>
  Lookups look_up_any(Sm& sm, const Lines& lines, const Issued& one, std::uint32_t number) {
    const Access& access = one.access;
    const std::span<const Transaction> transactions{one.transactions, access.transactions};
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition);
    Lookups l1;
    if (access.cache == FirstCache::constant) {
      load_constants(sm, access, transactions, number);
      return l1;
    }
    if (access.cache == FirstCache::read_only)
      return load_read_only(sm, read_only_[sm.number], read_only_latency_ns_, access, transactions, number);
    if (access.cache == FirstCache::texture)
      return load_read_only(sm, textures_[sm.number], texture_latency_ns_, access, transactions, number);
    const auto go_to_l2 = [&](L2Kind kind) {
      OfSm* queue = sm.queue.room_for(transactions.size());
      for (const Transaction& t : transactions) {
        *queue++ = {t.line,
                    {number, L2Request::asking(kind, sm.partition) |
                                 L2Request::writing(kind == L2Kind::load ? 0 : t.mask) | t.sectors}};
        if (kind == L2Kind::load)
          count_load_in_l2(access.site, t.sectors);
      }
      sm.queue.written_to(queue);
    };
    const auto store = [&](L2Kind kind) {
      if (writes_local_back_ && access.cache == FirstCache::l1_local) {
        OfSm* queue = sm.queue.room_for(transactions.size());
        for (const Transaction& t : transactions)
          sm.l1.template store_back<Instructions>(lines, t.line, t.sectors,
                                                  [&](std::uint32_t line, unsigned dirty) {
                                                    *queue++ = written_back(line, dirty, number, asking);
                                                  });
        sm.queue.written_to(queue);
        if (kind == L2Kind::store)
          requests_[number].wait_for(Level::l1, l1_latency_ns_);
        return;
      }
      for (const Transaction& t : transactions)
        sm.l1.template store<Instructions>(lines, t.line, t.sectors);
      go_to_l2(kind);
    };
    switch (access.kind) {
    case trace::AccessKind::load: go_to_l2(L2Kind::load); break;
    case trace::AccessKind::atomic: go_to_l2(L2Kind::atomic); break;
    case trace::AccessKind::store: store(L2Kind::store); break;
    case trace::AccessKind::update:
      if (access.skips_l1)
        go_to_l2(L2Kind::load);
      else
        sm.queue.written_to(load<true>(sm.l1, lines, sm.l1.looked_up(0), one, number, requests_[number],
                                       asking, sm.queue.room_for(2 * transactions.size()), l1));
      store(L2Kind::store_of_update);
      break;
    }
    return l1;
  }

  Lookups load_read_only(Sm& sm, const ReadOnlyCache& cache, float latency_ns, const Access& access,
                         std::span<const Transaction> transactions, std::uint32_t number) {
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition);
    OfSm* queue = sm.queue.room_for(ReadOnlyCache::most_asked(transactions.size()));
    Lookups lookups;
    for (const Transaction& t : transactions)
      lookups += cache.load(t.line, t.sectors, [&](unsigned sectors) {
        *queue++ = {t.line, {number, asking | sectors}};
        count_load_in_l2(access.site, sectors);
      });
    sm.queue.written_to(queue);
    if (lookups.hits != 0)
      requests_[number].wait_for(Level::l1, latency_ns);
    tallies_.of(access.site).read_only += lookups;
    return lookups;
  }

  void load_constants(Sm& sm, const Access& access, std::span<const Transaction> transactions,
                      std::uint32_t number) {
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition) |
                                 L2Request::of_constants(constants_->group_of(sm.number_on_gpu));
    OfSm* queue = sm.queue.room_for(ReadOnlyCache::most_asked(transactions.size()));
    constants_->load(sm.number_on_gpu, access.site, transactions, [&](std::uint32_t line, unsigned sectors) {
      *queue++ = {line, {number, asking | sectors}};
    });
    sm.queue.written_to(queue);
    requests_[number].wait_for(Level::constant, constant_latency_ns_);
  }

  /// Not of what the L1 missed, which is counted there.
  void count_load_in_l2(std::uint32_t site, unsigned sectors) {
    tallies_.of(site).l2[unsigned(L2Kind::load)].all += Instructions::sector_count(sectors);
  }

  /// All that the SMs ask of the L2 in this round.
  void queue_up() {
    next_.clear();
    for (std::uint32_t i = 0; i < sms_.size(); ++i) {
      merge_.add(std::uint16_t(i), sms_[i].queue.size());
      next_.push_back(sms_[i].queue.begin());
      sms_[i].queue.clear(); // what it has is read until the next round
    }
  }

  /// The next of them in the order in which they come to the L2.
  void merge() {
    const std::size_t count = std::min(merge_.waiting(), requests_together);
    MergedRequests::Writer merged = merged_.begin(count);
    const OfSm** const next = next_.data();
    merge_.draw(merging_, count, [&](std::uint16_t sm) { merged.add(*next[sm]++); });
    merged_.end(merged);
  }

  /// The requests of the SMs' constant caches end here, or go on to the L2.
  void ask_constant_groups() {
    MergedRequests::Writer go_on = go_on_.begin(merged_.size() * constants_->lines_of_group());
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      const std::uint32_t line = merged_.lines[i];
      const L2Request& asked = merged_.asked[i];
      if (!asked.is_of_constants()) {
        go_on.add({line, asked});
        continue;
      }
      Request& request = requests_[asked.request];
      const std::uint32_t asking = L2Request::asking(L2Kind::load, asked.partition());
      if (constants_->load_from_group(asked.constant_group(), request.site, line, [&](std::uint32_t missing) {
            go_on.add({missing, {asked.request, asking | whole_line}});
            count_load_in_l2(request.site, whole_line);
          }))
        request.wait_for(Level::constant, group_latency_ns_);
    }
    go_on_.end(go_on);
    std::swap(merged_, go_on_);
  }

  /// Calls visit(line, asked, set) for each of them, with the line's set in the part that part_of(asked)
  /// says; and prefetch(asked, set) for those ahead, to ask for what they will need.
  template <class Lines, class PartOf, class Prefetch, class Visit>
  void visit_merged(const Lines& lines, PartOf&& part_of, Prefetch&& prefetch, Visit&& visit) {
    const std::size_t count = merged_.size();
    const std::uint32_t* const merged = merged_.lines.begin();
    L2Request* const asked = merged_.asked.begin();
    sets_.clear();
    std::uint32_t* const sets = sets_.room_for(count + requests_ahead);
    lines.with_set_index([&](auto&& find) {
      for (std::size_t i = 0; i < count; ++i)
        sets[i] = find(merged[i]) + part_of(asked[i]) * lines.sets_per_part();
    });
    // What the last ones see ahead.
    std::fill_n(sets + count, requests_ahead, 0);
    std::fill_n(asked + count, requests_ahead, L2Request());
    for (std::size_t i = 0; i < requests_ahead; ++i)
      prefetch(asked[i], sets[i]);
    for (std::size_t i = 0; i < count; ++i) {
      prefetch(asked[i + requests_ahead], sets[i + requests_ahead]);
      visit(merged[i], asked[i], sets[i]);
    }
  }

  /// First step of the L2: which sectors does it have as copies next to the asker?
  template <class Lines> void find_copies(const Lines lines) {
    visit_merged(
        lines, [](const L2Request& asked) { return asked.partition(); },
        [&](const L2Request&, std::uint32_t set) { lines.prefetch(set); },
        [&](std::uint32_t line, L2Request& asked, std::uint32_t set) {
          const auto copied = [this, lines, line, &asked, set](L2Kind kind) {
            return l2_.template copied<Instructions>(lines, kind, set, line, asked.sectors(),
                                                     written_by(asked), asked.partition());
          };
          asked.what |= (asked.kind() == L2Kind::load
                             ? copied(L2Kind::load)
                             : Instructions::run([copied, &asked] { return copied(asked.kind()); }))
                        << 4;
        });
  }

  /// Second step: the L2 as a whole. `form`: as L2::form() says.
  template <L2Form form, class Lines> void serve(const Lines lines) {
    // At most, each request has its line read and written, and each line that it displaces filled up and
    // written.
    const std::size_t most = (2 + 2 * l2_.most_displaced()) * merged_.size();
    MemoryRequests::Writer to_memory = to_memory_.begin(most);
    visit_merged(
        lines, [](const L2Request&) { return 0u; },
        [&](const L2Request& asked, std::uint32_t set) {
          l2_.template prefetch<form>(lines, set, asked.sectors());
        },
        [&](std::uint32_t line, const L2Request& asked, std::uint32_t set) {
          to_memory = asked.kind() == L2Kind::load
                          ? serve<form, L2Kind::load>(lines, line, asked, set, to_memory)
                          : Instructions::run([this, lines, line, &asked, set, to_memory] {
                              return asked.kind() == L2Kind::atomic
                                         ? serve<form, L2Kind::atomic>(lines, line, asked, set, to_memory)
                                         : serve<form, L2Kind::store>(lines, line, asked, set, to_memory);
                            });
        });
    to_memory_.end(to_memory);
  }

  template <L2Form form, L2Kind kind, class Lines>
  MemoryRequests::Writer serve(const Lines& lines, std::uint32_t line, const L2Request& asked,
                               std::uint32_t set, MemoryRequests::Writer to_memory) {
    const unsigned sectors = asked.sectors();
    const L2Outcome outcome = l2_.template request<Instructions, form>(
        lines, kind, set, line, sectors, asked.near(), form == L2Form::any ? written_by(asked) : nullptr,
        [&](std::uint32_t displaced, unsigned dirty, unsigned filled) {
          to_memory.add(displaced, asked.request, filled, ToMemory::Reason::filled);
          to_memory.add(displaced, asked.request, dirty, ToMemory::Reason::displaced);
        });
    observer_.looked_up(asked.request, kind == L2Kind::load, line, sectors, outcome);
    // An update's own figures are those of its load.
    const bool timed = kind != L2Kind::store || asked.kind() == L2Kind::store;
    const auto reason = kind != L2Kind::store ? ToMemory::Reason::read
                        : timed               ? ToMemory::Reason::written
                                              : ToMemory::Reason::of_update;
    unsigned asks = kind == L2Kind::store ? outcome.updated : outcome.fetched;
    to_memory.add(line, asked.request, asks, reason);
    if (kind == L2Kind::store && outcome.fetched != 0) [[unlikely]] {
      to_memory.add(line, asked.request, outcome.fetched,
                    timed ? ToMemory::Reason::read : ToMemory::Reason::filled);
      asks |= outcome.fetched;
    }
    if (kind == L2Kind::load && outcome.hits == 0)
      return to_memory;
    Request& request = requests_[asked.request];
    Lookups& lookups = tallies_.of(request.site).l2[unsigned(kind == L2Kind::load ? kind : asked.kind())];
    lookups.hits += Instructions::sector_count(outcome.hits);
    if constexpr (kind != L2Kind::load)
      lookups.all += Instructions::sector_count(sectors);
    if (timed && asks == 0)
      request.wait_for(Level::l2, outcome.far != 0 ? far_latency_ns_ : l2_latency_ns_);
    return to_memory;
  }

  /// The bytes that a store writes of its sectors; null: all.
  const ByteMask* written_by(const L2Request& asked) const {
    return asked.mask() == 0 ? nullptr : &snapshot_.byte_masks[asked.mask()];
  }

  /// What the L2 asks of memory, in its order. `by_load`: what the requests wait for each other is known once
  /// all of the round are there.
  template <bool by_load> void go_to_memory() {
    const std::size_t most = by_load ? to_memory_.size() : 0;
    InMemory* waiting[] = {read_.room_for(most), written_.room_for(most)}; // by Reason
    const ToMemory* const asked = to_memory_.asked.begin();
    std::array<std::uint64_t, ToMemory::reasons << sectors_per_line> times{}; // of each ToMemory::what
    dram_.template request_all<Instructions, by_load, !by_load || listened>(
        to_memory_.lines.begin(), to_memory_.size(), [&](std::size_t i) { return asked[i].sectors(); },
        [&](std::size_t i, const Dram::Service& service) {
          const auto [request, what] = asked[i];
          ++times[what];
          const ToMemory::Reason reason = asked[i].reason();
          observer_.went_to_memory(
              request, reason == ToMemory::Reason::filled || reason == ToMemory::Reason::displaced,
              service.channel, dram_.batch());
          if (reason > ToMemory::Reason::written)
            return; // nobody waits for it
          requests_[request].wait_for(Level::dram, service.ns);
          if constexpr (by_load) {
            *waiting[unsigned(reason)]++ = {request, service.bank, service.ns};
          } else if (reason == ToMemory::Reason::read) {
            observer_.read_memory(service.ns);
            counts_.dram_latency_ns += double(service.ns);
            ++counts_.dram_reads;
          }
        });
    read_.written_to(waiting[unsigned(ToMemory::Reason::read)]);
    written_.written_to(waiting[unsigned(ToMemory::Reason::written)]);
    for (std::uint32_t what = 0; what < times.size(); ++what) {
      const ToMemory::Reason reason = ToMemory{0, what}.reason();
      const bool reads = reason == ToMemory::Reason::read || reason == ToMemory::Reason::filled;
      (reads ? counts_.dram_read_sectors : counts_.dram_written_sectors) +=
          times[what] * sector_count(ToMemory{0, what}.sectors());
    }
  }

  /// How long the round's requests waited for each other in memory.
  void wait_for_memory() {
    Load load;
    load.warps = resident_warps_;
    std::array<std::uint64_t, levels> bulks{}; // by where their slowest request was served
    Request slowest = requests_[0];
    const auto end_bulk = [&] {
      ++bulks[slowest.level];
      load.latency_ns += double(slowest.latency_ns);
    };
    for (const Request* request = requests_.begin() + 1; request != requests_.end(); ++request)
      if (request->starts_bulk) {
        end_bulk();
        slowest = *request;
      } else if (request->latency_ns > slowest.latency_ns) {
        slowest = *request;
      }
    end_bulk();
    load.bulks = double(std::accumulate(bulks.begin(), bulks.end(), std::uint64_t{0}));
    load.waiting = double(bulks[unsigned(Level::dram)]);
    dram_.end_round(load);
    const auto wait = [&](const InMemory& one) {
      const float latency_ns = one.ns + dram_.wait_ns(one.bank);
      requests_[one.request].wait_for(Level::dram, latency_ns);
      return latency_ns;
    };
    double latency_ns = counts_.dram_latency_ns;
    for (const InMemory& one : read_) {
      const float of_one = wait(one);
      observer_.read_memory(of_one);
      latency_ns += double(of_one);
    }
    counts_.dram_latency_ns = latency_ns;
    counts_.dram_reads += read_.size();
    for (const InMemory& one : written_)
      wait(one);
    read_.clear();
    written_.clear();
  }

  void tally_latencies() {
    for (const Request& request : requests_)
      tallies_.of(request.site).latency_ns[request.level] += double(request.latency_ns);
    requests_.clear();
  }

  TrialCounts counts() {
    tallies_.add_to(counts_);
    if (constants_)
      constants_->count(counts_);
    return std::move(counts_);
  }

  const Snapshot& snapshot_;
  FastRandom merging_;
  Observer& observer_;
  std::vector<Sm> sms_;
  L2 l2_;
  L2Form form_;
  Dram dram_;
  float l1_latency_ns_, l2_latency_ns_, far_latency_ns_, constant_latency_ns_, group_latency_ns_,
      read_only_latency_ns_, texture_latency_ns_;
  bool writes_local_back_;
  std::optional<ConstantCaches> constants_;         ///< if the snapshot has any
  std::vector<ReadOnlyCache> read_only_, textures_; ///< of each SM, likewise
  Tallies<by_site> tallies_;
  TrialCounts counts_;
  Tape<Issued> issued_;    ///< by one SM in this round
  Tape<Request> requests_; ///< the round's
  RandomMerge merge_;
  std::vector<const OfSm*> next_; ///< of each SM
  MergedRequests merged_, go_on_;
  Tape<std::uint32_t> sets_; ///< in which they look, one after the other
  MemoryRequests to_memory_;
  Tape<InMemory> read_, written_;    ///< in this round
  std::uint32_t resident_warps_ = 0; ///< at once, on all SMs
};

} // namespace warplens::model
