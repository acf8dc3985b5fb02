// A trial on a clock, cycle by cycle and event by event: the slow, obvious reference of the one that runs
// epochs. It uses the caches themselves, which have references of their own.
#pragma once

#include "model/cache/l1.h"
#include "model/cache/l2.h"
#include "model/clock/timed_code.h"
#include "model/dram/dram_map.h"
#include "model/gpu/occupancy.h"
#include "model/gpu/slices.h"
#include "model/replay/trial.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"
#include "test/model/reference_sm.h"

#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

namespace warplens::test {

/// Runs a snapshot of a whole grid that reads neither constants nor textures, with its code or without.
class ReferenceClock {
public:
  ReferenceClock(const model::Snapshot& snapshot, const model::Gpu& gpu, const model::Occupancy& occupancy,
                 Random random)
      : snapshot_(snapshot), gpu_(gpu), figures_(gpu), steps_(steps()), slices_(gpu), map_(gpu),
        epoch_(figures_.cycles(gpu.l2.latency_ns)), banks_(gpu.dram.channels * gpu.dram.banks),
        buses_(gpu.dram.channels) {
    for (unsigned i = 0; i < gpu.l2.partitions; ++i)
      partitions_.push_back(
          {model::L2::partition_of(gpu), {}, std::vector<Slice>(gpu.l2.slices / gpu.l2.partitions)});
    counts_.sites.resize(snapshot.sites.size());
    counts_.states.resize((snapshot.code ? snapshot.code->kernel.instructions.size() : 0) +
                          snapshot.sites.size() + 1);
    const auto resident = std::min<std::size_t>(occupancy.blocks_per_sm * gpu.sms, snapshot.blocks.size());
    const auto busy = std::min<std::size_t>(gpu.sms, resident);
    for (std::uint32_t number = 0; number < busy; ++number)
      sms_.push_back(std::make_unique<Sm>(*this, number, occupancy.l1_bytes, random));
    for (; next_block_ < resident; ++next_block_)
      starts_.insert({next_block_, {next_block_ % busy, next_block_}});
    next_start_ = next_block_;
    for (std::uint32_t block = 0; block < snapshot.blocks.size(); ++block)
      for (std::uint32_t warp = 0; warp < snapshot.blocks[block].warps; ++warp)
        for (const Step& step : steps_[snapshot.blocks[block].first_warp + warp]) {
          const auto role = step.access == nullptr ? model::PhaseRole::none : step.access->phase;
          if (role != model::PhaseRole::none && role != model::PhaseRole::waits)
            expect(block, step);
          for (const Step& part : step.parts)
            expect(block, part);
        }
  }

  model::TrialCounts run() {
    for (now_ = 0; !is_done(); ++now_) {
      if (now_ % epoch_ == 0) {
        deal();
        exchange_contributions();
      }
      for (auto [begin, end] = starts_.equal_range(now_); begin != end; ++begin) {
        Sm& sm = *sms_[begin->second.first];
        sm.core.set_now(now_);
        sm.core.dispatch(begin->second.second);
        dispatched_[begin->second.second] = now_;
      }
      while (events_.contains(now_)) {
        std::vector<Event> all = std::move(events_.extract(now_).mapped());
        std::ranges::sort(all, {}, &Event::draw);
        for (const Event& event : all)
          arrive(event);
      }
      for (const auto& sm : sms_)
        sm->core.step_cycle(now_);
    }
    for (const model::TrialCounts::Site& site : counts_.sites)
      counts_.l1_reads += site.l1;
    counts_.time.cycles = std::max(counts_.time.cycles, last_store_);
    return counts_;
  }

private:
  struct Arrived {
    Cycle at = 0;
    model::Level level = model::Level::l1;
    void and_also(const Arrived& other) {
      if (std::tie(other.at, other.level) > std::tie(at, level))
        *this = other;
    }
  };
  using Tell = std::function<void(const Arrived&)>;
  /// Some sectors of a line on their way into a cache.
  struct Fill {
    std::uint32_t line;
    unsigned sectors; ///< none: it is for one access only
    std::optional<Arrived> arrived = {};
    std::vector<Tell> waiting = {};
  };
  /// Fills of a cache, all that there ever were.
  struct Fills {
    std::vector<std::shared_ptr<Fill>> all = {};
    std::shared_ptr<Fill> add(std::uint32_t line, unsigned sectors) {
      return all.emplace_back(std::make_shared<Fill>(Fill{line, sectors}));
    }
    /// The fills of these sectors that are on their way at that time.
    std::vector<std::shared_ptr<Fill>> of(std::uint32_t line, unsigned sectors, Cycle at) const {
      std::vector<std::shared_ptr<Fill>> found;
      for (const auto& fill : all)
        if (fill->line == line && (fill->sectors & sectors) != 0 &&
            (!fill->arrived || fill->arrived->at > at))
          found.push_back(fill);
      return found;
    }
  };
  static void arrive_at(Fill& fill, const Arrived& arrived) {
    fill.arrived = arrived;
    for (const Tell& tell : std::exchange(fill.waiting, {}))
      tell(arrived);
  }
  /// Tells when the last of several things is there.
  struct Last {
    Arrived until;
    std::size_t unknown = 0;
    Tell tell;
    void wait_for(const std::shared_ptr<Last>& self, Fill& fill) {
      if (fill.arrived) {
        until.and_also(*fill.arrived);
        return;
      }
      ++unknown;
      fill.waiting.push_back([self](const Arrived& arrived) {
        self->until.and_also(arrived);
        if (--self->unknown == 0)
          self->tell(self->until);
      });
    }
  };

