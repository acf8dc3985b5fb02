#include "model/memory/memory.h"

#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::model {

Memory::Memory(const Snapshot& snapshot, const Gpu& gpu, std::span<const L2> before, Random& random,
               TrialObserver* observer)
    : snapshot_(snapshot), slices_(gpu),
      slices_of_partition_(std::max(1u, gpu.l2.slices / gpu.l2.partitions)), dram_map_(gpu),
      partitions_(gpu.l2.partitions), group_sms_(gpu.constant.group.sms),
      write_batch_(gpu.dram.write_batch_sectors),
      banks_(std::size_t(gpu.dram.channels) * gpu.dram.banks,
             {.in_view = {}, .written = RowsWritten(RowsWritten::collected(gpu))}),
      channels_(gpu.dram.channels), answers_(gpu.sms), lookups_(snapshot.sites.size()),
      occupied_(snapshot.sites.size()), ns_per_cycle_(gpu.ns_per_cycle()), observer_(observer) {
  shortest_ = std::max<Cycle>(2, Cycle(std::llround(gpu.cycles(gpu.l2.latency_ns)))); // one for each way
  const Cycle of_l2 = shortest_;
  if (snapshot.reads_constants) {
    const Gpu::Constant::Group& group = gpu.constant.group;
    for (std::uint32_t first = 0; first < gpu.sms; first += group_sms_)
      constants_.emplace_back(group.bytes, group.line_bytes, group.ways);
    const auto of_group = Cycle(std::llround(gpu.cycles(group.latency_ns)));
    shortest_ = std::max<Cycle>(2, std::min(shortest_, of_group));
    constants_way_back_ = std::max(of_group, shortest_) - shortest_ / 2;
  }
  way_there_ = shortest_ / 2;
  way_back_ = of_l2 - way_there_;
  hop_ = Cycle(std::llround(gpu.cycles(gpu.l2.hop_ns))) / 2;
  pass_read_ = ticks(gpu.cycles(gpu.l2.pass_bytes * gpu.l2.slices / gpu.l2.bytes_per_ns));
  const double pass_written = gpu.cycles(gpu.l2.pass_bytes * gpu.l2.slices / gpu.l2.write_bytes_per_ns);
  pass_written_ = ticks(pass_written);
  pass_partly_written_ = ticks(pass_written * gpu.l2.partial_write_cost);
  pass_unwritten_ = ticks(pass_written * gpu.l2.read_cost);
  const unsigned sectors_of_pass = gpu.l2.pass_bytes / sector_bytes;
  for (unsigned sectors = 0; sectors < passes_.size(); ++sectors)
    for (unsigned first = 0; first < sectors_per_line; first += sectors_of_pass)
      passes_[sectors] += (sectors >> first & ((1u << sectors_of_pass) - 1)) != 0;
  const double atomic = gpu.cycles(gpu.l2.slices / gpu.l2.atomics_per_ns);
  atomic_ = ticks(atomic);
  float_sum_ = ticks(atomic * gpu.l2.float_sum_cost);
  if (partitions_ > 1)
    sector_across_ = ticks(gpu.cycles(sector_bytes / gpu.l2.hop_bytes_per_ns));
  activate_ = ticks(gpu.cycles(gpu.dram.activate_ns));
  precharge_ = ticks(gpu.cycles(gpu.dram.precharge_ns));
  burst_ =
      std::max(ticks(gpu.cycles(gpu.dram.burst_ns / gpu.dram.achieved)), ticks(gpu.dram.cycles_of_sector()));
  turn_ = 2 * (std::max(ticks(gpu.cycles(gpu.dram.burst_ns / gpu.dram.copies_achieved)), burst_) - burst_);
  opening_ = ticks(gpu.cycles(gpu.dram.opening_ns));
  in_view_ = burst_ * RowsInView::sectors;
  const double to_bank = gpu.dram.latency_ns - gpu.l2.latency_ns - gpu.dram.activate_ns - gpu.dram.burst_ns;
  to_bank_ = ticks(std::max(0.0, gpu.cycles(to_bank)));
  for (unsigned i = 0; i < partitions_; ++i)
    l2_.push_back({before.empty() ? L2::partition_of(gpu, snapshot.set_aside) : L2(before[i]),
                   {},
                   std::vector<Slice>(slices_of_partition_.value()),
                   {}});
  form_ = l2_[0].l2.form(snapshot.byte_masks.size() > 1);
  // The trace does not say what the blocks of a launch read if none of them was recorded.
  if (!snapshot.whole_grid && before.empty() && !snapshot.blocks.empty()) {
    // Half of the launch's further blocks have run before.
    const double of_others =
        snapshot.further_blocks / 2 / double(snapshot.blocks.size()) * double(snapshot.lines_touched);
    const double room = double(gpu.l2_bytes) / line_bytes;
    fill_with_others(std::uint64_t(std::min(of_others, room)), snapshot.stored_share, random);
  }
}

