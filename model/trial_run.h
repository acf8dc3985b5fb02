// The course of one trial. A template over who is told of it, so that nobody costs nothing.
#pragma once

#include "model/constant_caches.h"
#include "model/dram.h"
#include "model/instructions.h"
#include "model/l1.h"
#include "model/l2.h"
#include "model/random_merge.h"
#include "model/schedule.h"
#include "model/tape.h"
#include "model/trial.h"

#include <algorithm>
#include <optional>

namespace warplens::model {

/// Transactions of all SMs between two merges: long enough that an SM's L1 stays in the host's caches, short
/// enough for memory.
inline constexpr std::uint64_t round_transactions = 1u << 16;

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
static_assert(max_byte_masks <= 1u << 21);
static_assert(max_sites <= 1u << 23);

/// What a request asks of the L2 about one line.
struct L2Request {
  std::uint32_t line;
  std::uint32_t request;
  /// Four bits sectors; four bits those of them that are there as copies; two bits kind; one bit partition; a
  /// store's Transaction::mask, or the group whose constant cache is asked first, plus one.
  std::uint32_t what;

  static std::uint32_t asking(L2Kind kind, std::uint32_t partition) {
    return unsigned(kind) << 8 | partition << 10;
  }
  static std::uint32_t writing(std::uint32_t mask) { return mask << 11; }
  static std::uint32_t of_constants(std::uint32_t group) { return writing(group + 1); }
  bool is_of_constants() const { return kind() == L2Kind::load && mask() != 0; }
  std::uint32_t constant_group() const { return mask() - 1; }
  unsigned sectors() const { return what & 15; }
  unsigned near() const { return what >> 4 & 15; }
  L2Kind kind() const { return L2Kind(what >> 8 & 3); }
  std::uint32_t partition() const { return what >> 10 & 1; } ///< of the L2, the asker's
  std::uint32_t mask() const { return what >> 11; }
};

/// What goes to memory: a line's sectors, for a request that waits for it or not.
struct ToMemory {
  enum class Reason : std::uint8_t { read, written, displaced, filled, of_update };
  std::uint32_t line;
  std::uint32_t request;
  std::uint8_t sectors;
  Reason reason;
};

/// A line read from memory, or written before the request is acknowledged.
struct InMemory {
  std::uint32_t request;
  std::uint32_t reads : 1;
  std::uint32_t bank : 31;
  float ns; ///< without the waits that the round's end will tell
};

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
      : byte_masks_(snapshot.byte_masks), merging_(random), observer_(observer),
        l2_(before != nullptr ? L2(*before) : L2(gpu)), dram_(gpu, busy_sms(snapshot, gpu), random),
        l1_latency_ns_(float(gpu.l1.latency_ns)), l2_latency_ns_(float(gpu.l2.latency_ns)),
        far_latency_ns_(float(gpu.l2.copies.far_latency_ns)),
        constant_latency_ns_(float(gpu.constant.latency_ns)),
        group_latency_ns_(float(gpu.constant.group.latency_ns)),
        writes_local_back_(snapshot.stores_local && gpu.l1.local_stores == LocalStores::write_back),
        tallies_(by_site ? snapshot.sites.size() : 1) {
    const auto blocks = place_blocks(snapshot, gpu, random);
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      if (!blocks[sm].empty())
        sms_.push_back({std::uint32_t(sms_.size()),
                        SmSchedule(snapshot, blocks[sm], occupancy.blocks_per_sm, gpu, random),
                        L1(gpu, occupancy.l1_bytes),
                        sm,
                        std::uint8_t(sm % gpu.l2.partitions),
                        {}});
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
        sm.l1.with_lines([&](auto& lines) {
          if (writes_local_back_) [[unlikely]]
            Instructions::run([&] { issue<true>(sm, lines, quota); });
          else
            Instructions::run([&] { issue<false>(sm, lines, quota); });
        });
      }
      Instructions::run([&] { merge(); });
      if (constants_)
        ask_constant_groups();
      if (l2_.has_copies())
        l2_.with_copies([&](auto& lines) { Instructions::run([&] { find_copies(lines); }); });
      l2_.with_lines([&](auto& lines) { Instructions::run([&] { serve(lines); }); });
      Instructions::run([&] { go_to_memory(); });
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
    std::uint32_t number_on_gpu;
    std::uint8_t partition; ///< of the L2; which SM lies next to which is assumed
    Tape<L2Request> queue;
  };

  /// A site's counts. Those of its lookups in the L2 are by L2Kind.
  struct alignas(128) Tally {
    Lookups l1, l2[4];
    std::array<double, levels> latency_ns{};
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
  /// `writes_back`: the L1 holds stores to local memory.
  template <bool writes_back, class Lines> void issue(Sm& sm, const Lines lines, std::uint64_t quota) {
    std::uint64_t issued = 0;
    auto number = std::uint32_t(requests_.size()); // of the next request
    do {
      const SmSchedule::Turn* turn = sm.schedule.choose();
      if (turn == nullptr)
        break;
      const Access* access = turn->next;
      const Transaction* transactions = turn->transactions;
      bool starts_bulk = true;
      do {
        Request* request = requests_.room_for(1);
        *request = {access->site, starts_bulk, unsigned(Level::l1), 0};
        starts_bulk = false;
        requests_.written_to(request + 1);
        const Lookups l1 =
            access->kind == trace::AccessKind::load && !access->skips_l1
                ? load<writes_back>(sm, lines, *access, transactions, *request, number)
                : Instructions::run([this, &sm, &lines, access, transactions, request, number] {
                    return issue_other<writes_back>(sm, lines, *access, transactions, *request, number);
                  });
        observer_.issued(sm.number, *access, {transactions, access->transactions}, l1);
        ++number;
        transactions += access->transactions;
      } while (sm.schedule.goes_on(*turn, ++access));
      const auto count = std::uint32_t(transactions - turn->transactions);
      sm.schedule.issued(access, count);
      issued += count;
    } while (issued < quota);
  }

  template <bool writes_back, class Lines>
  Lookups load(Sm& sm, const Lines& lines, const Access& access, const Transaction* transaction,
               Request& request, std::uint32_t number) {
    L2Request* queue = sm.queue.room_for((1 + writes_back) * access.transactions);
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition);
    std::uint32_t all = 0, missed = 0;
    for (const Transaction* const end = transaction + access.transactions; transaction != end;
         ++transaction) {
      const unsigned missing = sm.l1.template load<Instructions>(
          lines, transaction->line, transaction->sectors, [&](std::uint32_t line, unsigned dirty) {
            if constexpr (writes_back)
              *queue++ = written_back(sm, line, dirty, number);
          });
      *queue = {transaction->line, number, asking | missing};
      queue += missing != 0;
      all += Instructions::sector_count(transaction->sectors);
      missed += Instructions::sector_count(missing);
    }
    sm.queue.written_to(queue);
    if (!sm.l1.sectored()) {
      all = access.transactions;
      missed /= sectors_per_line;
    }
    if (all != missed)
      request.wait_for(Level::l1, l1_latency_ns_);
    const Lookups lookups{all - missed, all};
    tally_of(access.site).l1 += lookups;
    return lookups;
  }

  /// Nobody waits for it.
  static L2Request written_back(const Sm& sm, std::uint32_t line, unsigned dirty, std::uint32_t number) {
    return {line, number, L2Request::asking(L2Kind::store_of_update, sm.partition) | dirty};
  }

  void load_constants(Sm& sm, const Access& access, std::span<const Transaction> transactions,
                      Request& request, std::uint32_t number) {
    const std::uint32_t asking = L2Request::asking(L2Kind::load, sm.partition) |
                                 L2Request::of_constants(constants_->group_of(sm.number_on_gpu));
    L2Request* queue = sm.queue.room_for(ConstantCaches::most_asked(transactions.size()));
    constants_->load(sm.number_on_gpu, access.site, transactions, [&](std::uint32_t line, unsigned sectors) {
      *queue++ = {line, number, asking | sectors};
    });
    sm.queue.written_to(queue);
    request.wait_for(Level::constant, constant_latency_ns_);
  }

  /// All but plain loads.
  template <bool writes_back, class Lines>
  Lookups issue_other(Sm& sm, const Lines& lines, const Access& access, const Transaction* first,
                      Request& request, std::uint32_t number) {
    const std::span<const Transaction> transactions{first, access.transactions};
    if (access.cache == FirstCache::constant) {
      load_constants(sm, access, transactions, request, number);
      return {};
    }
    const auto go_to_l2 = [&](L2Kind kind) {
      L2Request* queue = sm.queue.room_for(transactions.size());
      for (const Transaction& t : transactions)
        *queue++ = {t.line, number,
                    L2Request::asking(kind, sm.partition) | L2Request::writing(t.mask) | t.sectors};
      sm.queue.written_to(queue);
    };
    const auto store = [&](L2Kind kind) {
      if (writes_back && access.cache == FirstCache::l1_local) {
        L2Request* queue = sm.queue.room_for(transactions.size());
        for (const Transaction& t : transactions)
          sm.l1.template store_back<Instructions>(
              lines, t.line, t.sectors,
              [&](std::uint32_t line, unsigned dirty) { *queue++ = written_back(sm, line, dirty, number); });
        sm.queue.written_to(queue);
        if (kind == L2Kind::store)
          request.wait_for(Level::l1, l1_latency_ns_);
        return;
      }
      for (const Transaction& t : transactions)
        sm.l1.template store<Instructions>(lines, t.line, t.sectors);
      go_to_l2(kind);
    };
    Lookups l1;
    switch (access.kind) {
    case trace::AccessKind::load: go_to_l2(L2Kind::load); break;
    case trace::AccessKind::atomic: go_to_l2(L2Kind::atomic); break;
    case trace::AccessKind::store: store(L2Kind::store); break;
    case trace::AccessKind::update:
      if (access.skips_l1)
        go_to_l2(L2Kind::load);
      else
        l1 = load<writes_back>(sm, lines, access, first, request, number);
      store(L2Kind::store_of_update);
      break;
    }
    return l1;
  }

  /// The SMs' queues in the order in which they come to the L2.
  void merge() {
    next_.clear();
    for (std::uint32_t i = 0; i < sms_.size(); ++i) {
      merge_.add(std::uint16_t(i), sms_[i].queue.size());
      next_.push_back(sms_[i].queue.begin());
    }
    merged_.clear();
    L2Request* merged = merged_.room_for(merge_.waiting());
    merge_.draw_all(merging_, [&](std::uint16_t sm) { *merged++ = *next_[sm]++; });
    merged_.written_to(merged);
    for (Sm& sm : sms_)
      sm.queue.clear();
  }

  /// The requests of the SMs' constant caches end here, or go on to the L2.
  void ask_constant_groups() {
    go_on_.clear();
    L2Request* go_on = go_on_.room_for(merged_.size() * constants_->lines_of_group());
    for (const L2Request& asked : merged_) {
      if (!asked.is_of_constants()) {
        *go_on++ = asked;
        continue;
      }
      Request& request = requests_[asked.request];
      const std::uint32_t asking = L2Request::asking(L2Kind::load, asked.partition());
      if (constants_->load_from_group(
              asked.constant_group(), request.site, asked.line,
              [&](std::uint32_t line) { *go_on++ = {line, asked.request, asking | whole_line}; }))
        request.wait_for(Level::constant, group_latency_ns_);
    }
    go_on_.written_to(go_on);
    std::swap(merged_, go_on_);
  }

  /// About as many as the host's memory brings at once.
  static constexpr std::ptrdiff_t ahead = 16;

  /// First step of the L2: which sectors does it have as copies next to the asker?
  template <class Lines> void find_copies(const Lines lines) {
    for (L2Request* asked = merged_.begin(); asked != merged_.end(); ++asked) {
      if (merged_.end() - asked > ahead)
        lines.prefetch(asked[ahead].partition(), asked[ahead].line);
      asked->what |= l2_.template copied<Instructions>(lines, asked->kind(), asked->line, asked->sectors(),
                                                       written_by(*asked), asked->partition())
                     << 4;
    }
  }

  /// Second step: the L2 as a whole.
  template <class Lines> void serve(const Lines lines) {
    to_memory_.clear();
    // At most, each request has its line read and written, and each line that it displaces filled up and
    // written.
    ToMemory* to_memory = to_memory_.room_for((2 + 2 * l2_.most_displaced()) * merged_.size());
    for (const L2Request* asked = merged_.begin(); asked != merged_.end(); ++asked) {
      if (merged_.end() - asked > ahead) {
        l2_.prefetch(lines, asked[ahead].line, asked[ahead].sectors());
        __builtin_prefetch(&requests_[asked[ahead].request], 1);
      }
      to_memory = asked->kind() == L2Kind::load
                      ? serve<L2Kind::load>(lines, *asked, to_memory)
                      : Instructions::run([this, lines, asked, to_memory] {
                          return asked->kind() == L2Kind::atomic
                                     ? serve<L2Kind::atomic>(lines, *asked, to_memory)
                                     : serve<L2Kind::store>(lines, *asked, to_memory);
                        });
    }
    to_memory_.written_to(to_memory);
  }

  template <L2Kind kind, class Lines>
  ToMemory* serve(const Lines& lines, const L2Request& asked, ToMemory* to_memory) {
    const unsigned sectors = asked.sectors();
    const L2Outcome outcome = l2_.template request<Instructions>(
        lines, kind, asked.line, sectors, asked.near(), written_by(asked),
        [&](std::uint32_t line, unsigned dirty, unsigned filled) {
          *to_memory = {line, asked.request, std::uint8_t(filled), ToMemory::Reason::filled};
          to_memory += filled != 0;
          *to_memory++ = {line, asked.request, std::uint8_t(dirty), ToMemory::Reason::displaced};
        });
    observer_.looked_up(asked.request, kind == L2Kind::load, asked.line, sectors, outcome);
    // An update's own figures are those of its load.
    const bool timed = kind != L2Kind::store || asked.kind() == L2Kind::store;
    const auto reason = kind != L2Kind::store ? ToMemory::Reason::read
                        : timed               ? ToMemory::Reason::written
                                              : ToMemory::Reason::of_update;
    unsigned asks = kind == L2Kind::store ? outcome.updated : outcome.fetched;
    *to_memory = {asked.line, asked.request, std::uint8_t(asks), reason};
    to_memory += asks != 0;
    if (kind == L2Kind::store && outcome.fetched != 0) [[unlikely]] {
      *to_memory++ = {asked.line, asked.request, std::uint8_t(outcome.fetched),
                      timed ? ToMemory::Reason::read : ToMemory::Reason::filled};
      asks |= outcome.fetched;
    }
    Request& request = requests_[asked.request];
    tally_of(request.site).l2[unsigned(kind == L2Kind::load ? kind : asked.kind())] +=
        Lookups{Instructions::sector_count(outcome.hits), Instructions::sector_count(sectors)};
    if (timed && asks == 0)
      request.wait_for(Level::l2, outcome.far != 0 ? far_latency_ns_ : l2_latency_ns_);
    return to_memory;
  }

  /// The bytes that a store writes of its sectors; null: all.
  const ByteMask* written_by(const L2Request& asked) const {
    return asked.mask() == 0 ? nullptr : &byte_masks_[asked.mask()];
  }

  /// What the L2 asks of memory, in its order.
  void go_to_memory() {
    in_memory_.clear();
    InMemory* in_memory = in_memory_.room_for(to_memory_.size());
    std::uint64_t read = 0, written = 0;
    for (const ToMemory& asked : to_memory_) {
      const Dram::Service service = dram_.request(asked.line, asked.sectors);
      const bool filled = asked.reason == ToMemory::Reason::filled;
      observer_.went_to_memory(asked.request, filled || asked.reason == ToMemory::Reason::displaced,
                               service.channel, dram_.batch());
      const bool reads = asked.reason == ToMemory::Reason::read;
      (reads || filled ? read : written) += Instructions::sector_count(asked.sectors);
      if (!reads && asked.reason != ToMemory::Reason::written)
        continue; // nobody waits for it
      requests_[asked.request].wait_for(Level::dram, service.ns);
      *in_memory++ = {asked.request, reads, service.bank, service.ns};
    }
    in_memory_.written_to(in_memory);
    counts_.dram_read_sectors += read;
    counts_.dram_written_sectors += written;
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
      const float latency = one.ns + dram_.wait_ns(one.bank);
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
    if (constants_)
      constants_->count(counts_);
    return std::move(counts_);
  }

  const std::vector<ByteMask>& byte_masks_;
  FastRandom merging_;
  Observer& observer_;
  std::vector<Sm> sms_;
  L2 l2_;
  Dram dram_;
  float l1_latency_ns_, l2_latency_ns_, far_latency_ns_, constant_latency_ns_, group_latency_ns_;
  bool writes_local_back_;
  std::optional<ConstantCaches> constants_; ///< if the snapshot has any
  std::vector<Tally> tallies_;              ///< as Snapshot::sites
  TrialCounts counts_;
  Tape<Request> requests_; ///< the round's
  RandomMerge merge_;
  std::vector<const L2Request*> next_; ///< of each SM
  Tape<L2Request> merged_, go_on_;
  Tape<ToMemory> to_memory_;
  Tape<InMemory> in_memory_;
  std::uint32_t resident_warps_ = 0; ///< at once, on all SMs
};

} // namespace warplens::model