  struct Event {
    std::uint32_t draw = 0, line = 0, site = 0, mask = 0;
    unsigned sectors = 0, partition = 0, atomics = 0;
    model::L2Kind kind = model::L2Kind::load;
    bool has_crossed = false, is_awaited = false;
    Tell answer;
  };
  struct Slice {
    model::Ticks reads_free = 0, writes_free = 0;
    std::map<std::uint32_t, model::Ticks> sums_free; ///< of floats, by line
  };
  struct Partition {
    model::L2 l2;
    Fills fills;
    std::vector<Slice> slices;
    model::Ticks way_free = 0;
  };
  /// A row, and until when it serves the reads that arrive for it.
  struct Opened {
    std::uint32_t row;
    model::Ticks until;
  };
  struct Bank {
    model::Ticks free = 0;
    std::optional<std::uint32_t> row;
    std::deque<Opened> read;           ///< at most 16, the one that was opened first in front
    std::deque<std::uint32_t> written; ///< at most what half of the L2 holds of a bank, likewise
  };
  /// Of the sectors that were read, `unturned` are followed by no turn of the bus yet.
  struct Bus {
    model::Ticks free = 0;
    unsigned unturned = 0, collected = 0, opened = 0; ///< rows, for what is collected
  };

  /// The accesses and other instructions for which a warp waits by one register.
  struct Wait {
    std::size_t unknown = 0;
    Cycle until = 0;
    std::optional<std::uint32_t> site = std::nullopt; ///< of what is there last
    std::size_t place = 0;                            ///< likewise
  };
  /// A phase ends with the last thing that it waited for: an arrival, or a copy with its site and place.
  struct PhaseEnd {
    Cycle at = 0;
    bool is_arrival = true;
    std::uint32_t site = 0;
    std::size_t place = 0;
    friend auto operator<=>(const PhaseEnd&, const PhaseEnd&) = default;
  };
  /// An asynchronous copy of a warp, and who waits until it is there.
  struct Copy {
    std::optional<PhaseEnd> end = std::nullopt;
    std::vector<std::function<void(const PhaseEnd&)>> waiting = {};
  };
  struct Waits {
    std::vector<std::shared_ptr<Copy>> copies = {};       ///< all that the warp has issued
    std::map<std::int16_t, Wait> of = {};                 ///< by register
    Cycle issued = 0;                                     ///< when it issued last
    Cycle left = 0;                                       ///< when its last instruction left its queue
    Cycle sums_there = 0;                                 ///< of its products of tensor memory
    Cycle stalled = 0;                                    ///< for data, before its next instruction
    std::optional<std::size_t> stalled_at = std::nullopt; ///< the place of that
  };
  /// An instruction of a warp, with the access that it makes or the latency of its result.
  struct Step {
    Instruction instruction;
    const model::Access* access = nullptr;
    const model::Transaction* transactions = nullptr;
    Cycle latency = 0;
    std::size_t place = 0;                    ///< in TrialCounts::states
    Cycle resolves = 0;                       ///< of a branch: the end of its delay
    std::vector<model::PhaseUse> phases = {}; ///< of barriers in shared memory, where it has a part in some
    std::optional<model::TensorMemoryTimes> product = std::nullopt; ///< of tensor memory
    /// The further parts of a copy of many bytes, with their phases.
    std::vector<Step> parts = {};
  };
  struct Phase {
    std::size_t missing = 0;
    PhaseEnd end = {};
    std::vector<std::function<void(const PhaseEnd&, Cycle)>> waiting = {};
  };
  /// A contribution to a phase of a block on another SM, which gets to know of it in a cycle.
  struct Between {
    Cycle known_at = 0;
    std::uint32_t block = 0, number = 0;
    PhaseEnd done = {};
  };
  struct Sm {
    Sm(ReferenceClock& trial, std::uint32_t number_of_it, std::uint32_t l1_bytes, Random& start)
        : number(number_of_it), l1(trial.gpu_, l1_bytes), random(start),
          core(machine(trial), programs(trial),
               {.execute = [this, &trial](const InstructionPlace& at, Cycle now,
                                          Cycle leaves) { return trial.execute(*this, at, now, leaves); },
                .has_entry =
                    [this, &trial](Cycle now) {
                      const auto entries = [&](const Fills& of, bool by_sector) {
                        unsigned taken = 0;
                        for (const auto& fill : of.all)
                          if (!fill->arrived || fill->arrived->at > now)
                            taken += by_sector ? std::max(1u, sector_count(fill->sectors)) : 1;
                        return taken;
                      };
                      const std::uint32_t misses = trial.figures_.misses;
                      return (misses == 0 || entries(fills, trial.gpu_.l1.sectored) < misses) &&
                             entries(stores, false) < trial.figures_.stores;
                    },
                .stalled = [this, &trial](const InstructionPlace& at,
                                          Stall why) { trial.stalled(*this, at, why); },
                .ended =
                    [this, &trial](std::uint32_t block, Cycle now) {
                      for (auto& [of, its] : waits)
                        if (of.first == block)
                          trial.charge(its, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
                      trial.ended_.emplace_back(now, random.bits(), number);
                      trial.counts_.time.cycles = std::max(trial.counts_.time.cycles, now);
                      trial.counts_.time.warp_cycles +=
                          double(trial.snapshot_.blocks[block].warps * (now - trial.dispatched_.at(block)));
                      ++trial.ended_blocks_;
                    }}) {}
    static SmMachine machine(const ReferenceClock& trial) {
      SmMachine machine;
      static_cast<SmFigures&>(machine) = trial.figures_.sm;
      return machine;
    }
    static std::vector<BlockProgram> programs(const ReferenceClock& trial) {
      std::vector<BlockProgram> blocks;
      for (const auto& block : trial.snapshot_.blocks) {
        BlockProgram& programs = blocks.emplace_back();
        for (std::uint32_t i = 0; i < block.warps; ++i) {
          WarpProgram& program = programs.emplace_back();
          for (const Step& step : trial.steps_[block.first_warp + i])
            program.push_back(step.instruction);
        }
      }
      return blocks;
    }

    std::uint32_t number;
    model::L1 l1;
    FastRandom random;
    Fills fills;
    Fills stores; ///< requests that no warp waits for
    Fills copies; ///< in the background
    Cycle copies_begin = 0, products_begin = 0;
    model::Ticks in_free = 0, out_free = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Waits> waits; ///< by block and warp
    ReferenceSm core;
  };

