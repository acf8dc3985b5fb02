// The course of one trial. A template over who is told of it, so that nobody costs nothing.
#pragma once

#include "model/dram.h"
#include "model/l1.h"
#include "model/l2.h"
#include "model/schedule.h"
#include "model/trial.h"

#include <algorithm>

namespace warplens::model {

/// Transactions of all SMs between two merges: long enough that an SM's L1 stays in the host's caches, short
/// enough for memory.
inline constexpr std::uint64_t round_transactions = 1u << 16;

enum class L2Kind : std::uint8_t { load, store, atomic, store_of_update };

/// What the SM waits for: the transactions of one access.
struct Request {
  std::uint32_t site : 30;
  std::uint32_t level : 2; ///< where the slowest so far was served, a Level
  float latency_ns;        ///< of that one

  void wait_for(Level where, float ns) {
    if (ns > latency_ns) {
      latency_ns = ns;
      level = unsigned(where);
    }
  }
};

struct L2Request {
  std::uint32_t line;
  std::uint32_t request;
  std::uint8_t sectors;
  L2Kind kind;
  std::uint8_t partition; ///< of the L2, the asker's
};

/// A line read from memory, or written before the request is acknowledged.
struct InMemory {
  std::uint32_t request;
  Dram::Service service;
  bool reads;
};

template <class Observer> class Trial {
public:
  Trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random& random,
        Observer& observer)
      : gpu_(gpu), shuffling_(random), observer_(observer), l2_(gpu),
        dram_(gpu, busy_sms(snapshot, gpu), random) {
    counts_.sites.resize(snapshot.sites.size());
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
        issue(sm, std::uint64_t(share * double(std::min(left, round_transactions))));
      }
      merge();
      wait_for_memory();
      for (const Request& request : requests_)
        counts_.sites[request.site].latency_ns[request.level] += request.latency_ns;
      requests_.clear();
      observer_.round_ended();
    }
    return std::move(counts_);
  }

