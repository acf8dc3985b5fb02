#include "model/clock/sm.h"

#include "numeric/instructions.h"

namespace warplens::model {

Sm::Sm(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures,
       const InstructionStreams& streams, std::uint32_t l1_bytes, std::uint32_t number, Random& random,
       WarpStates& states, TrialObserver* observer)
    : snapshot_(snapshot), figures_(figures), streams_(streams), number_(number), observer_(observer),
      random_(random), lsu_(snapshot, gpu, figures, l1_bytes, number, random_, scoreboards_, observer),
      stalls_(snapshot.sites.size(), streams, scoreboards_, states), clock_(figures.sm, *this) {}

void Sm::dispatch(const BlockPart& part, Cycle at, std::uint32_t kernel) {
  const Snapshot::Block& block = snapshot_.blocks[part.block];
  programs_.clear();
  phases_.begin_block(part.block, block);
  for (std::uint32_t i = 0; i < block.warps; ++i) {
    const Warp& warp = snapshot_.warps[block.first_warp + i];
    if (const auto program = streams_.program_of(warp, part)) {
      programs_.push_back(*program);
      phases_.add(warp, programs_.back());
    }
  }
  parts_.push_back({part.to - part.from, std::uint32_t(programs_.size()), part.block, at});
  clock_.dispatch(std::uint32_t(parts_.size() - 1), programs_, at, kernel);
  scoreboards_.resize(clock_.warps());
  stalls_.resize(clock_.warps());
  if (phases_.follows_copies())
    lsu_.follow_copies(clock_.warps());
}

Cycle Sm::last() const {
  Cycle last = last_end_;
  for (const LoadStoreUnit::Unawaited& unawaited : lsu_.unawaited())
    last = std::max(last, unawaited.last_answer);
  return last;
}

void Sm::take(std::vector<MemoryAnswer>& answers, Cycle end) {
  const auto prefetch = [&](WarpNumber warp) {
    scoreboards_.prefetch(warp);
    stalls_.prefetch(warp);
    clock_.prefetch(warp);
  };
  lsu_.take(answers, prefetch, [&](WarpNumber warp, std::int16_t scoreboard) {
    clock_.complete(warp, scoreboard, scoreboards_.clear_at(warp, scoreboard));
  });
  if (phases_.has_any()) {
    contribute_copied();
    settle();
  }
  if (lsu_.was_full())
    clock_.entries_changed();
  due_.clear();
  clock_.each_due(end, [&](WarpNumber warp, const WarpProgram& program) {
    due_.push_back(&program);
    prefetch(warp);
  });
}

void Sm::prefetch_accesses() const {
  for (const WarpProgram* const program : due_) {
    __builtin_prefetch(program->block);
    __builtin_prefetch(program->access);
    __builtin_prefetch(program->access + 1);
    __builtin_prefetch(program->transactions);
  }
}

void Sm::run_until(Cycle end, Memory& memory) {
  memory_ = &memory;
  lsu_.prefetch_lookups(due_);
  if (const Cycle next = clock_.next(); next != 0)
    lsu_.forget_until(next - 1);
  with_instructions(
      [&]<class Instructions>(Instructions) { Instructions::run([&] { clock_.run_until(end); }); });
}

Cycle Sm::issue(WarpNumber warp, WarpProgram& program, const Instruction& instruction, Cycle now,
                Cycle leaves) {
  const bool is_barrier = instruction.pipe == Instruction::none;
  const Issued issued = streams_.pass(program);
  ++instructions_;
  if (observer_ != nullptr) [[unlikely]]
    observer_->issued_instruction(number_, now);
  if (!is_barrier)
    pipe_passes_[std::size_t(instruction.pipe)] += instruction.passes;
  stalls_.issued(warp, issued, is_barrier, now, leaves);
  if (issued.access == nullptr) {
    if (instruction.result != Instruction::none)
      scoreboards_.wait_for_result(warp, instruction.result, issued.pc, leaves + issued.latency);
    if (const TensorMemoryTimes* const product = streams_.tensor_memory_times(issued.pc)) [[unlikely]]
      multiply(program, *product, leaves);
  } else {
    if (left_out_ != nullptr && issued.access->begins != SampledPart::none) [[unlikely]]
      left_out_->begin(*issued.access, now, *memory_);
    if (issued.access->phase != PhaseRole::none && !is_barrier) [[unlikely]] {
      use_phase(warp, program, instruction, issued, now, leaves);
    } else if (issued.access->kind == AccessKind::barrier) [[unlikely]] {
      lsu_.arrive(*issued.access);
      return now;
    } else {
      lsu_.execute(warp, instruction, issued, now, leaves, *memory_);
    }
  }
  return instruction.result == Instruction::none ? never : scoreboards_.clear_at(warp, instruction.result);
}

/// Makes a product of tensor memory, behind those before it.
void Sm::multiply(WarpProgram& program, const TensorMemoryTimes& product, Cycle now) {
  const Cycle begin = std::max(products_begin_, now);
  products_begin_ = begin + product.interval;
  program.sums_there = std::max(program.sums_there, begin + product.latency);
  // The tensor cores of all sub-cores are busy.
  pipe_passes_[std::size_t(tensor_pipe)] += figures_.sm.schedulers * product.interval;
}

/// Executes an access with a part in a phase of a barrier.
void Sm::use_phase(WarpNumber warp, WarpProgram& program, const Instruction& instruction,
                   const Issued& issued, Cycle now, Cycle leaves) {
  const std::uint32_t use = phases_.pass(program);
  if (issued.access->phase == PhaseRole::copies) {
    if (instruction.result != Instruction::none)
      scoreboards_.wait_for_result(warp, instruction.result, issued.pc, leaves + 1);
    return copy_in_bulk(warp, program, issued, use, leaves);
  }
  const bool is_in_memory = issued.access->kind != AccessKind::barrier;
  if (is_in_memory)
    lsu_.execute(warp, instruction, issued, now, leaves, *memory_);
  else
    lsu_.arrive(*issued.access);
  const PhaseRole role = issued.access->phase;
  BarrierPhases::Last arrival{.at = leaves + (is_in_memory ? figures_.shared : figures_.sm.barrier)};
  if (const std::uint32_t bytes = phases_.use(use).phase.bytes; bytes != 0) {
    copies_begin_ = std::max(copies_begin_, leaves) + bytes / ClockFigures::bytes_between_blocks;
    arrival.at = copies_begin_ + figures_.shared;
  }
  if (role == PhaseRole::arrives_with_products)
    arrival.at = std::max(arrival.at, program.sums_there);
  if (role == PhaseRole::arrives_with_copies) {
    lsu_.arrive_with_copies(warp, use, arrival);
    contribute_copied();
  } else if (role != PhaseRole::waits) {
    contribute(use, arrival);
  }
  if ((role != PhaseRole::waits && role != PhaseRole::meets) || instruction.result == Instruction::none)
    return;
  scoreboards_.wait_for_access(warp, instruction.result);
  const BarrierPhases::Waiter waiter{warp, instruction.result, issued.access->site, issued.pc};
  if (const auto last = phases_.over(use))
    pass_phase(waiter, *last, std::max(last->at, now));
  else
    phases_.wait(use, waiter);
}

/// Lets a warp pass a phase: it has waited for a copy, or at the instruction that waits for other warps.
void Sm::pass_phase(const BarrierPhases::Waiter& waiter, const BarrierPhases::Last& last, Cycle at) {
  const bool is_copy = last.site != Scoreboards::no_site;
  scoreboards_.answered(waiter.warp, waiter.scoreboard, is_copy ? last.site : waiter.site,
                        is_copy ? last.pc : waiter.pc, at);
}

/// Begins a copy of many bytes, which is one instruction's, with all its further parts.
void Sm::copy_in_bulk(WarpNumber warp, WarpProgram& program, const Issued& first, std::uint32_t use,
                      Cycle now) {
  Cycle begin = std::max(copies_begin_, now);
  lsu_.issue_copy(*first.access);
  for (Issued part = first;; part = streams_.pass(program), use = phases_.pass(program)) {
    part.pc = first.pc;
    lsu_.copy(warp, part, use, begin, *memory_);
    begin += part.transactions.size();
    if (program.has_ended() || !program.is_unmatched() || program.access->phase != PhaseRole::copies)
      break;
  }
  program.last = first.pc;
  copies_begin_ = begin;
}

void Sm::end_wait(const BarrierPhases::Waiter& waiter, const BarrierPhases::Last& last) {
  pass_phase(waiter, last, last.at);
  if (scoreboards_.clear_at(waiter.warp, waiter.scoreboard) != never)
    cleared_.emplace_back(waiter.warp, waiter.scoreboard);
}

/// One of the things that phases wait for is done.
void Sm::contribute(std::uint32_t use, const BarrierPhases::Last& done) {
  phases_.contribute(use, done, [&](const auto& waiter, const auto& last) { end_wait(waiter, last); });
}

void Sm::receive(const std::vector<BarrierPhases::Between>& contributions) {
  for (const BarrierPhases::Between& contribution : contributions)
    phases_.receive(contribution, [&](const auto& waiter, const auto& last) { end_wait(waiter, last); });
  settle();
}

void Sm::contribute_copied() {
  for (const LoadStoreUnit::Copied& copy : lsu_.take_copied())
    contribute(copy.phase, {copy.at, copy.site, copy.pc});
}

bool Sm::release_phases(Cycle at) {
  const bool any = phases_.release([&](const BarrierPhases::Waiter& waiter) {
    scoreboards_.answered(waiter.warp, waiter.scoreboard, waiter.site, waiter.pc, at);
    cleared_.emplace_back(waiter.warp, waiter.scoreboard);
  });
  settle();
  return any;
}

bool Sm::settle() {
  if (cleared_.empty())
    return false;
  for (const auto& [warp, scoreboard] : std::exchange(cleared_, {}))
    if (const Cycle at = scoreboards_.clear_at(warp, scoreboard); at != never) // it may wait again since then
      clock_.complete(warp, scoreboard, at);
  return true;
}

void Sm::ended(std::uint32_t part, Cycle now) {
  const PartInSm& of = parts_[part];
  ended_.push_back({now, random_.bits(), number_, of.blocks, of.block});
  warp_cycles_ += of.warps * (now - of.dispatched);
  last_end_ = std::max(last_end_, now);
}

} // namespace warplens::model