  bool is_done() const { return ended_blocks_ == snapshot_.blocks.size() && events_.empty(); }

  void deal() {
    std::ranges::sort(ended_);
    for (const auto& [at, draw, sm] : ended_)
      if (next_block_ < snapshot_.blocks.size()) {
        const Cycle start = std::max({now_, at + figures_.turnover, next_start_});
        starts_.insert({start, {sm, next_block_++}});
        next_start_ = start + 1;
      }
    ended_.clear();
  }

  Instruction instruction_of(const model::Access& access) const {
    if (access.kind == AccessKind::barrier)
      return {.pipe = Instruction::none,
              .sources = {access.starts_bulk ? std::int16_t{0} : Instruction::none}};
    return {.pipe = model::ClockFigures::memory_pipe,
            .result = access.is_awaited ? std::int16_t{0} : Instruction::none,
            .sources = {access.starts_bulk ? std::int16_t{0} : Instruction::none},
            .passes = access.passes,
            .delay = figures_.delay};
  }

  /// Returns what each warp executes.
  std::vector<std::vector<Step>> steps() {
    std::optional<model::TimedCode> timed;
    if (snapshot_.code)
      timed.emplace(*snapshot_.code, *gpu_.pipes, figures_);
    const std::size_t instructions = snapshot_.code ? snapshot_.code->kernel.instructions.size() : 0;
    std::vector<std::vector<Step>> all;
    for (const model::Warp& warp : snapshot_.warps) {
      std::vector<Step>& of_warp = all.emplace_back();
      const model::Access* access = warp.accesses.data();
      const model::Transaction* transactions = warp.transactions.data();
      auto phase = warp.phases.begin();
      const auto add = [&](Instruction instruction, std::optional<std::size_t> place = std::nullopt) {
        Step step{.instruction = instruction,
                  .access = access,
                  .transactions = transactions,
                  .place = place.value_or(instructions + access->site)};
        transactions += access++->transactions;
        if (step.access->phase != model::PhaseRole::none)
          do
            step.phases.push_back(*phase);
          while (phase++->goes_on);
        const auto copies = [](const Step& one) {
          return one.access != nullptr && one.access->phase == model::PhaseRole::copies;
        };
        if (!place && copies(step) && !of_warp.empty() && copies(of_warp.back()))
          of_warp.back().parts.push_back(step);
        else
          of_warp.push_back(step);
      };
      if (!timed) {
        while (access != warp.accesses.data() + warp.accesses.size())
          add(instruction_of(*access));
        continue;
      }
      const model::Path& path = snapshot_.code->paths[warp.path];
      std::size_t slot = 0;
      bool waits_for_unmatched = false;
      std::int16_t group = 0; // of copies, the current one
      for (std::size_t at = 0; at < path.blocks.size(); ++at) {
        const std::uint32_t block = path.blocks[at];
        if (block == model::Path::unmatched) {
          waits_for_unmatched = waits_for_unmatched || access->is_awaited;
          add({.pipe =
                   access->kind == AccessKind::barrier ? Instruction::none : model::ClockFigures::memory_pipe,
               .result = access->is_awaited ? model::unmatched_scoreboard : Instruction::none,
               .passes = access->passes});
          continue;
        }
        for (std::uint32_t i = timed->block(block).begin; i < timed->block(block).end; ++i) {
          Instruction instruction = (*timed)[i].issue;
          if (std::exchange(waits_for_unmatched, false))
            *std::ranges::find(instruction.sources, Instruction::none) = model::unmatched_scoreboard;
          const sass::Instruction& of_code = snapshot_.code->kernel.instructions[i];
          const bool goes_elsewhere = i + 1 == timed->block(block).end && at + 1 < path.blocks.size() &&
                                      path.blocks[at + 1] != model::Path::unmatched &&
                                      timed->block(path.blocks[at + 1]).begin != i + 1;
          const Cycle resolves = of_code.kind != sass::InstructionClass::branch ? 0
                                 : name_of(of_code) == "BSYNC"                  ? 9
                                 : goes_elsewhere                               ? 3
                                                                                : 0;
          instruction.delay += std::uint16_t(resolves);
          if (of_code.kind == sass::InstructionClass::copy_to_shared)
            instruction.result = std::int16_t(model::first_copy_scoreboard + group % 8);
          if (of_code.kind == sass::InstructionClass::await_group)
            for (int awaited = group - 1 - of_code.pending; awaited >= std::max(0, group - 8); --awaited)
              if (const auto free = std::ranges::find(instruction.sources, Instruction::none);
                  instruction.sources.end() - free > 1)
                *free = std::int16_t(model::first_copy_scoreboard + awaited % 8);
          group += of_code.kind == sass::InstructionClass::end_group;
          if ((*timed)[i].has_slot && path.makes_access[slot++] != 0) {
            instruction.passes = access->passes;
            add(instruction, i);
          } else {
            if ((*timed)[i].has_slot && instruction.pipe == Instruction::none)
              instruction.pipe = model::control_pipe;
            of_warp.push_back({.instruction = instruction, .latency = (*timed)[i].latency, .place = i});
            if (const model::TensorMemoryTimes* const product = timed->tensor_memory_times(i))
              of_warp.back().product = *product;
          }
          of_warp.back().resolves = resolves;
        }
      }
    }
    return all;
  }

  /// Charges the cycles for which a warp has waited to the site of the last of these registers.
  void charge(Waits& waits, std::initializer_list<std::int16_t> registers) { charge<>(waits, registers); }
  template <class Registers> void charge(Waits& waits, const Registers& registers) {
    const Wait* last = nullptr;
    for (const std::int16_t one : registers)
      if (one != Instruction::none && (last == nullptr || waits.of[one].until > last->until))
        last = &waits.of[one];
    if (last != nullptr && last->site)
      counts_.sites[*last->site].awaited += double(waits.stalled);
    if (last != nullptr)
      counts_.states[last->place].awaited += waits.stalled;
    if (last != nullptr && waits.stalled_at)
      state_at(*waits.stalled_at, result_state(last->place)) += waits.stalled;
    waits.stalled = 0;
    waits.stalled_at.reset();
  }

