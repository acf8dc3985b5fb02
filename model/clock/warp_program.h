// The instruction streams of a trial's warps, one for each, whether the machine code of their kernel is known
// or not. An unmatched access, of which no instruction is known, is an instruction of its own.
#pragma once

#include "model/clock/clock_figures.h"
#include "model/clock/timed_code.h"
#include "model/counts/trial_counts.h"
#include "model/snapshot/block_parts.h"

#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

/// A warp's position in its stream, in front of the next instruction: it has ended behind the last one.
struct WarpProgram {
  const Access* access = nullptr;            ///< the next one
  const Transaction* transactions = nullptr; ///< of that and those behind it
  const std::uint32_t* block = nullptr; ///< of its path, which has Path::unmatched for an unmatched access
  const std::uint32_t* last_block = nullptr;    ///< the path's end
  const std::uint8_t* makes_access = nullptr;   ///< of the next instruction with a slot and those behind it
  std::uint32_t instruction = 0, block_end = 0; ///< in the machine code, unless the next access is unmatched
  std::uint32_t accesses_left = 0;              ///< with the next one
  std::uint32_t next_phase = 0;                 ///< of a barrier: BarrierPhases
  bool waits_for_unmatched = false;             ///< for the result of the instruction before
  Cycle sums_there = 0;                         ///< of its last product of tensor memory
  std::uint8_t copies_ended = 0;                ///< groups of copies: with_one_more_group()
  std::uint8_t products_ended = 0;              ///< likewise, of products
  std::uint8_t resolves = 0;                    ///< cycles in which the branch before it is resolved
  Pc last = 0; ///< of the instruction that it issued last; idle_place() before the first

  bool has_ended() const { return block == last_block; }
  bool is_unmatched() const { return *block == Path::unmatched; }
};

/// An instruction that a warp issues.
struct Issued {
  Pc pc = 0;
  const Access* access = nullptr; ///< null: it makes none
  std::span<const Transaction> transactions;
  Cycle latency = 1; ///< of its result, where it makes no access
};

class InstructionStreams {
public:
  /// `code`: that of the snapshot; null where it has none, so that all accesses are unmatched.
  InstructionStreams(const Snapshot& snapshot, const TimedCode* code, const ClockFigures& figures);
  InstructionStreams(const InstructionStreams&) = delete;

  /// Returns the begin of a warp's stream in a part of its block; empty if it executes nothing there.
  std::optional<WarpProgram> program_of(const Warp& warp, const BlockPart& part) const;

  Instruction next(const WarpProgram& program) const {
    if (program.is_unmatched())
      return unmatched_instruction(*program.access);
    const TimedInstruction& timed = (*code_)[program.instruction];
    Instruction instruction = timed.issue;
    if (timed.has_slot && *program.makes_access != 0)
      put_access(*program.access, instruction);
    else if (timed.has_slot && instruction.pipe == Instruction::none)
      instruction.pipe = control_pipe; // no lane arrives: its guard is false
    instruction.delay += resolving_of_next(program, timed);
    if (program.waits_for_unmatched)
      *std::ranges::find(instruction.sources, Instruction::none) = unmatched_.scoreboard;
    if (timed.group != GroupRole::none && !arrives_with_copies(program, timed)) [[unlikely]]
      put_registers_of_group(timed, program, instruction);
    return instruction;
  }
  /// Returns the access that the next instruction makes; null if it makes none.
  const Access* access_of_next(const WarpProgram& program) const {
    return program.is_unmatched() || ((*code_)[program.instruction].has_slot && *program.makes_access != 0)
               ? program.access
               : nullptr;
  }
  Pc next_pc(const WarpProgram& program) const {
    return program.is_unmatched() ? first_site_ + program.access->site : program.instruction;
  }
  /// Returns the PC of warps that have no next instruction, or have issued none yet.
  Pc idle_pc() const { return idle_pc_; }
  /// Returns the times of the product of tensor memory at a PC; null where there is none.
  const TensorMemoryTimes* tensor_memory_times(Pc pc) const {
    return code_ != nullptr && code_->has_tensor_memory() ? code_->tensor_memory_times(pc) : nullptr;
  }
  /// Goes behind the next instruction and returns it.
  [[gnu::always_inline]] Issued pass(WarpProgram& program) const {
    Issued issued{.pc = next_pc(program)};
    program.last = issued.pc;
    if (program.is_unmatched()) {
      program.resolves = 0;
      pass_access(program, issued);
      program.waits_for_unmatched |= is_matched_ && issued.access->is_awaited;
      ++program.block;
      enter_block(program);
      return issued;
    }
    program.waits_for_unmatched = false;
    const TimedInstruction& timed = (*code_)[program.instruction];
    issued.latency = timed.latency;
    program.resolves = resolving_of_next(program, timed);
    if (ends_group(timed.group) && !arrives_with_copies(program, timed)) {
      std::uint8_t& ended = is_of_products(timed.group) ? program.products_ended : program.copies_ended;
      ended = with_one_more_group(ended);
    }
    if (timed.has_slot && *program.makes_access++ != 0) {
      pass_access(program, issued);
      program.waits_for_unmatched = issued.access->phase == PhaseRole::meets;
    }
    if (++program.instruction == program.block_end) {
      ++program.block;
      enter_block(program);
    }
    return issued;
  }

private:
  /// The instructions that unmatched accesses are. Beside those of the machine code, the next instruction
  /// waits for their results; otherwise each access that begins a bulk waits for those before it.
  struct Unmatched {
    std::int16_t scoreboard = 0;
    std::uint16_t delay = 1;
    bool waits_for_bulk = false;
  };