/// Brings that many lines of no page of the snapshot into the L2, of which a share is dirty: so it has to
/// write back what blocks before the snapshot's have stored.
void Memory::fill_with_others(std::uint64_t lines, double stored, Random& random) {
  const std::uint64_t first = std::uint64_t{snapshot_.pages.size()} << page_shift;
  const auto discard = [](std::uint32_t, unsigned, unsigned) {};
  for (std::uint64_t line = first; line < std::min<std::uint64_t>(first + lines, no_line); ++line) {
    L2& home = l2_[home_of(std::uint32_t(line))].l2;
    if (random.fraction() < stored)
      home.request(L2Kind::store, std::uint32_t(line), whole_line, nullptr, discard);
    else
      home.load(std::uint32_t(line), whole_line, discard);
  }
}

void Memory::pass_over(std::span<const Transaction> transactions, L2Kind kind) {
  for (const Transaction& transaction : transactions)
    l2_[home_of(transaction.line)].l2.request(kind, transaction.line, transaction.sectors, nullptr,
                                              [](std::uint32_t, unsigned, unsigned) {});
}

void Memory::run_until(Cycle end) {
  for (Partition& partition : l2_)
    partition.fills.forget_until(end + way_there_ < shortest_ ? 0 : end + way_there_ - shortest_);
  with_l2([&](const auto& l2) __attribute__((always_inline)) {
    events_.run_until(
        end + way_there_, [&](const Event& event) __attribute__((always_inline)) { prefetch(l2, event); },
        [&](Cycle now, const Event& event) __attribute__((always_inline)) { arrive(l2, now, event); });
  });
}

/// Calls `work` with the LookedUp of this L2.
template <class Work> void Memory::with_l2(Work&& work) const {
  l2_.front().l2.with_lines([&]<class Lines>(const Lines& lines) {
    const std::array<Lines, 2> both{lines, l2_.back().l2.lines_as<Lines>()};
    const auto with_form = [&]<L2Form form>() {
      with_instructions([&]<class Instructions>(Instructions) {
        Instructions::run([&] { work(LookedUp<Instructions, form, Lines>{both}); });
      });
    };
    switch (form_) {
    case L2Form::sectors: with_form.template operator()<L2Form::sectors>(); break;
    case L2Form::blocks: with_form.template operator()<L2Form::blocks>(); break;
    case L2Form::any: with_form.template operator()<L2Form::any>(); break;
    }
  });
}

/// Prefetches what the event's visit reads and changes.
template <class AnyL2>
[[gnu::always_inline]] inline void Memory::prefetch(const AnyL2& l2, const Event& event) const {
  const MemoryRequest& request = event.request;
  unsigned at = request.partition;
  if (request.has_crossed) {
    const Mshrs& fills = l2_[at].fills;
    fills.prefetch(request.line);
    if (event.near_fill != MemoryRequest::no_fill)
      __builtin_prefetch(&waiting_[fills.waiter_of(event.near_fill)], 1);
    at = 1 - at;
  }
  l2_[at].fills.prefetch(request.line);
  l2.prefetch(at, request.line);
}

template <class AnyL2>
[[gnu::always_inline]] inline void Memory::arrive(const AnyL2& l2, Cycle now, const Event& event) {
  const MemoryRequest& request = event.request;
  const unsigned at = request.has_crossed ? 1 - request.partition : request.partition;
  if (request.of_constants)
    load_constants(l2, now, event);
  else if (request.kind == L2Kind::load)
    load(l2, now, event, at);
  else if (home_of(request.line) == at)
    write(l2, write_slice(now, request, at), event, at);
  else
    cross(now, event, at);
}