  Cycle execute(Sm& sm, const InstructionPlace& at, Cycle now, Cycle leaves) {
    const Step& step = steps_[snapshot_.blocks[at.block].first_warp + at.warp][at.instruction];
    const Instruction& instruction = step.instruction;
    Waits& waits = sm.waits[{at.block, at.warp}];
    waits.issued = now;
    waits.left = std::max(waits.left, leaves);
    charge(waits, instruction.sources);
    Wait& wait = waits.of[instruction.result]; // of no register, too
    ++counts_.time.instructions;
    ++state_at(step.place, WarpState::selected);
    if (step.access == nullptr) {
      const Cycle there = leaves + step.latency;
      if (there > wait.until || (there == wait.until && !wait.site))
        wait = {wait.unknown, there, std::nullopt, step.place};
      if (step.product) {
        const Cycle begin = std::max(sm.products_begin, leaves);
        sm.products_begin = begin + step.product->interval;
        waits.sums_there = std::max(waits.sums_there, begin + step.product->latency);
      }
      return instruction.result == Instruction::none || wait.unknown != 0 ? model::never : wait.until;
    }
    const model::Access access = *step.access;
    if (access.phase == model::PhaseRole::copies)
      return copy_in_bulk(sm, at.block, step, wait, leaves);
    model::TrialCounts::Site& site = counts_.sites[access.site];
    const auto occupy = [&](Resource resource, double cycles) {
      site.occupied[std::size_t(resource)] += cycles;
    };
    if (access.kind == AccessKind::barrier) {
      occupy(Resource::issue, 1.0 / figures_.sm.schedulers);
      return now;
    }
    const double passes = double(std::max<Cycle>(figures_.sm.queue.shared_interval, instruction.passes));
    occupy(Resource::issue, 1.0 / figures_.sm.schedulers);
    occupy(Resource::memory_pipeline, passes);
    occupy(Resource::shared_banks, access.cache == model::FirstCache::shared ? passes : 0);
    const Cycle last_pass = leaves + instruction.passes - 1;
    const auto load = std::make_shared<Last>();
    load->until = {now, model::Level::l1};
    ++wait.unknown;
    std::shared_ptr<Copy> copy;
    if (instruction.result >= model::first_copy_scoreboard &&
        instruction.result < model::first_product_scoreboard)
      copy = waits.copies.emplace_back(std::make_shared<Copy>());
    load->tell = [this, &sm, &wait, &site, copy, result = instruction.result, at, access, now,
                  place = step.place](const Arrived& arrived) {
      if (copy) {
        copy->end = PhaseEnd{arrived.at, false, access.site, place};
        for (const auto& tell : copy->waiting)
          tell(*copy->end);
      }
      site.latency_ns[unsigned(arrived.level)] += double(arrived.at - now) * figures_.ns_per_cycle;
      --wait.unknown;
      if (result == Instruction::none)
        return;
      // Of several that are there last, the one with the highest number counts.
      const std::optional its_site(std::uint32_t{access.site});
      if (std::tuple(arrived.at, its_site, place) > std::tuple(wait.until, wait.site, wait.place))
        wait = {wait.unknown, arrived.at, its_site, place};
      if (wait.unknown == 0 && !issuing_)
        sm.core.complete(at.block, at.warp, result, wait.until);
    };
    issuing_ = true;
    if (access.cache == model::FirstCache::shared) {
      load->until.and_also({last_pass + figures_.shared, model::Level::shared});
    } else {
      for (std::size_t i = 0; i < access.transactions; ++i)
        transact(sm, access, step.transactions[i], load, leaves + i / gpu_.lanes.tags_per_pass, last_pass);
      if (access.kind == AccessKind::store)
        load->until.and_also({last_pass, model::Level::l1});
    }
    if (load->unknown == 0)
      load->tell(load->until);
    issuing_ = false;
    Cycle arrived = leaves + figures_.shared;
    if (access.phase != model::PhaseRole::none && step.phases.front().bytes != 0) {
      sm.copies_begin = std::max(sm.copies_begin, leaves) + step.phases.front().bytes / 16;
      arrived = sm.copies_begin + figures_.shared;
    }
    if (access.phase == model::PhaseRole::arrives)
      contribute(at.block, step, {.at = arrived}, false);
    else if (access.phase == model::PhaseRole::arrives_with_products)
      contribute(at.block, step, {.at = std::max(arrived, waits.sums_there)}, false);
    else if (access.phase == model::PhaseRole::arrives_with_copies)
      arrive_with_copies(at.block, step, waits, {.at = arrived});
    else if (access.phase == model::PhaseRole::waits && instruction.result != Instruction::none)
      wait_for_phase(sm, at, step, wait, now);
    return instruction.result == Instruction::none || wait.unknown != 0 ? model::never : wait.until;
  }