private:
  struct Sm {
    std::uint32_t number; ///< among those with work
    SmSchedule schedule;
    L1 l1;
    std::uint8_t partition; ///< of the L2; which SM lies next to which is assumed
    std::vector<L2Request> queue;
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

  /// Replays at least `quota` transactions on one SM, as far as its L1; a started bulk is finished.
  void issue(Sm& sm, std::uint64_t quota) {
    const std::uint64_t start = sm.schedule.transactions_left();
    while (sm.schedule.transactions_left() != 0) {
      const SmSchedule::Bulk bulk = sm.schedule.next();
      bulk_starts_.push_back(std::uint32_t(requests_.size()));
      for (const Access& access : bulk.accesses)
        issue(sm, access, {bulk.transactions + access.first_transaction, access.transactions});
      if (start - sm.schedule.transactions_left() >= quota)
        break;
    }
  }

  void issue(Sm& sm, const Access& access, std::span<const Transaction> transactions) {
    const std::uint32_t request = std::uint32_t(requests_.size());
    requests_.push_back({access.site, unsigned(Level::l1), 0});
    Lookups l1;
    switch (access.kind) {
    case trace::AccessKind::load: l1 = load(sm, access, transactions, request); break;
    case trace::AccessKind::store: store(sm, transactions, request, L2Kind::store); break;
    case trace::AccessKind::atomic:
      for (const Transaction& t : transactions)
        sm.queue.push_back({t.line, request, std::uint8_t(t.sectors), L2Kind::atomic, sm.partition});
      break;
    case trace::AccessKind::update:
      l1 = load(sm, access, transactions, request);
      store(sm, transactions, request, L2Kind::store_of_update);
      break;
    }
    observer_.issued(sm.number, access, transactions, l1);
  }

  Lookups load(Sm& sm, const Access& access, std::span<const Transaction> transactions,
               std::uint32_t request) {
    if (access.skips_l1) {
      for (const Transaction& t : transactions)
        sm.queue.push_back({t.line, request, std::uint8_t(t.sectors), L2Kind::load, sm.partition});
      return {};
    }
    Lookups lookups;
    for (const Transaction& t : transactions) {
      const unsigned missing = sm.l1.load(t.line, t.sectors);
      const unsigned all = gpu_.l1.sectored ? sector_count(t.sectors) : 1;
      lookups.all += all;
      if (missing == 0)
        lookups.hits += all;
      else {
        if (gpu_.l1.sectored)
          lookups.hits += all - sector_count(missing);
        sm.queue.push_back({t.line, request, std::uint8_t(missing), L2Kind::load, sm.partition});
      }
    }
    if (lookups.hits != 0)
      requests_[request].wait_for(Level::l1, float(gpu_.l1.latency_ns));
    counts_.sites[access.site].l1.hits += lookups.hits;
    counts_.sites[access.site].l1.all += lookups.all;
    counts_.l1_reads.hits += lookups.hits;
    counts_.l1_reads.all += lookups.all;
    return lookups;
  }

  void store(Sm& sm, std::span<const Transaction> transactions, std::uint32_t request, L2Kind kind) {
    for (const Transaction& t : transactions) {
      sm.l1.store(t.line);
      sm.queue.push_back({t.line, request, std::uint8_t(t.sectors), kind, sm.partition});
    }
  }

  /// Takes the SMs' queues into the L2 in a random order in which each SM's own order stays and every
  /// interleaving is equally likely; that is to pick each next request from an SM with a probability in
  /// proportion to its requests left. Not inlined: within run() the compiler would inline less of it.
  [[gnu::noinline]] void merge() {
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
      next_.push_back(sm.queue.data());
    merged_.clear();
    for (const std::uint16_t sm : order_)
      merged_.push_back(*next_[sm]++);
    for (Sm& sm : sms_)
      sm.queue.clear();

    constexpr std::size_t ahead = 16; // about as many as the host's memory brings at once
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      if (i + ahead < merged_.size())
        l2_.prefetch(merged_[i + ahead].line, merged_[i + ahead].partition);
      serve(merged_[i]);
    }
  }

  void serve(const L2Request& asked) {
    Request& request = requests_[asked.request];
    const auto write_back = [&](std::uint32_t line, unsigned sectors) {
      counts_.dram_written_sectors += sector_count(sectors);
      go_to_memory(asked.request, true, line, sectors);
    };
    L2Outcome outcome;
    switch (asked.kind) {
    case L2Kind::load: outcome = l2_.load(asked.line, asked.sectors, asked.partition, write_back); break;
    case L2Kind::atomic: outcome = l2_.atomic(asked.line, asked.sectors, write_back); break;
    case L2Kind::store:
    case L2Kind::store_of_update:
      outcome = l2_.store(asked.line, asked.sectors, asked.partition, write_back);
      break;
    }
    observer_.looked_up(asked.request, asked.kind == L2Kind::load, asked.line, asked.sectors, outcome,
                        asked.partition);
    const bool timed =
        asked.kind != L2Kind::store_of_update; // whose site's own figures are those of its load
    if (outcome.fetched != 0) {
      wait_for_line(asked.request, go_to_memory(asked.request, false, asked.line, outcome.fetched), true);
      counts_.dram_read_sectors += sector_count(outcome.fetched);
    }
    if (outcome.updated != 0) {
      const Dram::Service service = go_to_memory(asked.request, false, asked.line, outcome.updated);
      if (timed)
        wait_for_line(asked.request, service, false);
      counts_.dram_written_sectors += sector_count(outcome.updated);
    }
    const unsigned all = sector_count(asked.sectors), hits = sector_count(outcome.hits);
    Lookups& total = asked.kind == L2Kind::load ? counts_.l2_reads : counts_.l2_writes;
    total.hits += hits;
    total.all += all;
    if (!timed)
      return;
    Lookups& of_site = counts_.sites[request.site].l2;
    of_site.hits += hits;
    of_site.all += all;
    if (outcome.fetched == 0 && outcome.updated == 0)
      request.wait_for(Level::l2,
                       float(outcome.far != 0 ? gpu_.l2.copies.far_latency_ns : gpu_.l2.latency_ns));
  }

  Dram::Service go_to_memory(std::uint32_t request, bool displaced, std::uint32_t line, unsigned sectors) {
    const Dram::Service service = dram_.request(line, sectors);
    observer_.went_to_memory(request, displaced, service.channel, dram_.batch());
    return service;
  }

  void wait_for_line(std::uint32_t request, const Dram::Service& service, bool reads) {
    requests_[request].wait_for(Level::dram, service.ns);
    in_memory_.push_back({request, service, reads});
  }

  /// How long the round's requests waited for each other in memory is known once all of them are.
  void wait_for_memory() {
    Load load;
    load.warps = resident_warps_;
    load.bulks = double(bulk_starts_.size());
    bulk_starts_.push_back(std::uint32_t(requests_.size()));
    for (std::size_t bulk = 0; bulk + 1 < bulk_starts_.size(); ++bulk) {
      const auto begin = requests_.begin() + bulk_starts_[bulk],
                 end = requests_.begin() + bulk_starts_[bulk + 1];
      const Request& slowest = *std::max_element(
          begin, end, [](const Request& a, const Request& b) { return a.latency_ns < b.latency_ns; });
      load.latency_ns += double(slowest.latency_ns);
      load.waiting += slowest.level == unsigned(Level::dram);
    }
    dram_.end_round(load);
    for (const InMemory& one : in_memory_) {
      const float latency = one.service.ns + dram_.wait_ns(one.service);
      requests_[one.request].wait_for(Level::dram, latency);
      if (one.reads) {
        counts_.dram_latency_ns += double(latency);
        ++counts_.dram_reads;
      }
    }
    in_memory_.clear();
    bulk_starts_.clear();
  }

  const Gpu& gpu_;
  FastRandom shuffling_;
  Observer& observer_;
  std::vector<Sm> sms_;
  L2 l2_;
  Dram dram_;
  TrialCounts counts_;
  std::vector<Request> requests_;
  std::vector<std::uint16_t> order_;
  std::vector<const L2Request*> next_;
  std::vector<L2Request> merged_;
  std::vector<InMemory> in_memory_;
  std::vector<std::uint32_t> bulk_starts_; ///< the round's bulks, as indices into requests_
  std::uint32_t resident_warps_ = 0;       ///< at once, on all SMs
};

} // namespace warplens::model
