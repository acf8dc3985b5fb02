#include "model/clock/sm.h"

#include "model/numeric/instructions.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warplens::model {
namespace {

constexpr std::uint32_t max_ahead = 64; ///< transactions of a warp that are prefetched, about

} // namespace

Sm::Sm(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures, const TimedCode* code,
       std::uint32_t l1_bytes, std::uint32_t number, Random& random, WarpStates& states,
       TrialObserver* observer)
    : snapshot_(snapshot), figures_(figures), code_(code), l1_(gpu, l1_bytes), number_(std::uint16_t(number)),
      partition_(std::uint8_t(number % gpu.l2.partitions)), sectored_(gpu.l1.sectored),
      writes_local_back_(snapshot.stores_local && gpu.l1.local_stores == LocalStores::write_back),
      tags_per_pass_(gpu.lanes.tags_per_pass), random_(random), counts_(snapshot.sites.size()),
      states_(states), observer_(observer), awaited_(figures.misses), unawaited_(figures.stores),
      clock_(figures.sm, *this) {
  if (snapshot.reads_read_only)
    read_only_.emplace(gpu.read_only.bytes, gpu.read_only.line_bytes, gpu.read_only.ways);
  if (snapshot.reads_textures)
    texture_.emplace(gpu.texture.bytes, gpu.texture.line_bytes, gpu.texture.ways);
  if (snapshot.reads_constants)
    constants_.emplace(gpu.constant.bytes, gpu.constant.line_bytes, gpu.constant.ways);
}

void Sm::admit(const BlockPart& part, Cycle at) {
  const Snapshot::Block& block = snapshot_.blocks[part.block];
  programs_.clear();
  for (std::uint32_t i = 0; i < block.warps; ++i) {
    const Warp& warp = snapshot_.warps[block.first_warp + i];
    const WarpPart of = part_of(warp, snapshot_, part);
    if (of.bulks == 0)
      continue;
    programs_.push_back(
        {.next = of.begin, .end = of.end, .transactions = of.transactions, .last = states_.nowhere()});
    if (code_ == nullptr)
      continue;
    Program& program = programs_.back();
    const PathPlace begin = place_at(code_->code(), warp, of.begin);
    program.block = begin.block;
    program.makes_access = begin.makes_access;
    program.next = begin.access;
    program.transactions = begin.transactions;
    const PathPlace end = place_at(code_->code(), warp, of.end);
    program.last_block = end.block;
    program.end = end.access;
    enter_block(program);
  }
  parts_.push_back({part.to - part.from, std::uint32_t(programs_.size()), part.block, at});
  clock_.admit(std::uint32_t(parts_.size() - 1), programs_, at);
  warps_.resize(clock_.warps());
}

void Sm::prefetch_answers(const std::vector<MemoryAnswer>& answers) const {
  for (const MemoryAnswer& answer : answers)
    if (answer.fill != MemoryRequest::unawaited)
      fills_.prefetch(answer.fill, answer.line);
}

void Sm::take(std::vector<MemoryAnswer>& answers, Cycle end) {
  std::erase_if(answers, [&](const MemoryAnswer& answer) {
    if (answer.fill != MemoryRequest::unawaited)
      return false;
    unawaited_.answered(answer.arrival.at, 1);
    last_ = std::max(last_, answer.arrival.at);
    return true;
  });
  for (const MemoryAnswer& answer : answers)
    __builtin_prefetch(&loads_[fills_.waiter_of(answer.fill)], 1);
  for (const MemoryAnswer& answer : answers) {
    const WarpNumber warp = loads_[fills_.waiter_of(answer.fill)].warp;
    __builtin_prefetch(&warps_[warp], 1);
    clock_.prefetch(warp);
  }
  for (const MemoryAnswer& answer : answers) {
    awaited_.answered(answer.arrival.at, miss_entries_[answer.fill]);
    fills_.arrived(answer.fill, answer.arrival, [&](Waiter waiter) {
      Load& load = loads_[waiter];
      load.arrival.and_also(answer.arrival);
      if (--load.unknown == 0)
        end_load(waiter, true);
    });
  }
  answers.clear();
  if (std::exchange(was_full_, false))
    clock_.entries_changed();
  due_.clear();
  clock_.each_due(end, [&](WarpNumber number, const Program& program) {
    due_.push_back(&program);
    clock_.prefetch(number);
    __builtin_prefetch(&warps_[number], 1);
  });
}

void Sm::run_until(Cycle end, Memory& memory) {
  memory_ = &memory;
  prefetch_caches();
  if (const Cycle next = clock_.next(); next != 0) {
    fills_.forget_until(next - 1);
    awaited_.forget_until(next - 1);
    unawaited_.forget_until(next - 1);
  }
  with_instructions(
      [&]<class Instructions>(Instructions) { Instructions::run([&] { clock_.run_until(end); }); });
}

