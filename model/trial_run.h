// The course of one trial. A template over who is told of it, so that nobody costs nothing.
#pragma once

#include "model/dram.h"
#include "model/instructions.h"
#include "model/l1.h"
#include "model/l2.h"
#include "model/schedule.h"
#include "model/tape.h"
#include "model/trial.h"

#include <algorithm>

namespace warplens::model {

/// Transactions of all SMs between two merges: long enough that an SM's L1 stays in the host's caches, short
/// enough for memory.
inline constexpr std::uint64_t round_transactions = 1u << 16;

enum class L2Kind : std::uint8_t { load, store, atomic, store_of_update };

/// What the SM waits for: the transactions of one access.
struct Request {
  std::uint32_t site : 23;
  std::uint32_t starts_bulk : 1;
  std::uint32_t level : 8; ///< where the slowest so far was served, a Level
  float latency_ns;        ///< of that one

  void wait_for(Level where, float ns) {
    if (ns > latency_ns) {
      latency_ns = ns;
      level = unsigned(where);
    }
  }
};
static_assert(max_sites <= 1u << 23);

struct L2Request {
  std::uint32_t line;
  std::uint32_t request;
  std::uint32_t sectors : 8;
  std::uint32_t kind : 8;      ///< an L2Kind
  std::uint32_t partition : 8; ///< of the L2, the asker's
};

/// A line read from memory, or written before the request is acknowledged.
struct InMemory {
  std::uint32_t request;
  Dram::Service service;
  bool reads;
};

/// `Instructions`: what the loops are compiled for. Without `by_site` all is counted as if there were one
/// site, which is there to measure what telling sites apart costs.
template <class Observer, class Instructions, bool by_site = true> class Trial {
public:
  Trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random& random,
        Observer& observer)
      : gpu_(gpu), shuffling_(random), observer_(observer), l2_(gpu),
        dram_(gpu, busy_sms(snapshot, gpu), random), tallies_(by_site ? snapshot.sites.size() : 1) {
    const auto blocks = place_blocks(snapshot, gpu, random);
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      if (!blocks[sm].empty())
        sms_.push_back({std::uint32_t(sms_.size()),
                        SmSchedule(snapshot, blocks[sm], occupancy.blocks_per_sm, gpu, random),
                        L1(gpu, occupancy.l1_bytes),
                        std::uint8_t(sm % gpu.l2.partitions),
                        {}});
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
        Instructions::run([&] { issue(sm, quota); });
      }
      Instructions::run([&] { merge(); });
      Instructions::run([&] { serve(); });
      Instructions::run([&] { wait_for_memory(); });
      observer_.round_ended();
    }
    return counts();
  }