  void wait_for_phase(Sm& sm, const InstructionPlace& at, const Step& step, Wait& wait, Cycle now) {
    const auto pass = [&wait, own = std::uint32_t{step.access->site},
                       own_place = step.place](const PhaseEnd& end, Cycle over) {
      const std::optional site(end.is_arrival ? own : end.site);
      const std::size_t place = end.is_arrival ? own_place : end.place;
      if (std::tuple(over, site, place) > std::tuple(wait.until, wait.site, wait.place))
        wait = {wait.unknown, over, site, place};
    };
    Phase& phase = phases_[{at.block, step.phases.front().number}];
    if (phase.missing == 0)
      return pass(phase.end, std::max(phase.end.at, now));
    ++wait.unknown;
    phase.waiting.push_back(
        [&sm, &wait, pass, at, result = step.instruction.result](const PhaseEnd& end, Cycle over) {
          --wait.unknown;
          pass(end, over);
          if (wait.unknown == 0)
            sm.core.complete(at.block, at.warp, result, wait.until);
        });
  }
  /// Arrives when all copies are there that the warp has issued.
  void arrive_with_copies(std::uint32_t block, const Step& step, const Waits& waits, PhaseEnd own) {
    const auto left = std::make_shared<std::pair<std::size_t, PhaseEnd>>(0, own);
    for (const std::shared_ptr<Copy>& copy : waits.copies) {
      if (copy->end) {
        left->second = std::max(left->second, *copy->end);
        continue;
      }
      ++left->first;
      copy->waiting.emplace_back([this, block, &step, left](const PhaseEnd& end) {
        left->second = std::max(left->second, end);
        if (--left->first == 0)
          contribute(block, step, left->second, true);
      });
    }
    if (left->first == 0)
      contribute(block, step, left->second, false);
  }
  /// Counts what the phases that a step contributes to have to wait for.
  void expect(std::uint32_t block, const Step& step) {
    for (const model::PhaseUse& use : step.phases)
      if (use.number != model::PhaseUse::no_block)
        ++phases_[{block + std::uint32_t(use.owner), use.number}].missing;
  }
  /// Contributes to phases here, and to those of other blocks: an SM hands on what it does at the end of the
  /// epoch, and what the memory answers (`is_answer`) at that of the next one. What leaves an SM in an epoch
  /// reaches the memory half of one later, at the earliest.
  void contribute(std::uint32_t block, const Step& step, const PhaseEnd& done, bool is_answer) {
    for (const model::PhaseUse& use : step.phases)
      if (use.number == model::PhaseUse::no_block)
        continue;
      else if (use.owner == 0)
        contribute(block, use.number, done);
      else
        between_.push_back({(is_answer ? (now_ - epoch_ / 2) / epoch_ + 2 : now_ / epoch_ + 1) * epoch_,
                            block + std::uint32_t(use.owner), use.number, done});
  }
  void exchange_contributions() {
    std::erase_if(between_, [&](const Between& contribution) {
      if (contribution.known_at > now_)
        return false;
      PhaseEnd done = contribution.done;
      done.at = std::max(done.at + (181 - figures_.shared) / 2, now_);
      contribute(contribution.block, contribution.number, done);
      return true;
    });
  }
  void contribute(std::uint32_t block, std::uint32_t number, const PhaseEnd& done) {
    Phase& phase = phases_[{block, number}];
    phase.end = std::max(phase.end, done);
    if (--phase.missing == 0)
      for (const auto& tell : std::exchange(phase.waiting, {}))
        tell(phase.end, phase.end.at);
  }
  /// One line in a cycle, of one copy of the SM after the other, past the L1.
  Cycle copy_in_bulk(Sm& sm, std::uint32_t block, const Step& step, Wait& wait, Cycle leaves) {
    counts_.sites[step.access->site].occupied[std::size_t(Resource::issue)] += 1.0 / figures_.sm.schedulers;
    if (const Cycle there = leaves + 1; there > wait.until || (there == wait.until && !wait.site))
      wait = {wait.unknown, there, std::nullopt, step.place};
    Cycle& begin = sm.copies_begin;
    begin = std::max(begin, leaves);
    std::vector<Step> parts{step};
    parts.insert(parts.end(), step.parts.begin(), step.parts.end());
    for (const Step& part : parts) {
      const auto load = std::make_shared<Last>();
      load->until = {begin, model::Level::l1};
      load->tell = [this, begin, block, part, place = step.place](const Arrived& arrived) {
        counts_.sites[part.access->site].latency_ns[unsigned(arrived.level)] +=
            double(arrived.at - begin) * figures_.ns_per_cycle;
        contribute(block, part, {arrived.at, false, part.access->site, place}, true);
      };
      for (std::size_t i = 0; i < part.access->transactions; ++i) {
        Event event;
        event.line = part.transactions[i].line;
        event.site = part.access->site;
        event.sectors = part.transactions[i].sectors;
        event.partition = sm.number % gpu_.l2.partitions;
        const auto fill = sm.copies.add(event.line, 0);
        load->wait_for(load, *fill);
        event.answer = [fill](const Arrived& arrived) { arrive_at(*fill, arrived); };
        send(sm, event, begin++);
      }
    }
    return step.instruction.result == Instruction::none || wait.unknown != 0 ? model::never : wait.until;
  }

  void transact(Sm& sm, const model::Access& access, const model::Transaction& t,
                const std::shared_ptr<Last>& load, Cycle at, Cycle last_pass) {
    const bool loads = access.kind == AccessKind::load || access.kind == AccessKind::update;
    const bool stores = access.kind == AccessKind::store || access.kind == AccessKind::update;
    Event event;
    event.line = t.line;
    event.site = access.site;
    event.sectors = t.sectors;
    event.partition = sm.number % gpu_.l2.partitions;
    if (loads && !access.skips_l1) {
      const unsigned sectors = sm.l1.looked_up(t.sectors);
      unsigned missing = sm.l1.load(t.line, sectors);
      const unsigned hits = sectors & ~missing;
      counts_.sites[access.site].l1 += gpu_.l1.sectored
                                           ? model::Lookups{sector_count(hits), sector_count(sectors)}
                                           : model::Lookups{hits != 0, 1};
      if (hits != 0)
        load->until.and_also({last_pass + figures_.l1, model::Level::l1});
      for (const auto& fill : sm.fills.of(t.line, sectors, now_)) {
        load->wait_for(load, *fill);
        missing &= ~fill->sectors;
      }
      event.sectors = missing;
    }
    if (loads && event.sectors != 0)
      request(sm, event, load, at, access.skips_l1 ? 0 : event.sectors);
    event.sectors = t.sectors;
    if (stores) {
      sm.l1.store(t.line, t.sectors, t.mask == 0);
      event.mask = t.mask;
      event.kind = access.kind == AccessKind::store && !access.is_store_of_update
                       ? model::L2Kind::store
                       : model::L2Kind::store_of_update;
      send(sm, event, at);
    } else if (access.kind == AccessKind::atomic) {
      event.kind = model::L2Kind::atomic;
      event.atomics = t.mask;
      if (access.is_awaited)
        request(sm, event, load, at, 0);
      else
        send(sm, event, at);
    }
  }