Memory::Slice& Memory::slice_of(const MemoryRequest& request, unsigned at) {
  const std::uint32_t slice = slices_.of(request.line) >> (partitions_ - 1);
  return l2_[at].slices[slices_of_partition_.remainder(slice)];
}
Cycle Memory::read_slice(Cycle now, const MemoryRequest& request, unsigned sectors, unsigned at) {
  const Ticks service = pass_read_ * passes_[sectors];
  occupied(request, Resource::l2_slices) += service;
  Slice& slice = slice_of(request, at);
  const Ticks begin = slice.writes.serve(now * ticks_per_cycle, pass_unwritten_ * passes_[sectors]);
  return cycle_after(slice.reads.serve(begin, service));
}
/// Returns when the slice has executed an atomic. Lanes with the same address are served one after the other,
/// and of each sector at least one.
Cycle Memory::execute_atomic(Slice& slice, Cycle now, const MemoryRequest& request) {
  const Ticks service = atomic_ * request.atomics;
  slice.atomics += service;
  const Ticks begin = slice.writes.serve(now * ticks_per_cycle, service);
  if (!snapshot_.sites[request.site].adds_floats) {
    occupied(request, Resource::atomics) += service;
    return cycle_after(begin + service);
  }
  const unsigned sectors = sector_count(request.sectors);
  const Ticks sum = float_sum_ * ((request.atomics + sectors - 1) / sectors);
  occupied(request, Resource::atomics) += std::max(service, sum);
  return cycle_after(std::max(begin + service, slice.sums[request.line].serve(begin, sum) + sum));
}

/// Returns when the slice begins to write, or when it has executed an atomic.
Cycle Memory::write_slice(Cycle now, const MemoryRequest& request, unsigned at) {
  Slice& slice = slice_of(request, at);
  if (request.kind == L2Kind::atomic)
    return execute_atomic(slice, now, request);
  const unsigned parts =
      request.mask == 0 ? 0 : partly_written(snapshot_.byte_masks[request.mask], request.sectors);
  const unsigned partly = passes_[parts];
  const Ticks service = pass_written_ * (passes_[request.sectors] - partly) + pass_partly_written_ * partly;
  occupied(request, Resource::l2_slices) += service;
  return cycle_after(slice.writes.serve(now * ticks_per_cycle, service));
}

/// Looks up the partition and writes back what the request evicts, for whose place in memory's queue it
/// waits.
template <class AnyL2>
[[gnu::always_inline]] inline L2Outcome
Memory::look_up(const AnyL2& l2, Cycle now, const MemoryRequest& request, unsigned at, Arrival& until) {
  const ByteMask* const written = request.mask == 0 ? nullptr : &snapshot_.byte_masks[request.mask];
  const L2Outcome outcome = l2.request(
      l2_[at].l2, at, request, written, [&](std::uint32_t victim, unsigned dirty, unsigned filled) {
        Ticks of_storing_sites = 0; // which count() shares out
        if (filled != 0)
          read_memory(victim, filled, now, of_storing_sites);
        until.and_also({write_memory(victim, dirty, now, MemoryUse::write_back), Level::dram});
      });
  if (snapshot_.sites[request.site].is_evicted_first) [[unlikely]]
    l2_[at].l2.evict_first(request.line);
  if (observer_ != nullptr) {
    // A load that misses in a partition to which the line does not belong looks it up in the other one.
    const bool is_load = request.kind == L2Kind::load;
    const bool ends_here = !is_load || home_of(request.line) == at;
    if (const unsigned sectors = ends_here ? request.sectors : outcome.hits; sectors != 0)
      observer_->looked_up(is_load, request.line, sectors, outcome, now);
  }
  return outcome;
}

template <class AnyL2>
[[gnu::always_inline]] inline void Memory::load(const AnyL2& l2, Cycle now, const Event& event, unsigned at) {
  const MemoryRequest& request = event.request;
  Mshrs& fills = l2_[at].fills;
  Arrival until{now, Level::l2};
  const bool is_home = home_of(request.line) == at;
  // A line that persists is kept once, or 30 MB that an A100 sets aside would hold 15.
  const bool passes = !is_home && snapshot_.set_aside.keeps(request.line);
  const L2Outcome outcome =
      passes ? L2Outcome{.fetched = request.sectors} : look_up(l2, now, request, at, until);
  Lookups& lookups = lookups_[request.site][unsigned(L2Kind::load)];
  lookups.hits += sector_count(outcome.hits);
  if (!request.has_crossed) {
    lookups.all += sector_count(request.sectors);
    near_hits_ += sector_count(outcome.hits);
  }
  // Data passes a slice once: where it hits, or where memory brings it in.
  if (const unsigned passing = is_home ? unsigned(request.sectors) : outcome.hits; passing != 0)
    until.and_also({read_slice(now, request, passing, at), Level::l2});
  std::uint32_t unknown = 0;
  Waiter waiter = 0;
  const auto make_waiter = [&] { return unknown++ == 0 ? waiter = new_waiter(request) : waiter; };
  if (outcome.hits != 0)
    until.and_also(fills.wait(request.line, outcome.hits, now, make_waiter).known);
  if (outcome.fetched != 0 && is_home) {
    const Arrival arrival =
        read_memory(request.line, outcome.fetched, now, occupied(request, Resource::dram));
    fills.add(request.line, outcome.fetched, arrival);
    if ((outcome.fetched & request.sectors) != 0)
      until.and_also(arrival);
  } else if (outcome.fetched != 0) {
    Event further = event;
    further.request.sectors = std::uint8_t(outcome.fetched);
    further.near_fill = fills.add(request.line, outcome.fetched, make_waiter());
    cross(now, further, at);
  }
  answer_later(event, until, unknown, waiter);
}