  /// Completes an instruction by the access that it makes. One that arrives at a barrier of a part of the
  /// block's warps holds up no other; the next instruction waits for those that it meets.
  void put_access(const Access& access, Instruction& instruction) const {
    instruction.passes = access.passes;
    if (access.kind != AccessKind::barrier || access.phase == PhaseRole::none)
      return;
    instruction.pipe = control_pipe;
    if (access.phase == PhaseRole::meets)
      instruction.result = unmatched_.scoreboard;
  }
  /// Returns whether the next instruction arrives at a barrier without the warp, when its copies are there.
  static bool arrives_with_copies(const WarpProgram& program, const TimedInstruction& timed) {
    return timed.group == GroupRole::arrives && timed.has_slot && *program.makes_access != 0 &&
           program.access->phase == PhaseRole::arrives_with_copies;
  }
  static void put_registers_of_group(const TimedInstruction& timed, const WarpProgram& program,
                                     Instruction& instruction) {
    if (is_of_products(timed.group))
      put_group_registers(timed.group, program.products_ended, timed.pending_groups,
                          {first_product_scoreboard, product_registers}, instruction);
    else
      put_group_registers(timed.group, program.copies_ended, timed.pending_groups,
                          {first_copy_scoreboard, copy_registers}, instruction);
  }
  /// Returns the cycles until the next instruction, which is `timed`, is resolved if it is a branch.
  std::uint8_t resolving_of_next(const WarpProgram& program, const TimedInstruction& timed) const {
    if (timed.branch_cycles == 0) [[likely]]
      return 0;
    return timed.reconverges || is_taken(program) ? timed.branch_cycles : std::uint8_t{0};
  }
  /// Returns whether what the warp executes after the next instruction does not follow it in the code.
  bool is_taken(const WarpProgram& program) const {
    const std::uint32_t* const block = program.block + 1;
    return program.instruction + 1 == program.block_end && block != program.last_block &&
           *block != Path::unmatched && code_->block(*block).begin != program.block_end;
  }
  Instruction unmatched_instruction(const Access& access) const {
    const std::int16_t waits =
        unmatched_.waits_for_bulk && access.starts_bulk ? unmatched_.scoreboard : Instruction::none;
    if (access.kind == AccessKind::barrier) [[unlikely]]
      return {.pipe = Instruction::none, .sources = {waits}};
    const bool of_constants = access.cache == FirstCache::constant;
    // It is made at once: the host's processor stalls on a copy of what was just written in parts.
    return {.pipe = of_constants ? ClockFigures::constant_pipe : ClockFigures::memory_pipe,
            .result = access.is_awaited ? unmatched_.scoreboard : Instruction::none,
            .sources = {waits},
            // The first address of constants is an operand.
            .passes = std::uint16_t(of_constants ? access.passes - 1 : access.passes),
            .delay = unmatched_.delay};
  }
  static void pass_access(WarpProgram& program, Issued& issued) {
    issued.access = program.access++;
    --program.accesses_left;
    issued.transactions = {program.transactions, issued.access->transactions};
    program.transactions += issued.access->transactions;
  }
  /// Goes to the first instruction of the path's next block that has any, unless that is an unmatched access.
  void enter_block(WarpProgram& program) const {
    for (; !program.has_ended() && !program.is_unmatched(); ++program.block) {
      const TimedCode::Block& block = code_->block(*program.block);
      program.instruction = block.begin;
      program.block_end = block.end;
      if (block.begin != block.end)
        return;
    }
  }

  const Snapshot& snapshot_;
  const TimedCode* code_;
  Unmatched unmatched_;
  bool is_matched_; ///< there is machine code
  Pc first_site_;   ///< of the first site's accesses
  Pc idle_pc_;
  std::vector<std::uint32_t> unmatched_path_; ///< of as many accesses as the longest warp has
};

} // namespace warplens::model
