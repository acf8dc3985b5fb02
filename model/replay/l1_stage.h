// First stage of a trial's round: each SM's warps issue accesses, and these look up the caches of the SM.
#pragma once

#include "model/cache/l1.h"
#include "model/cache/read_only_cache.h"
#include "model/replay/constant_caches.h"
#include "model/replay/schedule.h"
#include "model/replay/trial_records.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

template <class Observer, class Instructions, bool by_site> class L1Stage {
public:
  L1Stage(const Gpu& gpu, const Occupancy& occupancy, Random& random, TrialState<Observer, by_site>& state)
      : snapshot_(state.snapshot), state_(state), l1_latency_ns_(float(gpu.l1.latency_ns)),
        constant_latency_ns_(float(gpu.constant.latency_ns)),
        read_only_latency_ns_(float(gpu.read_only.latency_ns)),
        texture_latency_ns_(float(gpu.texture.latency_ns)),
        writes_local_back_(snapshot_.stores_local && gpu.l1.local_stores == LocalStores::write_back) {
    const auto blocks = place_blocks(snapshot_, gpu, random);
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      if (!blocks[sm].empty())
        sms_.push_back({std::uint32_t(sms_.size()),
                        SmSchedule(snapshot_, blocks[sm], occupancy.blocks_per_sm, gpu, random),
                        L1(gpu, occupancy.l1_bytes),
                        sm,
                        {}});
    const auto add_to_each_sm = [&](std::vector<ReadOnlyCache>& caches, const Gpu::ReadOnly& figures) {
      for (std::size_t i = 0; i < sms_.size(); ++i)
        caches.emplace_back(figures.bytes, figures.line_bytes, figures.ways);
    };
    if (snapshot_.reads_read_only)
      add_to_each_sm(read_only_, gpu.read_only);
    if (snapshot_.reads_textures)
      add_to_each_sm(textures_, gpu.texture);
    if (snapshot_.reads_constants)
      constants_.emplace(gpu, snapshot_.sites.size());
    for (const auto& blocks_of_sm : blocks)
      for (std::size_t i = 0; i < std::min<std::size_t>(blocks_of_sm.size(), occupancy.blocks_per_sm); ++i)
        resident_warps_ += snapshot_.blocks[blocks_of_sm[i]].warps;
  }

  std::uint64_t transactions_left() const {
    std::uint64_t sum = 0;
    for (const Sm& sm : sms_)
      sum += sm.schedule.transactions_left();
    return sum;
  }

  /// Lets the SMs issue about `transactions` of the `left` ones. Each issues in proportion to what it has
  /// left, so that all SMs reach their ends together. What their caches miss lies in queue() until the next
  /// round.
  void issue(std::uint64_t left, std::uint64_t transactions) {
    for (Sm& sm : sms_) {
      sm.queue.clear();
      const double share = double(sm.schedule.transactions_left()) / double(left);
      const auto quota = std::uint64_t(share * double(std::min(left, transactions)));
      std::uint64_t count = 0;
      Instructions::run([&] { count = issue(sm.schedule, quota); });
      sm.l1.with_lines([&](auto& lines) {
        if (writes_local_back_) [[unlikely]]
          Instructions::run([&] { look_up<true>(sm, lines, count); });
        else
          Instructions::run([&] { look_up<false>(sm, lines, count); });
      });
    }
  }

  std::size_t sms() const { return sms_.size(); } ///< those with work
  const AppendBuffer<SmRequest>& queue(std::size_t sm) const { return sms_[sm].queue; }
  /// Empty where the snapshot reads no constant memory.
  std::optional<ConstantCaches>& constants() { return constants_; }
  std::uint32_t resident_warps() const { return resident_warps_; } ///< at once, on all SMs

private:
  struct Sm {
    std::uint32_t number; ///< among those with work
    SmSchedule schedule;
    L1 l1;
    std::uint32_t number_on_gpu;
    AppendBuffer<SmRequest> queue;
  };

  /// Lets the SM's warps issue at least `quota` transactions, and finishes a started bulk. Returns the number
  /// of transactions.
  std::uint64_t issue(SmSchedule& schedule, std::uint64_t quota) {
    quota = std::max<std::uint64_t>(quota, 1);
    issued_.clear();
    IssuedAccess* issued = issued_.room_for(quota + snapshot_.longest_bulk); // each has a transaction or more
    const std::uint64_t count =
        schedule.issue_round(quota, [&](const Access& access, const Transaction* transactions) {
          *issued++ = {access, transactions};
        });
    issued_.written_to(issued);
    return count;
  }

  /// Looks up what the SM's warps issued, `count` transactions. `writes_back`: the L1 holds stores to local
  /// memory.
  template <bool writes_back, class Lines> void look_up(Sm& sm, const Lines lines, std::uint64_t count) {
    const std::uint64_t limit = (1 + writes_back) * count;
    const std::uint32_t fields = L2Request::encode(L2Kind::load);
    const unsigned always = sm.l1.looked_up(0); // without sectors, a line's four
    auto number = std::uint32_t(state_.requests.size());
    Request* request = state_.requests.room_for(issued_.size());
    SmRequest* queue = sm.queue.room_for(limit);
    for (const IssuedAccess& one : issued_) {
      *request = Request::of(one.access);
      Lookups l1;
      if (one.is_plain_load()) {
        queue = load<writes_back>(sm.l1, lines, always, one, number, *request, fields, queue, l1);
      } else {
        sm.queue.written_to(queue);
        l1 = look_up_other(sm, lines, one, number);
        queue = sm.queue.room_for(limit);
      }
      state_.observer.issued(sm.number, one.access, {one.transactions, one.access.transactions}, l1, 0);
      ++number;
      ++request;
    }
    state_.requests.written_to(request);
    sm.queue.written_to(queue);
  }

  /// Loads through the L1 and returns where the queue goes on. `always`: the sectors that any load looks up;
  /// `fields`: those of a load of the L2.
  template <bool writes_back, class Lines>
  SmRequest* load(const L1& l1, const Lines& lines, unsigned always, const IssuedAccess& one,
                  std::uint32_t number, Request& request, std::uint32_t fields, SmRequest* queue,
                  Lookups& lookups) {
    std::uint32_t all = 0, found = 0;
    const auto load_line = [&](const Transaction& transaction) {
      const unsigned sectors = transaction.sectors | always;
      const unsigned missing = l1.template load<Instructions>(
          lines, transaction.line, sectors, [&](std::uint32_t line, unsigned dirty) {
            if constexpr (writes_back)
              *queue++ = written_back(line, dirty, number, fields);
          });
      *queue = {transaction.line, {number, fields | missing}};
      queue += missing != 0;
      all += Instructions::sector_count(sectors);
      found += Instructions::sector_count(sectors ^ missing);
    };
    // Most accesses have one line: nothing has to be kept for a loop then.
    load_line(one.transactions[0]);
    for (unsigned i = 1; i < one.access.transactions; ++i)
      load_line(one.transactions[i]);
    lookups = state_.tallies.l1_lookups(found, all);
    if (found != 0) {
      request.wait_for(Level::l1, l1_latency_ns_);
      state_.tallies.of(one.access.site).in_l1 += found;
    }
    return queue;
  }

  /// A line that the L1 writes back, for which no request waits. `fields`: as for a load.
  static SmRequest written_back(std::uint32_t line, unsigned dirty, std::uint32_t number,
                                std::uint32_t fields) {
    return {line, {number, fields | L2Request::encode(L2Kind::store_of_update) | dirty}};
  }

  /// Looks up all but plain loads: apart, as they take many steps and are mostly rarer.
  template <class Lines>
  Lookups look_up_other(Sm& sm, const Lines lines, const IssuedAccess& one, std::uint32_t number) {
    return Instructions::run(
        [this, &sm, lines, &one, number] { return look_up_any(sm, lines, one, number); });
  }
  template <class Lines>
  Lookups look_up_any(Sm& sm, const Lines& lines, const IssuedAccess& one, std::uint32_t number) {
    const Access& access = one.access;
    const std::span<const Transaction> transactions{one.transactions, access.transactions};
    const std::uint32_t fields = L2Request::encode(L2Kind::load);
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
      SmRequest* queue = sm.queue.room_for(transactions.size());
      const bool writes = kind == L2Kind::store || kind == L2Kind::store_of_update;
      for (const Transaction& t : transactions) {
        *queue++ = {
            t.line,
            {number, L2Request::encode(kind) | L2Request::encode_mask(writes ? t.mask : 0) | t.sectors}};
        if (kind == L2Kind::load)
          count_load_in_l2(access.site, t.sectors);
      }
      sm.queue.written_to(queue);
    };
    const auto store = [&](L2Kind kind) {
      if (writes_local_back_ && access.cache == FirstCache::l1_local) {
        SmRequest* queue = sm.queue.room_for(transactions.size());
        for (const Transaction& t : transactions)
          sm.l1.template store_back<Instructions>(lines, t.line, t.sectors,
                                                  [&](std::uint32_t line, unsigned dirty) {
                                                    *queue++ = written_back(line, dirty, number, fields);
                                                  });
        sm.queue.written_to(queue);
        if (kind == L2Kind::store)
          state_.requests[number].wait_for(Level::l1, l1_latency_ns_);
        return;
      }
      for (const Transaction& t : transactions)
        sm.l1.template store<Instructions>(lines, t.line, t.sectors, t.mask == 0);
      go_to_l2(kind);
    };
    switch (access.kind) {
    case AccessKind::load: go_to_l2(L2Kind::load); break;
    case AccessKind::atomic: go_to_l2(L2Kind::atomic); break;
    case AccessKind::store: store(L2Kind::store); break;
    case AccessKind::update:
      if (access.skips_l1)
        go_to_l2(L2Kind::load);
      else
        sm.queue.written_to(load<true>(sm.l1, lines, sm.l1.looked_up(0), one, number, state_.requests[number],
                                       fields, sm.queue.room_for(2 * transactions.size()), l1));
      store(L2Kind::store_of_update);
      break;
    case AccessKind::barrier: // only snapshots for a clock have them
    case AccessKind::mark: break;
    }
    return l1;
  }

  Lookups load_read_only(Sm& sm, const ReadOnlyCache& cache, float latency_ns, const Access& access,
                         std::span<const Transaction> transactions, std::uint32_t number) {
    const std::uint32_t fields = L2Request::encode(L2Kind::load);
    SmRequest* queue = sm.queue.room_for(ReadOnlyCache::max_misses(transactions.size()));
    Lookups lookups;
    for (const Transaction& t : transactions)
      lookups += cache.load(t.line, t.sectors, [&](unsigned sectors) {
        *queue++ = {t.line, {number, fields | sectors}};
        count_load_in_l2(access.site, sectors);
      });
    sm.queue.written_to(queue);
    if (lookups.hits != 0)
      state_.requests[number].wait_for(Level::l1, latency_ns);
    state_.tallies.of(access.site).read_only += lookups;
    return lookups;
  }

  void load_constants(Sm& sm, const Access& access, std::span<const Transaction> transactions,
                      std::uint32_t number) {
    const std::uint32_t fields = L2Request::encode(L2Kind::load) |
                                 L2Request::encode_constant_group(constants_->group_of(sm.number_on_gpu));
    SmRequest* queue = sm.queue.room_for(ReadOnlyCache::max_misses(transactions.size()));
    constants_->load(sm.number_on_gpu, access.site, transactions, [&](std::uint32_t line, unsigned sectors) {
      *queue++ = {line, {number, fields | sectors}};
    });
    sm.queue.written_to(queue);
    state_.requests[number].wait_for(Level::constant, constant_latency_ns_);
  }

  /// Counts a load that does not look up the L1; the others are counted where they miss it.
  void count_load_in_l2(std::uint32_t site, unsigned sectors) {
    state_.tallies.of(site).l2[unsigned(L2Kind::load)].all += Instructions::sector_count(sectors);
  }

  const Snapshot& snapshot_;
  TrialState<Observer, by_site>& state_;
  float l1_latency_ns_, constant_latency_ns_, read_only_latency_ns_, texture_latency_ns_;
  bool writes_local_back_;
  std::vector<Sm> sms_;
  std::vector<ReadOnlyCache> read_only_, textures_; ///< of each SM, where the snapshot needs them
  std::optional<ConstantCaches> constants_;         ///< likewise
  std::uint32_t resident_warps_ = 0;
  AppendBuffer<IssuedAccess> issued_; ///< by one SM in this round
};

} // namespace warplens::model