/// Looks up the constant cache of the requester's group of SMs, and loads what misses there from the L2, as
/// whole lines of that cache.
template <class AnyL2>
[[gnu::noinline]] void Memory::load_constants(const AnyL2& l2, Cycle now, const Event& event) {
  const MemoryRequest& request = event.request;
  const ReadOnlyCache& group = constants_[request.sm / group_sms_];
  Event from_l2 = event;
  from_l2.request.of_constants = false;
  from_l2.request.sectors = whole_line;
  const Lookups found = group.load(request.line, 1, [&](unsigned) {
    group.each_line_with(request.line, [&](std::uint32_t line) {
      from_l2.request.line = line;
      from_l2.request.fill = line == request.line ? request.fill : MemoryRequest::no_fill;
      load(l2, now, from_l2, request.partition);
    });
  });
  constant_lookups_ += found;
  if (found.hits != 0)
    answers_[request.sm].push_back(
        {request.fill, request.line, {now + constants_way_back_, Level::constant}});
}

void Memory::cross(Cycle now, Event event, unsigned from) {
  event.request.has_crossed = true;
  const unsigned sectors = sector_count(event.request.sectors);
  crossed_sectors_ += sectors;
  const Ticks service = sector_across_ * sectors;
  occupied(event.request, Resource::fabric) += service;
  const Ticks start = l2_[from].to_other.serve(now * ticks_per_cycle, service);
  events_.add(cycle_after(start) + hop_, event);
}

template <class AnyL2> void Memory::write(const AnyL2& l2, Cycle now, const Event& event, unsigned at) {
  const MemoryRequest& request = event.request;
  Mshrs& fills = l2_[at].fills;
  Arrival until{now, Level::l2};
  const L2Outcome outcome = look_up(l2, now, request, at, until);
  if (partitions_ > 1)
    l2_[1 - at].l2.invalidate(request.line, request.sectors);
  Lookups& lookups = lookups_[request.site][unsigned(request.kind)];
  lookups.all += sector_count(request.sectors);
  lookups.hits += sector_count(outcome.hits);
  occupied(request, Resource::dram) += burst_ * sector_count(outcome.updated);
  if (outcome.updated != 0)
    until.and_also({write_memory(request.line, outcome.updated, now, MemoryUse::write), Level::dram});
  std::uint32_t unknown = 0;
  Waiter waiter = 0;
  const auto make_waiter = [&] { return unknown++ == 0 ? waiter = new_waiter(request) : waiter; };
  if (outcome.hits != 0 && !MemoryRequest::is_unawaited(request.fill))
    until.and_also(fills.wait(request.line, outcome.hits, now, make_waiter).known);
  if (outcome.fetched != 0) {
    const Arrival arrival =
        read_memory(request.line, outcome.fetched, now, occupied(request, Resource::dram));
    fills.add(request.line, outcome.fetched, arrival);
    until.and_also(arrival);
  }
  answer_later(event, until, unknown, waiter);
}

/// Returns when the sectors are in the L2, and adds the bus's time for them and for the row that they open.
Arrival Memory::read_memory(std::uint32_t line, unsigned sectors, Cycle now, Ticks& on_bus) {
  const Transfer transfer = use_memory(line, sectors, now, MemoryUse::read);
  on_bus += transfer.on_bus;
  const Cycle arrives = cycle_after(transfer.end);
  read_sectors_ += sector_count(sectors);
  ++reads_;
  read_cycles_ += arrives - now + shortest_;
  if (observer_ != nullptr)
    observer_->read_memory(float(double(arrives - now + shortest_) * ns_per_cycle_));
  return {arrives, Level::dram};
}
/// Returns the cycle in which DRAM accepts the write-back.
Cycle Memory::write_memory(std::uint32_t line, unsigned sectors, Cycle now, MemoryUse use) {
  written_sectors_ += sector_count(sectors);
  written_back_sectors_ += use == MemoryUse::write_back ? sector_count(sectors) : 0;
  return now + cycle_after(use_memory(line, sectors, now, use).waited);
}