private:
  struct Sm {
    std::uint32_t number; ///< among those with work
    SmSchedule schedule;
    L1 l1;
    std::uint8_t partition; ///< of the L2; which SM lies next to which is assumed
    Tape<L2Request> queue;
  };

  /// A site's counts. Those of its lookups in the L2 are by L2Kind.
  struct alignas(128) Tally {
    Lookups l1, l2[4];
    std::array<double, 3> latency_ns{};
  };
  Tally& tally_of(std::uint32_t site) { return tallies_[by_site ? site : 0]; }

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

  /// Replays at least `quota` transactions on one SM, as far as its L1; a started bulk is finished.
  void issue(Sm& sm, std::uint64_t quota) {
    std::uint64_t issued = 0;
    do {
      const SmSchedule::Bulk bulk = sm.schedule.next();
      if (bulk.accesses.empty())
        break;
      issued += bulk.transactions.size();
      L2Request* queue = sm.queue.room_for(2 * bulk.transactions.size()); // an update loads and stores
      Request* request = requests_.room_for(bulk.accesses.size());
      const Transaction* transactions = bulk.transactions.data();
      bool starts_bulk = true;
      for (const Access& access : bulk.accesses) {
        *request = {access.site, starts_bulk, unsigned(Level::l1), 0};
        starts_bulk = false;
        queue = issue(sm, access, {transactions, access.transactions}, *request, queue);
        transactions += access.transactions;
        ++request;
      }
      requests_.written_to(request);
      sm.queue.written_to(queue);
    } while (issued < quota);
  }

  /// What follows takes the end of the SM's queue to the L2 and returns the new one.
  L2Request* issue(Sm& sm, const Access& access, std::span<const Transaction> transactions, Request& request,
                   L2Request* queue) {
    Lookups l1;
    switch (access.kind) {
    case trace::AccessKind::load: queue = load(sm, access, transactions, request, queue, l1); break;
    case trace::AccessKind::store: queue = store(sm, transactions, request, L2Kind::store, queue); break;
    case trace::AccessKind::atomic:
      for (const Transaction& t : transactions)
        *queue++ = to_l2(sm, t.line, t.sectors, L2Kind::atomic, request);
      break;
    case trace::AccessKind::update:
      queue = load(sm, access, transactions, request, queue, l1);
      queue = store(sm, transactions, request, L2Kind::store_of_update, queue);
      break;
    }
    observer_.issued(sm.number, access, transactions, l1);
    return queue;
  }

  L2Request* load(Sm& sm, const Access& access, std::span<const Transaction> transactions, Request& request,
                  L2Request* queue, Lookups& lookups) {
    if (access.skips_l1) {
      for (const Transaction& t : transactions)
        *queue++ = to_l2(sm, t.line, t.sectors, L2Kind::load, request);
      return queue;
    }
    for (const Transaction& t : transactions) {
      const unsigned missing = sm.l1.load(t.line, t.sectors);
      *queue = to_l2(sm, t.line, missing, L2Kind::load, request);
      queue += missing != 0;
      lookups.all += sm.l1.lookups(t.sectors);
      lookups.hits += sm.l1.lookups(t.sectors) - sm.l1.lookups(missing);
    }
    if (lookups.hits != 0)
      request.wait_for(Level::l1, float(gpu_.l1.latency_ns));
    Lookups& tally = tally_of(access.site).l1;
    tally.hits += lookups.hits;
    tally.all += lookups.all;
    return queue;
  }

  L2Request* store(Sm& sm, std::span<const Transaction> transactions, Request& request, L2Kind kind,
                   L2Request* queue) {
    for (const Transaction& t : transactions) {
      sm.l1.store(t.line);
      *queue++ = to_l2(sm, t.line, t.sectors, kind, request);
    }
    return queue;
  }

  L2Request to_l2(const Sm& sm, std::uint32_t line, unsigned sectors, L2Kind kind, const Request& request) {
    return {line, std::uint32_t(&request - requests_.begin()), sectors, unsigned(kind), sm.partition};
  }

  /// Brings the SMs' queues into a random order in which each SM's own order stays and every interleaving is
  /// equally likely; that is to pick each next request from an SM with a probability in proportion to its
  /// requests left.
  void merge() {
    order_.clear();
    for (std::uint32_t i = 0; i < sms_.size(); ++i)
      order_.insert(order_.end(), sms_[i].queue.size(), std::uint16_t(i));
    std::uint32_t left = std::uint32_t(order_.size());
    for (; left > 2; left -= 2) {
      const auto [last, before] = shuffling_.below(left, left - 1);
      std::swap(order_[left - 1], order_[last]);
      std::swap(order_[left - 2], order_[before]);
    }
    if (left == 2)
      std::swap(order_[1], order_[shuffling_.below(2, 1).first]);

    next_.clear();
    for (Sm& sm : sms_)
      next_.push_back(sm.queue.begin());
    merged_.clear();
    L2Request* merged = merged_.room_for(order_.size());
    for (const std::uint16_t sm : order_)
      *merged++ = *next_[sm]++;
    merged_.written_to(merged);
    for (Sm& sm : sms_)
      sm.queue.clear();
  }

  void serve() {
    constexpr std::size_t ahead = 16; // about as many as the host's memory brings at once
    in_memory_.clear();
    InMemory* in_memory = in_memory_.room_for(2 * merged_.size());
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      if (i + ahead < merged_.size())
        l2_.prefetch(merged_[i + ahead].line, merged_[i + ahead].partition);
      in_memory = serve(merged_[i], in_memory);
    }
    in_memory_.written_to(in_memory);
  }

  InMemory* serve(const L2Request& asked, InMemory* in_memory) {
    Request& request = requests_[asked.request];
    const auto kind = L2Kind(asked.kind);
    const auto write_back = [&](std::uint32_t line, unsigned sectors) {
      counts_.dram_written_sectors += sector_count(sectors);
      go_to_memory(asked.request, true, line, sectors);
    };
    L2Outcome outcome;
    switch (kind) {
    case L2Kind::load: outcome = l2_.load(asked.line, asked.sectors, asked.partition, write_back); break;
    case L2Kind::atomic: outcome = l2_.atomic(asked.line, asked.sectors, write_back); break;
    case L2Kind::store:
    case L2Kind::store_of_update:
      outcome = l2_.store(asked.line, asked.sectors, asked.partition, write_back);
      break;
    }
    observer_.looked_up(asked.request, kind == L2Kind::load, asked.line, asked.sectors, outcome,
                        asked.partition);
    const bool timed = kind != L2Kind::store_of_update; // whose site's own figures are those of its load
    if (outcome.fetched != 0) {
      const Dram::Service service = go_to_memory(asked.request, false, asked.line, outcome.fetched);
      request.wait_for(Level::dram, service.ns);
      *in_memory++ = {asked.request, service, true};
      counts_.dram_read_sectors += sector_count(outcome.fetched);
    }
    if (outcome.updated != 0) {
      const Dram::Service service = go_to_memory(asked.request, false, asked.line, outcome.updated);
      if (timed) {
        request.wait_for(Level::dram, service.ns);
        *in_memory++ = {asked.request, service, false};
      }
      counts_.dram_written_sectors += sector_count(outcome.updated);
    }
    Lookups& tally = tally_of(request.site).l2[asked.kind];
    tally.hits += sector_count(outcome.hits);
    tally.all += sector_count(asked.sectors);
    if (timed && outcome.fetched == 0 && outcome.updated == 0)
      request.wait_for(Level::l2,
                       float(outcome.far != 0 ? gpu_.l2.copies.far_latency_ns : gpu_.l2.latency_ns));
    return in_memory;
  }

  Dram::Service go_to_memory(std::uint32_t request, bool displaced, std::uint32_t line, unsigned sectors) {
    const Dram::Service service = dram_.request(line, sectors);
    observer_.went_to_memory(request, displaced, service.channel, dram_.batch());
    return service;
  }

  /// How long the round's requests waited for each other in memory is known once all of them are.
  void wait_for_memory() {
    Load load;
    load.warps = resident_warps_;
    for (const Request* request = requests_.begin(); request != requests_.end();) {
      Request slowest = *request;
      while (++request != requests_.end() && !request->starts_bulk)
        if (request->latency_ns > slowest.latency_ns)
          slowest = *request;
      load.bulks += 1;
      load.latency_ns += double(slowest.latency_ns);
      load.waiting += slowest.level == unsigned(Level::dram);
    }
    dram_.end_round(load);
    for (const InMemory& one : in_memory_) {
      const float latency = one.service.ns + dram_.wait_ns(one.service);
      requests_[one.request].wait_for(Level::dram, latency);
      if (one.reads) {
        observer_.read_memory(latency);
        counts_.dram_latency_ns += double(latency);
        ++counts_.dram_reads;
      }
    }
    for (const Request& request : requests_)
      tally_of(request.site).latency_ns[request.level] += double(request.latency_ns);
    requests_.clear();
  }

  TrialCounts counts() {
    for (const Tally& tally : tallies_) {
      TrialCounts::Site& site = counts_.sites.emplace_back();
      site.l1 = tally.l1;
      site.latency_ns = tally.latency_ns;
      counts_.l1_reads += tally.l1;
      for (const L2Kind kind : {L2Kind::load, L2Kind::store, L2Kind::atomic, L2Kind::store_of_update}) {
        const Lookups& l2 = tally.l2[unsigned(kind)];
        (kind == L2Kind::load ? counts_.l2_reads : counts_.l2_writes) += l2;
        if (kind != L2Kind::store_of_update)
          site.l2 += l2;
      }
    }
    return std::move(counts_);
  }

  const Gpu& gpu_;
  FastRandom shuffling_;
  Observer& observer_;
  std::vector<Sm> sms_;
  L2 l2_;
  Dram dram_;
  std::vector<Tally> tallies_; ///< as Snapshot::sites
  TrialCounts counts_;
  Tape<Request> requests_; ///< the round's
  std::vector<std::uint16_t> order_;
  std::vector<const L2Request*> next_;
  Tape<L2Request> merged_;
  Tape<InMemory> in_memory_;
  std::uint32_t resident_warps_ = 0; ///< at once, on all SMs
};

} // namespace warplens::model