Cycle Sm::issue(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now, Cycle leaves) {
  ++instructions_;
  warps_[warp].issued = now;
  warps_[warp].left = std::max(warps_[warp].left, leaves);
  program.last = place_of_next(program);
  states_.issued(program.last);
  return code_ == nullptr ? make_access(warp, program, instruction, now, leaves)
                          : issue_instruction(warp, program, instruction, now, leaves);
}

/// Goes to the first instruction of the program's next block that has any, unless that is an access without
/// an instruction.
void Sm::enter_block(Program& program) const {
  for (; program.block != program.last_block && *program.block != Path::loose; ++program.block) {
    const TimedCode::Block& block = code_->block(*program.block);
    program.instruction = block.begin;
    program.block_end = block.end;
    if (block.begin != block.end)
      return;
  }
}

Instruction Sm::next_instruction(const Program& program) const {
  if (*program.block == Path::loose) {
    Instruction access = next_access(program);
    access.result = program.next->is_awaited ? loose_scoreboard : Instruction::none;
    access.sources[0] = Instruction::none;
    access.delay = 1;
    return access;
  }
  const TimedInstruction& timed = (*code_)[program.instruction];
  Instruction instruction = timed.issue;
  if (makes_access(program))
    instruction.passes = program.next->passes;
  if (program.waits_for_loose)
    *std::ranges::find(instruction.sources, Instruction::none) = loose_scoreboard;
  if (timed.copies != CopyRole::none) [[unlikely]]
    put_copy_registers(timed.copies, program.copies_ended, timed.pending_groups, first_copy_scoreboard,
                       instruction);
  return instruction;
}

Cycle Sm::issue_instruction(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now,
                            Cycle leaves) {
  if (*program.block == Path::loose) {
    const Cycle there = make_access(warp, program, instruction, now, leaves);
    program.waits_for_loose |= instruction.result == loose_scoreboard;
    ++program.block;
    enter_block(program);
    return there;
  }
  program.waits_for_loose = false;
  if (instruction.pipe == Instruction::none)
    warps_[warp].barrier = no_site;
  else
    pipe_passes_[std::size_t(instruction.pipe)] += instruction.passes;
  const TimedInstruction& timed = (*code_)[program.instruction];
  if (timed.copies == CopyRole::ends_group || timed.copies == CopyRole::arrives)
    program.copies_ended = with_one_more_group(program.copies_ended);
  Cycle there = never;
  if (timed.has_slot && *program.makes_access++ != 0) {
    there = make_access(warp, program, instruction, now, leaves);
  } else if (instruction.result != Instruction::none) {
    Result& result = warps_[warp].results[std::size_t(instruction.result)];
    // Of what is there at the same time, an access counts, and the later one of two other instructions.
    if (const Cycle at = leaves + timed.latency;
        at > result.until || (at == result.until && result.site == no_site))
      result = {.unknown = result.unknown, .site = no_site, .place = program.last, .until = at};
    there = result.unknown != 0 ? never : result.until;
  }
  if (++program.instruction == program.block_end) {
    ++program.block;
    enter_block(program);
  }
  return there;
}

/// Makes the program's next access; returns when the instruction's result is there.
Cycle Sm::make_access(WarpNumber warp, Program& program, const Instruction& instruction, Cycle now,
                      Cycle leaves) {
  const Access& access = *program.next++;
  if (access.kind == AccessKind::barrier) [[unlikely]] {
    ++counts_[access.site].accesses;
    warps_[warp].barrier = access.site;
    return now;
  }
  const Transactions transactions(program.transactions, access.transactions);
  program.transactions += access.transactions;
  SmSiteCounts& counts = counts_[access.site];
  ++counts.accesses;
  const Lookups l1_before = counts.l1;
  const std::uint32_t number = new_load({.warp = warp,
                                         .site = access.site,
                                         .place = program.last,
                                         .result = instruction.result,
                                         .issued = now,
                                         .arrival = {now, Level::l1}});
  Load& load = loads_[number];
  Result* const result = instruction.result == Instruction::none
                             ? nullptr
                             : &warps_[warp].results[std::size_t(instruction.result)];
  if (result != nullptr)
    ++result->unknown;
  if (access.cache == FirstCache::constant) {
    const Cycle further = instruction.passes * figures_.constant_pass;
    counts.constant_passes += further;
    load_read_only(*constants_, figures_.constant, {access, counts, number, load, leaves, leaves + further},
                   transactions, true);
  } else {
    const Passing passing{access, counts, number, load, leaves, leaves + instruction.passes - 1};
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
    observer_->issued(number_, access, transactions,
                      {counts.l1.hits - l1_before.hits, counts.l1.all - l1_before.all}, now);
  if (load.unknown == 0)
    end_load(number, false);
  return result == nullptr || result->unknown != 0 ? never : result->until;
}

template <class Instructions, class Lines>
[[gnu::always_inline]] inline void Sm::look_up(const Lines& lines, const Passing& passing,
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
         passing.counts);
  };
  Cycle at = passing.first_pass;
  std::uint32_t of_pass = 0; // transactions so far
  for (const Transaction& t : transactions) {
    if (std::exchange(of_pass, of_pass + 1) == tags_per_pass_) {
      ++at;
      of_pass = 1;
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
      send(at, to_l2, passing.counts);
    } else if (access.kind == AccessKind::atomic) {
      to_l2.kind = L2Kind::atomic;
      to_l2.atomics = t.mask;
      if (access.is_awaited)
        request_apart(at, to_l2, passing);
      else
        send(at, to_l2, passing.counts);
    }
  }
  if (access.kind == AccessKind::store)
    passing.load.arrival.and_also({passing.last_pass, Level::l1});
}