/// Reads or writes sectors. A bank opens its rows one after the other, while the bus of its channel transfers
/// for other banks. A row is opened once for the reads that are in view of the channel's scheduler, and for
/// what the L2 writes back of it together.
Memory::Transfer Memory::use_memory(std::uint32_t line, unsigned sectors, Cycle now, MemoryUse use) {
  const DramMap::BankRow place = dram_map_(line);
  Bank& bank = banks_[place.bank];
  Channel& channel = channels_[place.channel];
  const bool is_read = use == MemoryUse::read;
  const Ticks arrival = now * ticks_per_cycle + to_bank_;
  const Ticks free = channel.bus.start(arrival);
  RowsInView::Row* const row =
      is_read ? bank.in_view.held(place.row, free - std::min(free - arrival, in_view_)) : nullptr;
  const bool joins = is_read ? row != nullptr : bank.written.contains(place.row);
  const bool opens = !joins && bank.open_row != place.row;
  const Ticks opening = !opens ? 0 : bank.open_row == no_row ? activate_ : precharge_ + activate_;
  activations_ += opens;
  const Ticks opened = std::max(arrival, bank.free_at) + opening;
  const unsigned count = sector_count(sectors);
  const Ticks bursts = burst_ * count;
  bank.free_at = opened + bursts;
  const Ticks on_bus = bursts + (opens ? opening_ : 0);
  const Ticks served =
      is_read ? read_bus(channel, arrival, count, on_bus) : write_bus(channel, arrival, count, opens);
  const Ticks start = std::max(served, opened);
  if (!joins)
    bank.open_row = place.row;
  if (row != nullptr)
    row->until += bursts;
  else if (is_read)
    bank.in_view.open(place.row, start + bursts);
  else if (!joins)
    bank.written.open(place.row);
  if (observer_ != nullptr)
    observer_->used_memory(
        {.evicted = use == MemoryUse::write_back, .writes = use != MemoryUse::read, .opens_row = opens},
        place.channel, now, cycle_after(start + bursts));
  return {start + bursts, start - arrival - opening, on_bus};
}

/// Returns when the bus begins with the transfers.
Ticks Memory::read_bus(Channel& channel, Ticks arrival, unsigned sectors, Ticks on_bus) const {
  channel.read = std::min(channel.read + sectors, write_batch_);
  return channel.bus.serve(arrival, on_bus);
}
/// Collects what is to be written. A full batch is written in one go: reads then wait. Returns when
/// the channel takes it, which is when the bus would.
Ticks Memory::write_bus(Channel& channel, Ticks arrival, unsigned sectors, bool opens) const {
  const Ticks start = channel.bus.start(arrival);
  channel.collected += sectors;
  channel.opened += opens;
  if (channel.collected >= write_batch_) {
    channel.bus.serve(arrival, time_of_batch(channel));
    channel.read -= std::min(channel.read, channel.collected);
    channel.collected = channel.opened = 0;
  }
  return start;
}
/// Returns the time of the collected sectors. Each write sector pays an equal share of the bus's turnaround,
/// up to as many as have been read.
Ticks Memory::time_of_batch(const Channel& channel) const {
  return burst_ * channel.collected + turn_ * std::min(channel.read, channel.collected) +
         opening_ * channel.opened;
}

/// Answers once nothing is unknown any more; now, if nothing is. The waiter waits for the rest.
[[gnu::always_inline]] inline void Memory::answer_later(const Event& event, const Arrival& until,
                                                        std::uint32_t unknown, Waiter waiter) {
  if (unknown == 0)
    return answer(event, until);
  waiting_[waiter].unknown = unknown;
  waiting_[waiter].until = until;
}