  /// `kept`: the sectors that the L1 keeps, for which others may wait.
  void request(Sm& sm, Event event, const std::shared_ptr<Last>& load, Cycle at, unsigned kept) {
    const auto fill = sm.fills.add(event.line, kept);
    load->wait_for(load, *fill);
    event.answer = [fill](const Arrived& arrived) { arrive_at(*fill, arrived); };
    send(sm, event, at);
  }
  void send(Sm& sm, Event event, Cycle at) {
    event.draw = sm.random.bits();
    if (!event.answer) {
      const auto store = sm.stores.add(event.line, 0);
      event.answer = [this, store](const Arrived& arrived) {
        last_store_ = std::max(last_store_, arrived.at);
        arrive_at(*store, arrived);
      };
    } else {
      event.is_awaited = true;
    }
    const bool comes_in = event.kind == model::L2Kind::load;
    model::Ticks& free = comes_in ? sm.in_free : sm.out_free;
    const model::Ticks start = std::max(at * model::ticks_per_cycle, free);
    const model::Ticks service =
        (comes_in ? figures_.sector_read : figures_.sector_written) * sector_count(event.sectors);
    free = start + service;
    occupy(event, Resource::l2_port, service);
    events_[model::cycle_after(start) + epoch_ / 2].push_back(event);
  }

  unsigned home_of(std::uint32_t line) const { return model::home_partition(line, gpu_.l2.partitions); }
  model::Ticks in_ticks(double ns) const { return model::ticks(ns / figures_.ns_per_cycle); }
  Cycle hop() const { return figures_.cycles(gpu_.l2.hop_ns) / 2; }

  void occupy(const Event& event, Resource resource, model::Ticks ticks) {
    counts_.sites[event.site].occupied[std::size_t(resource)] += double(ticks) / model::ticks_per_cycle;
  }
  Slice& slice_of(const Event& event, unsigned at) {
    auto& slices = partitions_[at].slices;
    return slices[slices_.of(event.line) / gpu_.l2.partitions % slices.size()];
  }
  Cycle pass_slice(model::Ticks& free, model::Ticks service, bool ends) {
    const model::Ticks start = std::max(now_ * model::ticks_per_cycle, free);
    free = start + service;
    return model::cycle_after(ends ? free : start);
  }
  /// Calls `pass(sectors)` for each pass of a slice in which there are some of these sectors of a line.
  template <class Pass> void each_pass(unsigned sectors, Pass&& pass) const {
    const unsigned of_pass = gpu_.l2.pass_bytes / sector_bytes;
    for (unsigned first = 0; first < 4; first += of_pass)
      if (const unsigned in_pass = sectors & ((1u << of_pass) - 1) << first; in_pass != 0)
        pass(in_pass);
  }
  Cycle read_slice(const Event& event, unsigned sectors, unsigned at) {
    const double pass = gpu_.l2.pass_bytes * gpu_.l2.slices;
    model::Ticks service = 0, unwritten = 0;
    each_pass(sectors, [&](unsigned) {
      service += in_ticks(pass / gpu_.l2.bytes_per_ns);
      unwritten += in_ticks(pass / gpu_.l2.write_bytes_per_ns * gpu_.l2.read_cost);
    });
    occupy(event, Resource::l2_slices, service);
    auto& slice = slice_of(event, at);
    const model::Ticks begin = std::max(now_ * model::ticks_per_cycle, slice.writes_free);
    slice.writes_free = begin + unwritten;
    const model::Ticks read = std::max(begin, slice.reads_free);
    slice.reads_free = read + service;
    return model::cycle_after(read);
  }
  bool is_whole(const Event& event, unsigned sector) const {
    const std::uint64_t half =
        event.mask == 0 ? ~std::uint64_t{0} : snapshot_.byte_masks[event.mask][sector / 2];
    return (half >> sector % 2 * 32 & 0xffffffff) == 0xffffffff;
  }
  /// Returns how long a slice writes: a pass takes longer if it has a part of a sector.
  model::Ticks written(const Event& event) const {
    const double ns = gpu_.l2.pass_bytes * gpu_.l2.slices / gpu_.l2.write_bytes_per_ns;
    model::Ticks sum = 0;
    each_pass(event.sectors, [&](unsigned sectors) {
      bool whole = true;
      for (unsigned sector = 0; sector < 4; ++sector)
        whole &= (sectors >> sector & 1) == 0 || is_whole(event, sector);
      sum += in_ticks(whole ? ns : ns * gpu_.l2.partial_write_cost);
    });
    return sum;
  }
  Cycle write_slice(const Event& event, unsigned at) {
    if (event.kind == model::L2Kind::atomic)
      return execute_atomic(event, at);
    const model::Ticks service = written(event);
    occupy(event, Resource::l2_slices, service);
    return pass_slice(slice_of(event, at).writes_free, service, false);
  }
  /// Returns when an atomic is done: of floats, when those before it in its line are.
  Cycle execute_atomic(const Event& event, unsigned at) {
    const double ns = gpu_.l2.slices / gpu_.l2.atomics_per_ns;
    const model::Ticks service = event.atomics * in_ticks(ns);
    auto& slice = slice_of(event, at);
    const model::Ticks begin = std::max(now_ * model::ticks_per_cycle, slice.writes_free);
    const Cycle end = pass_slice(slice.writes_free, service, true);
    if (!snapshot_.sites[event.site].adds_floats) {
      occupy(event, Resource::atomics, service);
      return end;
    }
    const auto in_turn = model::Ticks(std::ceil(double(event.atomics) / sector_count(event.sectors)));
    const model::Ticks sum = in_turn * in_ticks(ns * gpu_.l2.float_sum_cost);
    occupy(event, Resource::atomics, std::max(service, sum));
    model::Ticks& free = slice.sums_free[event.line];
    free = std::max(begin, free) + sum;
    return std::max(end, model::cycle_after(free));
  }

