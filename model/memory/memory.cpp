#include "model/memory/memory.h"

#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::model {
namespace {

Gpu of_partition(const Gpu& gpu) {
  Gpu part = gpu;
  part.l2_bytes /= gpu.l2.partitions;
  part.l2.partitions = 1;
  return part;
}

} // namespace

Memory::Memory(const Snapshot& snapshot, const Gpu& gpu, const L2* before)
    : snapshot_(snapshot), slices_(gpu), dram_map_(gpu), partitions_(gpu.l2.partitions),
      group_sms_(gpu.constant.group.sms), banks_(std::size_t(gpu.dram.channels) * gpu.dram.banks),
      channels_(gpu.dram.channels), answers_(gpu.sms), lookups_(snapshot.sites.size()),
      ns_per_cycle_(gpu.ns_per_cycle()) {
  shortest_ = Cycle(std::llround(gpu.cycles(gpu.l2.latency_ns)));
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
  sector_in_slice_ = ticks(gpu.cycles(sector_bytes * gpu.l2.slices / gpu.l2.bytes_per_ns));
  atomic_in_slice_ = ticks(gpu.cycles(gpu.l2.slices / gpu.l2.atomics_per_ns));
  if (partitions_ > 1)
    sector_across_ = ticks(gpu.cycles(sector_bytes / gpu.l2.hop_bytes_per_ns));
  activate_ = ticks(gpu.cycles(gpu.dram.activate_ns));
  precharge_ = ticks(gpu.cycles(gpu.dram.precharge_ns));
  burst_ = ticks(gpu.cycles(gpu.dram.burst_ns));
  const double to_bank =
      gpu.dram.local_latency_ns - gpu.l2.latency_ns - gpu.dram.activate_ns - gpu.dram.burst_ns;
  to_bank_ = ticks(std::max(0.0, gpu.cycles(to_bank)));
  for (unsigned i = 0; i < partitions_; ++i)
    l2_.push_back({before != nullptr && partitions_ == 1 ? L2(*before) : L2(of_partition(gpu)),
                   {},
                   std::vector<Server>(std::max(1u, gpu.l2.slices / partitions_)),
                   {}});
}

void Memory::run_until(Cycle end) {
  for (Partition& partition : l2_)
    partition.fills.forget_until(end + way_there_ < shortest_ ? 0 : end + way_there_ - shortest_);
  events_.run_until(
      end + way_there_,
      [&](const Event& event) {
        const unsigned near = event.request.partition;
        Partition& partition = l2_[event.has_crossed ? 1 - near : near];
        partition.fills.prefetch(event.request.line);
        partition.l2.with_lines([&](auto& lines) { lines.prefetch(lines.set_of(0, event.request.line)); });
      },
      [&](Cycle now, const Event& event) { arrive(now, event); });
}

void Memory::arrive(Cycle now, const Event& event) {
  const MemoryRequest& request = event.request;
  const unsigned at = event.has_crossed ? 1 - request.partition : request.partition;
  if (request.of_constants)
    load_constants(now, event);
  else if (request.kind == L2Kind::load)
    load(now, event, at);
  else if (home_of(request.line) == at)
    write(start_in_slice(now, request, request.sectors, at), event, at);
  else
    cross(now, event, at);
}

Cycle Memory::start_in_slice(Cycle now, const MemoryRequest& request, unsigned sectors, unsigned at) {
  const Ticks of_sector =
      request.kind == L2Kind::atomic ? atomic_in_slice_ * request.conflicts : sector_in_slice_;
  std::vector<Server>& slices = l2_[at].slices;
  Server& slice = slices[slices_.of(request.line) / partitions_ % slices.size()];
  return cycle_after(slice.serve(now * ticks_per_cycle, of_sector * sector_count(sectors)));
}

/// Looks up the partition and writes back what the request evicts.
L2Outcome Memory::look_up(Cycle now, const MemoryRequest& request, unsigned at) {
  const ByteMask* const written =
      request.mask == 0 || request.kind == L2Kind::atomic ? nullptr : &snapshot_.byte_masks[request.mask];
  return l2_[at].l2.request(request.kind, request.line, request.sectors, written, 0,
                            [&](std::uint32_t victim, unsigned dirty, unsigned filled) {
                              if (filled != 0)
                                read_memory(victim, filled, now);
                              write_memory(victim, dirty, now);
                            });
}