/// Answers the SM, or the other partition, when the data is in this one.
[[gnu::always_inline]] inline void Memory::answer(const Event& event, Arrival arrival) {
  const MemoryRequest& request = event.request;
  if (request.has_crossed)
    arrival.at += hop_;
  if (event.near_fill == MemoryRequest::no_fill)
    return answer_sm(request.sm, request.fill, request.line, arrival);
  l2_[request.partition].fills.arrived(event.near_fill, arrival, [&](Waiter waiter) {
    Waiting& waiting = waiting_[waiter];
    waiting.until.and_also(arrival);
    if (--waiting.unknown != 0)
      return;
    answer_sm(waiting.sm, waiting.fill, waiting.line, waiting.until);
    free_waiters_.push_back(waiter);
  });
}
void Memory::answer_sm(std::uint16_t sm, FillNumber fill, std::uint32_t line, Arrival arrival) {
  arrival.at += way_back_;
  if (fill != MemoryRequest::no_fill)
    answers_[sm].push_back({fill, line, arrival});
}

Waiter Memory::new_waiter(const MemoryRequest& request) {
  const Waiting waiting{.fill = request.fill, .line = request.line, .sm = request.sm};
  if (free_waiters_.empty()) {
    waiting_.push_back(waiting);
    return Waiter(waiting_.size() - 1);
  }
  const Waiter waiter = free_waiters_.back();
  free_waiters_.pop_back();
  waiting_[waiter] = waiting;
  return waiter;
}

void Memory::count(TrialCounts& counts) const {
  std::uint64_t stored = 0;
  const auto stored_by = [&](std::size_t site) {
    return lookups_[site][unsigned(L2Kind::store)].all + lookups_[site][unsigned(L2Kind::atomic)].all +
           lookups_[site][unsigned(L2Kind::store_of_update)].all;
  };
  double evicted = 0; // ticks of DRAM
  for (std::size_t site = 0; site < lookups_.size(); ++site) {
    stored += stored_by(site);
    evicted -= double(occupied_[site][std::size_t(Resource::dram)]);
    for (const L2Kind kind : {L2Kind::load, L2Kind::store, L2Kind::atomic, L2Kind::store_of_update}) {
      const Lookups& l2 = lookups_[site][unsigned(kind)];
      (kind == L2Kind::load ? counts.l2_reads : counts.l2_writes) += l2;
      (kind == L2Kind::load ? counts.sites[site].l2_reads : counts.sites[site].l2_writes) += l2;
      if (kind != L2Kind::store_of_update)
        counts.sites[site].l2 += l2;
    }
  }
  counts.dram_read_sectors = read_sectors_;
  counts.dram_written_sectors = written_sectors_;
  counts.dram_reads = reads_;
  counts.row_activations = activations_;
  counts.dram_latency_ns = double(read_cycles_) * ns_per_cycle_;
  counts.constant_group_reads = constant_lookups_;
  counts.l2_near_hits = near_hits_;
  counts.crossed_sectors = crossed_sectors_;

  const auto busy = [&](Resource resource, Ticks ticks, std::size_t of_its_kind) {
    counts.time.add(resource, double(ticks) / ticks_per_cycle, of_its_kind);
  };
  for (const Partition& partition : l2_) {
    const std::size_t slices = partition.slices.size() * l2_.size();
    for (const Slice& slice : partition.slices) {
      busy(Resource::l2_slices, std::max(slice.reads.busy(), slice.writes.busy() - slice.atomics), slices);
      Ticks atomics = slice.atomics;
      for (const auto& [line, sums] : slice.sums)
        atomics = std::max(atomics, sums.busy());
      busy(Resource::atomics, atomics, slices);
    }
    busy(Resource::fabric, partition.to_other.busy(), l2_.size());
  }
  for (const Channel& channel : channels_) {
    const Ticks taken = channel.bus.busy() + time_of_batch(channel); // what is collected is written later
    busy(Resource::dram, taken, channels_.size());
    evicted += double(taken);
  }
  // It is unknown who stored what was evicted: each site has its share, of no more than all have stored. The
  // rest was there before, be it of another kernel or of earlier blocks of this one.
  const std::uint64_t before = written_back_sectors_ - std::min(written_back_sectors_, stored);
  counts.dram_written_before_sectors = before;
  const double of_before = before == 0 ? 0 : evicted * double(before) / double(written_back_sectors_);
  const double of_launch = evicted - of_before;
  counts.time.writing_before = of_before / ticks_per_cycle;
  for (std::size_t site = 0; site < lookups_.size(); ++site) {
    ByResource& of_site = counts.sites[site].occupied;
    for (std::size_t resource = 0; resource < resource_count; ++resource)
      of_site[resource] += double(occupied_[site][resource]) / ticks_per_cycle;
    if (stored != 0)
      of_site[std::size_t(Resource::dram)] +=
          of_launch * double(stored_by(site)) / double(stored) / ticks_per_cycle;
  }
}

} // namespace warplens::model