  void arrive(const Event& event) {
    const unsigned at = event.has_crossed ? 1 - event.partition : event.partition;
    const bool is_home = home_of(event.line) == at;
    if (event.kind != model::L2Kind::load && !is_home)
      return cross(event, at);
    const Cycle now = event.kind == model::L2Kind::load ? now_ : write_slice(event, at);
    const bool loads = event.kind == model::L2Kind::load;
    Fills& fills = partitions_[at].fills;
    Arrived evicted{now, model::Level::l2};
    const model::L2Outcome outcome = look_up(event, at, now, evicted);
    if (!loads && partitions_.size() > 1)
      partitions_[1 - at].l2.invalidate(event.line, event.sectors);
    model::Lookups& lookups = counts_.sites[event.site].l2;
    model::Lookups& total = loads ? counts_.l2_reads : counts_.l2_writes;
    model::Lookups found{sector_count(outcome.hits),
                         event.has_crossed && loads ? 0 : sector_count(event.sectors)};
    total += found;
    if (event.kind != model::L2Kind::store_of_update)
      lookups += found;
    if (outcome.updated != 0)
      evicted.and_also({write_memory(event.line, outcome.updated, now), model::Level::dram});
    const auto last = std::make_shared<Last>();
    last->tell = [this, event](const Arrived& arrived) { answer(event, arrived); };
    const unsigned passing = is_home ? event.sectors : outcome.hits;
    last->until = evicted;
    if (loads && passing != 0)
      last->until.and_also({read_slice(event, passing, at), model::Level::l2});
    if (outcome.hits != 0 && (loads || event.is_awaited))
      for (const auto& fill : fills.of(event.line, outcome.hits, now))
        last->wait_for(last, *fill);
    if (outcome.fetched != 0) {
      const auto fill = fills.add(event.line, outcome.fetched);
      if (is_home) {
        fill->arrived = read_memory(event.line, outcome.fetched, now);
        if (!loads || (outcome.fetched & event.sectors) != 0)
          last->wait_for(last, *fill);
      } else {
        last->wait_for(last, *fill);
        Event further = event;
        further.sectors = outcome.fetched;
        further.answer = [fill](const Arrived& arrived) { arrive_at(*fill, arrived); };
        cross(further, at);
      }
    }
    if (last->unknown == 0)
      last->tell(last->until);
  }

  void cross(Event event, unsigned from) {
    event.has_crossed = true;
    const model::Ticks service =
        in_ticks(sector_bytes / gpu_.l2.hop_bytes_per_ns) * sector_count(event.sectors);
    occupy(event, Resource::fabric, service);
    events_[pass_slice(partitions_[from].way_free, service, false) + hop()].push_back(event);
  }

  void answer(const Event& event, Arrived arrived) {
    if (event.has_crossed)
      arrived.at += hop();
    // A load that crossed answers its own partition; all others their SM.
    if (!event.has_crossed || event.kind != model::L2Kind::load)
      arrived.at += epoch_ - epoch_ / 2;
    event.answer(arrived);
  }

  model::L2Outcome look_up(const Event& event, unsigned at, Cycle now, Arrived& until) {
    const model::ByteMask* const written = event.mask == 0 ? nullptr : &snapshot_.byte_masks[event.mask];
    return partitions_[at].l2.request(event.kind, event.line, event.sectors, written,
                                      [&](std::uint32_t victim, unsigned dirty, unsigned filled) {
                                        if (filled != 0)
                                          read_memory(victim, filled, now);
                                        until.and_also(
                                            {write_memory(victim, dirty, now), model::Level::dram});
                                      });
  }
  Arrived read_memory(std::uint32_t line, unsigned sectors, Cycle now) {
    counts_.dram_read_sectors += sector_count(sectors);
    return {model::cycle_after(use_memory(line, sectors, now, false).first), model::Level::dram};
  }
  Cycle write_memory(std::uint32_t line, unsigned sectors, Cycle now) {
    counts_.dram_written_sectors += sector_count(sectors);
    return now + model::cycle_after(use_memory(line, sectors, now, true).second);
  }
  /// Returns when it is done, and how long it waited for others.
  std::pair<model::Ticks, model::Ticks> use_memory(std::uint32_t line, unsigned sectors, Cycle now,
                                                   bool writes) {
    const auto place = map_(line);
    Bank& bank = banks_[place.bank];
    const model::Gpu::Dram& dram = gpu_.dram;
    const model::Ticks arrival =
        now * model::ticks_per_cycle +
        in_ticks(std::max(0.0, dram.latency_ns - gpu_.l2.latency_ns - dram.activate_ns - dram.burst_ns));
    const model::Ticks burst = in_ticks(dram.burst_ns / dram.achieved);
    Bus& bus = buses_[place.channel];
    // A request comes into the scheduler's view once no more than 1024 sectors are before it.
    model::Ticks since = arrival;
    if (bus.free > arrival + 1024 * burst)
      since = bus.free - 1024 * burst;
    const auto known =
        std::ranges::find_if(bank.read, [&](const Opened& one) { return one.row == place.row; });
    const bool joins = writes ? std::ranges::find(bank.written, place.row) != bank.written.end()
                              : known != bank.read.end() && known->until >= since;
    const bool opens = !joins && bank.row != place.row;
    const model::Ticks opening = !opens     ? 0
                                 : bank.row ? in_ticks(dram.precharge_ns) + in_ticks(dram.activate_ns)
                                            : in_ticks(dram.activate_ns);
    const model::Ticks opened = std::max(arrival, bank.free) + opening;
    const model::Ticks bursts = burst * sector_count(sectors);
    bank.free = opened + bursts;
    const model::Ticks on_bus = std::max(arrival, bus.free);
    if (!joins)
      bank.row = place.row;
    if (writes && !joins) {
      bank.written.push_back(place.row);
      const std::uint64_t of_bank =
          gpu_.l2_bytes / (2 * dram.row_bytes * std::uint64_t{dram.channels} * dram.banks);
      if (bank.written.size() > std::max<std::uint64_t>(4, of_bank))
        bank.written.pop_front();
    } else if (!writes) {
      const model::Ticks until = std::max(on_bus, opened) + bursts;
      if (joins)
        known->until += bursts;
      else if (known != bank.read.end())
        known->until = until;
      else
        bank.read.push_back({place.row, until});
      if (bank.read.size() > 16)
        bank.read.pop_front();
    }
    if (!writes) {
      bus.free = on_bus + bursts + (opens ? in_ticks(dram.opening_ns) : 0);
      bus.unturned = std::min(bus.unturned + unsigned(sector_count(sectors)), dram.write_batch_sectors);
    } else {
      bus.collected += sector_count(sectors);
      bus.opened += opens;
      if (bus.collected >= dram.write_batch_sectors) {
        bus.free = std::max(bus.free, arrival) + bus.opened * in_ticks(dram.opening_ns);
        bus.opened = 0;
        for (; bus.collected != 0; --bus.collected) {
          bus.free += burst;
          if (bus.unturned != 0) {
            bus.free += 2 * (in_ticks(dram.burst_ns / dram.copies_achieved) - burst);
            --bus.unturned;
          }
        }
      }
    }
    const model::Ticks start = std::max(on_bus, opened);
    return {start + bursts, start - arrival - opening};
  }