void Memory::load(Cycle now, const Event& event, unsigned at) {
  const MemoryRequest& request = event.request;
  Fills& fills = l2_[at].fills;
  const L2Outcome outcome = look_up(now, request, at);
  Lookups& lookups = lookups_[request.site][unsigned(L2Kind::load)];
  lookups.hits += sector_count(outcome.hits);
  if (!event.has_crossed) {
    lookups.all += sector_count(request.sectors);
    near_hits_ += sector_count(outcome.hits);
  }
  // Data passes a slice once: where it hits, or where memory brings it in.
  const bool is_home = home_of(request.line) == at;
  const unsigned passing = is_home ? unsigned(request.sectors) : outcome.hits;
  Arrival until{passing == 0 ? now : start_in_slice(now, request, passing, at), Level::l2};
  std::uint32_t unknown = 0;
  Waiter waiter = 0;
  const auto make_waiter = [&] { return unknown++ == 0 ? waiter = new_waiter(event) : waiter; };
  if (outcome.hits != 0)
    until.and_also(fills.wait(request.line, outcome.hits, now, make_waiter).known);
  if (outcome.fetched != 0 && is_home) {
    const Arrival arrival = read_memory(request.line, outcome.fetched, now);
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
void Memory::load_constants(Cycle now, const Event& event) {
  const MemoryRequest& request = event.request;
  const ReadOnlyCache& group = constants_[request.sm / group_sms_];
  Event from_l2 = event;
  from_l2.request.of_constants = false;
  from_l2.request.sectors = whole_line;
  const Lookups found = group.load(request.line, 1, [&](unsigned) {
    group.each_line_with(request.line, [&](std::uint32_t line) {
      from_l2.request.line = line;
      from_l2.request.fill = line == request.line ? request.fill : MemoryRequest::no_fill;
      load(now, from_l2, request.partition);
    });
  });
  constant_lookups_ += found;
  if (found.hits != 0)
    answers_[request.sm].push_back({request.fill, {now + constants_way_back_, Level::constant}});
}

void Memory::cross(Cycle now, Event event, unsigned from) {
  event.has_crossed = true;
  const unsigned sectors = sector_count(event.request.sectors);
  crossed_sectors_ += sectors;
  const Ticks start = l2_[from].to_other.serve(now * ticks_per_cycle, sector_across_ * sectors);
  events_.add(cycle_after(start) + hop_, event);
}

void Memory::write(Cycle now, const Event& event, unsigned at) {
  const MemoryRequest& request = event.request;
  Fills& fills = l2_[at].fills;
  const L2Outcome outcome = look_up(now, request, at);
  Lookups& lookups = lookups_[request.site][unsigned(request.kind)];
  lookups.all += sector_count(request.sectors);
  lookups.hits += sector_count(outcome.hits);
  if (outcome.updated != 0)
    write_memory(request.line, outcome.updated, now);
  Arrival until{now, Level::l2};
  std::uint32_t unknown = 0;
  Waiter waiter = 0;
  const auto make_waiter = [&] { return unknown++ == 0 ? waiter = new_waiter(event) : waiter; };
  if (outcome.hits != 0 && request.fill != MemoryRequest::no_fill)
    until.and_also(fills.wait(request.line, outcome.hits, now, make_waiter).known);
  if (outcome.fetched != 0) {
    const Arrival arrival = read_memory(request.line, outcome.fetched, now);
    fills.add(request.line, outcome.fetched, arrival);
    until.and_also(arrival);
  }
  answer_later(event, until, unknown, waiter);
}

/// Returns when the sectors are in the L2.
Arrival Memory::read_memory(std::uint32_t line, unsigned sectors, Cycle now) {
  const Cycle arrives = cycle_after(use_memory(line, sectors, now));
  read_sectors_ += sector_count(sectors);
  ++reads_;
  read_cycles_ += arrives - now + shortest_;
  return {arrives, Level::dram};
}
void Memory::write_memory(std::uint32_t line, unsigned sectors, Cycle now) {
  use_memory(line, sectors, now);
  written_sectors_ += sector_count(sectors);
}

/// Reads or writes sectors, and returns when that is done. A bank opens its rows one after the other, while
/// the bus of its channel transfers for other banks.
Ticks Memory::use_memory(std::uint32_t line, unsigned sectors, Cycle now) {
  const DramMap::Place place = dram_map_(line);
  Bank& bank = banks_[place.bank];
  const Ticks opening = bank.open_row == place.row ? 0
                        : bank.open_row == no_line ? activate_
                                                   : precharge_ + activate_;
  bank.open_row = place.row;
  const Ticks arrival = now * ticks_per_cycle + to_bank_;
  const Ticks opened = std::max(arrival, bank.free_at) + opening;
  const Ticks bursts = burst_ * sector_count(sectors);
  bank.free_at = opened + bursts;
  return std::max(channels_[place.channel].serve(arrival, bursts), opened) + bursts;
}

/// Answers once nothing is unknown any more; now, if nothing is. The waiter waits for the rest.
void Memory::answer_later(const Event& event, const Arrival& until, std::uint32_t unknown, Waiter waiter) {
  if (unknown == 0)
    return answer(event, until);
  waiting_[waiter].unknown = unknown;
  waiting_[waiter].until = until;
}

/// Answers the SM, or the other partition, when the data is in this one.
void Memory::answer(const Event& event, Arrival arrival) {
  const MemoryRequest& request = event.request;
  if (event.has_crossed)
    arrival.at += hop_;
  if (event.near_fill == MemoryRequest::no_fill) {
    arrival.at += way_back_;
    if (request.fill != MemoryRequest::no_fill)
      answers_[request.sm].push_back({request.fill, arrival});
    return;
  }
  l2_[request.partition].fills.arrived(event.near_fill, arrival,
                                       [&](Waiter waiter) { notify(waiter, arrival); });
}

void Memory::notify(Waiter waiter, const Arrival& arrival) {
  Waiting& waiting = waiting_[waiter];
  waiting.until.and_also(arrival);
  if (--waiting.unknown != 0)
    return;
  const Waiting ended = waiting;
  free_waiters_.push_back(waiter);
  answer(ended.event, ended.until);
}

Waiter Memory::new_waiter(const Event& event) {
  if (free_waiters_.empty()) {
    waiting_.push_back({event, 0, {}});
    return Waiter(waiting_.size() - 1);
  }
  const Waiter waiter = free_waiters_.back();
  free_waiters_.pop_back();
  waiting_[waiter] = {event, 0, {}};
  return waiter;
}

void Memory::count(TrialCounts& counts) const {
  for (std::size_t site = 0; site < lookups_.size(); ++site)
    for (const L2Kind kind : {L2Kind::load, L2Kind::store, L2Kind::atomic, L2Kind::store_of_update}) {
      const Lookups& l2 = lookups_[site][unsigned(kind)];
      (kind == L2Kind::load ? counts.l2_reads : counts.l2_writes) += l2;
      if (kind != L2Kind::store_of_update)
        counts.sites[site].l2 += l2;
    }
  counts.dram_read_sectors = read_sectors_;
  counts.dram_written_sectors = written_sectors_;
  counts.dram_reads = reads_;
  counts.dram_latency_ns = double(read_cycles_) * ns_per_cycle_;
  counts.constant_group_reads = constant_lookups_;
  counts.l2_near_hits = near_hits_;
  counts.crossed_sectors = crossed_sectors_;
}

MemoryUse Memory::use() const {
  MemoryUse use;
  for (const Partition& partition : l2_) {
    for (const Server& slice : partition.slices) {
      use.slice = std::max(use.slice, slice.busy());
      use.slices += slice.busy();
    }
    use.fabric = std::max(use.fabric, partition.to_other.busy());
  }
  for (const Server& channel : channels_) {
    use.channel = std::max(use.channel, channel.busy());
    use.channels += channel.busy();
  }
  return use;
}

} // namespace warplens::model