template <class Instructions, class Lines>
[[gnu::always_inline]] inline void Sm::load(const Lines& lines, const Passing& passing,
                                            const Transaction& transaction, Cycle at) {
  const unsigned sectors = l1_.looked_up(transaction.sectors);
  const L1::Found found = l1_.template load_on_clock<Instructions>(
      lines, transaction.line, sectors, [&](std::uint32_t line, unsigned dirty) {
        send(at,
             {.line = line,
              .site = passing.access.site,
              .sectors = std::uint8_t(dirty & whole_line),
              .kind = L2Kind::store_of_update},
             passing.counts);
      });
  const unsigned hits = sectors & ~found.missing;
  passing.counts.l1 += sectored_ ? Lookups{sector_count(hits), sector_count(sectors)} : Lookups{hits != 0, 1};
  Load& load = passing.load;
  if (hits != 0)
    load.arrival.and_also({passing.last_pass + figures_.l1, Level::l1});
  unsigned missing = found.missing;
  if ((found.coming | missing) != 0) {
    // A line that was evicted while it was on its way is not requested again.
    const Fills::Wait wait =
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
void Sm::load_read_only(const ReadOnlyCache& cache, Cycle latency, const Passing& passing,
                        Transactions transactions, bool of_constants) {
  SmSiteCounts& counts = passing.counts;
  Load& load = passing.load;
  load.arrival.and_also({passing.last_pass + latency, of_constants ? Level::constant : Level::l1});
  for (const Transaction& t : transactions) {
    unsigned missed = 0;
    const Lookups found = cache.load(t.line, t.sectors, [&](unsigned sectors) { missed |= sectors; });
    (of_constants ? counts.constant : counts.l1) += found;
    if (const unsigned hits = t.sectors & ~missed; hits != 0) {
      const Fills::Wait wait = fills_.wait(t.line, hits, load.issued, [&] { return passing.number; });
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
void Sm::request(Cycle at, MemoryRequest request, const Passing& passing) {
  request.fill = fills_.add(request.line, request.sectors, passing.number);
  send_awaited(at, request, passing, sectored_ ? sector_count(request.sectors) : 1);
}
/// Requests what none of the SM's caches keeps.
void Sm::request_apart(Cycle at, MemoryRequest request, const Passing& passing) {
  request.fill = fills_.add_apart(passing.number);
  send_awaited(at, request, passing, 1);
}
void Sm::send_awaited(Cycle at, const MemoryRequest& request, const Passing& passing, unsigned entries) {
  ++passing.load.unknown;
  awaited_.sent(entries);
  if (request.fill >= miss_entries_.size())
    miss_entries_.resize(request.fill + 1);
  miss_entries_[request.fill] = std::uint8_t(entries);
  send(at, request, passing.counts);
}

void Sm::send(Cycle at, MemoryRequest request, SmSiteCounts& counts) {
  request.sm = number_;
  request.partition = partition_;
  request.draw = random_.bits();
  if (request.fill == MemoryRequest::no_fill) {
    request.fill = MemoryRequest::unawaited;
    unawaited_.sent(1);
  }
  const bool comes_in = request.kind == L2Kind::load;
  const Ticks service =
      (comes_in ? figures_.sector_read : figures_.sector_written) * sector_count(request.sectors);
  counts.port += service;
  const Ticks start = (comes_in ? port_in_ : port_out_).serve(at * ticks_per_cycle, service);
  memory_->request(cycle_after(start), request);
}

Cycle Sm::entries_open_at(Cycle from) {
  const Cycle open = std::max(awaited_.open_at(from), unawaited_.open_at(from));
  was_full_ |= open != from;
  return open;
}

void Sm::waited(WarpNumber warp, const Program& program, Stall why, Cycle cycles) {
  const WarpResults& waits = warps_[warp];
  const auto await = [&](const Result& result, Cycle time) {
    states_.awaited(result.place, time);
    if (result.site != no_site)
      counts_[result.site].awaited += time;
  };
  if (why == Stall::ended) {
    // A warp whose last results no access needs still waits for them, and for its stores to leave the memory
    // pipeline, before its block can end.
    const auto until = [&, since = waits.issued + 1](Cycle end) {
      return program.last != states_.nowhere() && end > since ? std::min(cycles, end - since) : 0;
    };
    const Result& last = *std::ranges::max_element(waits.results, {}, &Result::until);
    if (const Cycle for_result = until(last.until); for_result != 0)
      await(last, for_result);
    const Cycle drains = until(std::max(last.until, waits.left));
    states_.waited(program.last, WarpState::drain, drains);
    states_.waited(states_.nowhere(), WarpState::ended, cycles - drains);
    return;
  }
  if (why == Stall::barrier) { // which the warp issued last, if the trace has it
    states_.waited(program.last, WarpState::barrier, cycles);
    states_.awaited(program.last, cycles);
    if (waits.barrier != no_site)
      counts_[waits.barrier].awaited += cycles;
    return;
  }
  const Place place = place_of_next(program);
  if (code_ == nullptr || makes_access(program))
    counts_[program.next->site].stalls[std::size_t(why)] += cycles;
  switch (why) {
  case Stall::delay: return states_.waited(place, states_.after(program.last), cycles);
  case Stall::structural: return states_.waited(place, states_.for_pipe_of(place), cycles);
  case Stall::not_selected: return states_.waited(place, WarpState::not_selected, cycles);
  default: break;
  }
  const Instruction instruction = next(program);
  const Result* last = &waits.results[std::size_t(instruction.sources[0])];
  for (const std::int16_t source : instruction.sources)
    if (source != Instruction::none && waits.results[std::size_t(source)].until > last->until)
      last = &waits.results[std::size_t(source)];
  states_.waited(place, states_.for_result_of(last->place), cycles);
  await(*last, cycles);
}

Place Sm::place_of_next(const Program& program) const {
  return code_ == nullptr || *program.block == Path::loose ? states_.of_access(program.next->site)
                                                           : states_.of_instruction(program.instruction);
}

bool Sm::makes_access(const Program& program) const {
  return *program.block == Path::loose ||
         ((*code_)[program.instruction].has_slot && *program.makes_access != 0);
}

/// All is known about an access. `tells`: the clock, that its warp can go on.
void Sm::end_load(std::uint32_t number, bool tells) {
  const Load load = loads_[number];
  free_loads_.push_back(number);
  counts_[load.site].latency[unsigned(load.arrival.level)] += load.arrival.at - load.issued;
  if (observer_ != nullptr)
    observer_->answered(load.issued, load.arrival.at);
  if (load.result == Instruction::none)
    return;
  Result& result = warps_[load.warp].results[std::size_t(load.result)];
  --result.unknown;
  if (load.arrival.at > result.until ||
      (load.arrival.at == result.until &&
       (result.site == no_site || std::pair(load.site, load.place) > std::pair(result.site, result.place))))
    std::tie(result.until, result.site, result.place) = std::tuple(load.arrival.at, load.site, load.place);
  if (tells && result.unknown == 0)
    clock_.complete(load.warp, load.result, result.until);
}

void Sm::prefetch_accesses() const {
  for (const Program* const program : due_) {
    __builtin_prefetch(program->block);
    __builtin_prefetch(program->next);
    __builtin_prefetch(program->next + 1);
    __builtin_prefetch(program->transactions);
  }
}
/// Prefetches what these accesses look up, and those of their bulk that follow.
void Sm::prefetch_caches() const {
  l1_.with_lines([&](const auto& lines) {
    for (const Program* const program : due_) {
      const Access* access = program->next;
      if (access == program->end)
        continue;
      std::uint32_t ahead = 0;
      do {
        for (const Transaction& t : Transactions(program->transactions + ahead, access->transactions)) {
          lines.prefetch(lines.set_of(0, t.line));
          fills_.prefetch(t.line);
        }
        ahead += access->transactions;
      } while (++access != program->end && !access->starts_bulk && ahead < max_ahead);
    }
  });
}

std::uint32_t Sm::new_load(const Load& load) {
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