  void stalled(Sm& sm, const InstructionPlace& at, Stall why) {
    Waits& waits = sm.waits[{at.block, at.warp}];
    const std::vector<Step>& steps = steps_[snapshot_.blocks[at.block].first_warp + at.warp];
    if (why == Stall::ended) {
      const bool drains = std::ranges::any_of(waits.of, [&](const auto& one) {
        return one.first != Instruction::none && (one.second.unknown != 0 || one.second.until > now_);
      });
      waits.stalled += drains;
      const bool sends = waits.left > now_;
      ++state_at(drains || sends ? steps.back().place : counts_.states.size() - 1,
                 drains || sends ? WarpState::drain : WarpState::ended);
      return;
    }
    if (why == Stall::barrier) { // the warp's last instruction
      const std::size_t place = steps[at.instruction - 1].place;
      ++state_at(place, WarpState::barrier);
      ++counts_.states[place].awaited;
      if (const Step& last = steps[at.instruction - 1];
          last.access != nullptr && last.access->kind == AccessKind::barrier)
        ++counts_.sites[last.access->site].awaited;
      return;
    }
    const Step& step = steps[at.instruction];
    if (step.access != nullptr)
      counts_.sites[step.access->site].throttled_cycles += why == Stall::structural;
    if (why == Stall::data) {
      ++waits.stalled;
      waits.stalled_at = step.place;
    } else if (why == Stall::delay) {
      const Step& last = steps[at.instruction - 1];
      ++state_at(step.place, now_ >= waits.issued + last.instruction.delay - last.resolves
                                 ? WarpState::branch_resolving
                                 : WarpState::wait);
    } else {
      ++state_at(step.place, why == Stall::not_selected ? WarpState::not_selected : pipe_state(step.place));
    }
  }

  std::uint64_t& state_at(std::size_t place, WarpState state) {
    return counts_.states[place].cycles[std::size_t(state)];
  }
  /// Returns the instruction at the place; null: it is an access of which none is known.
  const sass::Instruction* code_at(std::size_t place) const {
    return snapshot_.code && place < snapshot_.code->kernel.instructions.size()
               ? &snapshot_.code->kernel.instructions[place]
               : nullptr;
  }
  /// Returns the name of what is at the place, which says what it is.
  std::string_view kind_at(std::size_t place) const {
    if (const sass::Instruction* const instruction = code_at(place))
      return name_of(instruction->kind);
    const std::size_t first = snapshot_.code ? snapshot_.code->kernel.instructions.size() : 0;
    return place - first < snapshot_.sites.size() && snapshot_.sites[place - first].cached != 0 ? "global"
                                                                                                : "shared";
  }
  static bool is_one_of(std::string_view kind, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return kind.find(word) != kind.npos; });
  }
  WarpState result_state(std::size_t place) const {
    return is_one_of(kind_at(place), {"global", "local", "generic", "texture", "surface", "copy"})
               ? WarpState::long_scoreboard
               : WarpState::short_scoreboard;
  }
  WarpState pipe_state(std::size_t place) const {
    const std::string_view kind = kind_at(place);
    return is_one_of(kind, {"global", "local", "generic", "copy"})   ? WarpState::lg_throttle
           : is_one_of(kind, {"texture", "surface"})                 ? WarpState::tex_throttle
           : is_one_of(kind, {"shared", "load_constant", "shuffle"}) ? WarpState::mio_throttle
                                                                     : WarpState::math_pipe_throttle;
  }

  const model::Snapshot& snapshot_;
  const model::Gpu& gpu_;
  model::ClockFigures figures_;
  std::vector<std::vector<Step>> steps_; ///< by warp
  model::Slices slices_;
  model::DramMap map_;
  Cycle epoch_;
  Cycle now_ = 0;
  bool issuing_ = false;
  std::vector<Partition> partitions_;
  std::vector<Bank> banks_;
  std::vector<Bus> buses_;
  std::map<Cycle, std::vector<Event>> events_;
  std::multimap<Cycle, std::pair<std::size_t, std::uint32_t>> starts_; ///< SM and block, by cycle
  std::vector<std::tuple<Cycle, std::uint32_t, std::uint32_t>> ended_; ///< when, draw, SM
  std::map<std::uint32_t, Cycle> dispatched_;                          ///< by block
  std::map<std::pair<std::uint32_t, std::uint32_t>, Phase> phases_;    ///< of barriers, by block and number
  std::vector<Between> between_; ///< in the order in which they were made
  std::uint32_t next_block_ = 0, ended_blocks_ = 0;
  Cycle next_start_ = 0, last_store_ = 0;
  model::TrialCounts counts_;
  std::vector<std::unique_ptr<Sm>> sms_;
};

} // namespace warplens::test
