#include "model/clock/sm.h"

#include "model/numeric/instructions.h"

namespace warplens::model {

Sm::Sm(const Snapshot& snapshot, const Gpu& gpu, const ClockFigures& figures,
       const InstructionStreams& streams, std::uint32_t l1_bytes, std::uint32_t number, Random& random,
       WarpStates& states, TrialObserver* observer)
    : snapshot_(snapshot), streams_(streams), number_(number), observer_(observer), random_(random),
      lsu_(snapshot, gpu, figures, l1_bytes, number, random_, scoreboards_, observer),
      stalls_(snapshot.sites.size(), streams, scoreboards_, states), clock_(figures.sm, *this) {}

void Sm::admit(const BlockPart& part, Cycle at, std::uint32_t kernel) {
  const Snapshot::Block& block = snapshot_.blocks[part.block];
  programs_.clear();
  for (std::uint32_t i = 0; i < block.warps; ++i)
    if (const auto program = streams_.program_of(snapshot_.warps[block.first_warp + i], part))
      programs_.push_back(*program);
  parts_.push_back({part.to - part.from, std::uint32_t(programs_.size()), part.block, at});
  clock_.admit(std::uint32_t(parts_.size() - 1), programs_, at, kernel);
  scoreboards_.resize(clock_.warps());
  stalls_.resize(clock_.warps());
}

Cycle Sm::last() const {
  Cycle last = last_end_;
  for (const LoadStoreUnit::Unawaited& of_launch : lsu_.unawaited())
    last = std::max(last, of_launch.last_answer);
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
      scoreboards_.wait_for_result(warp, instruction.result, issued.place, leaves + issued.latency);
  } else {
    if (left_out_ != nullptr && issued.access->begins != SampledPart::none) [[unlikely]]
      left_out_->begin(*issued.access, now, *memory_);
    if (issued.access->kind == AccessKind::barrier) [[unlikely]] {
      lsu_.arrive(*issued.access);
      return now;
    }
    lsu_.execute(warp, instruction, issued, now, leaves, *memory_);
  }
  return instruction.result == Instruction::none ? never : scoreboards_.clear_at(warp, instruction.result);
}

void Sm::ended(std::uint32_t part, Cycle now) {
  const PartInSm& of = parts_[part];
  ended_.push_back({now, random_.bits(), number_, of.blocks, of.block});
  warp_cycles_ += of.warps * (now - of.admitted);
  last_end_ = std::max(last_end_, now);
}

} // namespace warplens::model
