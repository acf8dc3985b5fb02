// A kernel's machine code as the clock sees it: of each instruction its pipe, the scoreboards that it sets
// and waits for, and the cycles that the compiler puts between it and the next one.
#pragma once

#include "model/clock/asynchronous_groups.h"
#include "model/clock/clock_figures.h"
#include "model/code/code.h"
#include "result/result.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// The counters of a warp that its instructions wait for: those of the hardware, which are a clock's
/// registers here, one for accesses of which the instruction is not known, and those of asynchronous groups.
inline constexpr std::int16_t hardware_scoreboards = 6;
inline constexpr std::int16_t unmatched_scoreboard = hardware_scoreboards;
/// The first registers of groups of copies, and of products: asynchronous_groups.h.
inline constexpr std::int16_t first_copy_scoreboard = unmatched_scoreboard + 1;
inline constexpr std::int16_t first_product_scoreboard = first_copy_scoreboard + std::int16_t(copy_registers);
inline constexpr std::int16_t scoreboard_count = first_product_scoreboard + std::int16_t(product_registers);

/// Returns the resource that a pipe of the clock is, if results report it: two pipes may be one.
std::optional<Resource> resource_of_pipe(std::size_t pipe);

/// The tensor cores' pipe, and that of instructions that need no more than their issue.
inline constexpr std::int16_t tensor_pipe = ClockFigures::first_execution_pipe + 7;
inline constexpr std::int16_t control_pipe = ClockFigures::first_execution_pipe + 8;

/// How a product of tensor memory executes, which the SM makes one after the other in the background.
struct TensorMemoryTimes {
  Cycle interval = 1; ///< until the next one can begin
  Cycle latency = 1;  ///< until its sums are there
};

struct TimedInstruction {
  Instruction issue;
  Cycle latency = 1; ///< of its result, where it makes no access
  bool has_slot = false;
  bool reconverges = false;       ///< BSYNC
  std::uint8_t branch_cycles = 0; ///< of a branch that is taken, or of BSYNC: until it is resolved
  GroupRole group = GroupRole::none;
  std::uint8_t pending_groups = 0; ///< that it does not wait for
};

class TimedCode {
public:
  /// Adds the pipes that the code needs to the figures, which stay the caller's.
  TimedCode(const Code& code, const ExecutionPipes& pipes, ClockFigures& figures);

  /// Gives each kernel beside others a queue of its own to the memory pipeline, in which what needs shared
  /// memory passes what waits for miss entries (PMIQ of Xu, Minnesota 2016, chapter 8). `first`: the first
  /// instruction of each kernel, at most max_queues. Adds the pipes that this needs to the figures.
  void give_own_queues(std::span<const std::uint32_t> first, ClockFigures& figures);

  struct Block {
    std::uint32_t begin = 0, end = 0; ///< in `instructions`
  };
  const TimedInstruction& operator[](std::uint32_t instruction) const { return instructions_[instruction]; }
  bool has_tensor_memory() const { return !tensor_memory_times_.empty(); }
  /// Returns the times of a product of tensor memory; null where the instruction is none.
  const TensorMemoryTimes* tensor_memory_times(std::uint32_t instruction) const {
    const auto found = tensor_memory_times_.find(instruction);
    return found == tensor_memory_times_.end() ? nullptr : &found->second;
  }
  const Block& block(std::uint32_t number) const { return blocks_[number]; }
  const Code& code() const { return *code_; }

private:
  /// Puts more cycles before the first reader of a product's sums, within a block or a loop that is one,
  /// where the hardware keeps it waiting for longer than the compiler's schedule does.
  void delay_readers_of_products(const sass::Block& block, const ExecutionPipes& of);

  const Code* code_;
  std::vector<TimedInstruction> instructions_;
  std::vector<Block> blocks_;
  std::unordered_map<std::uint32_t, TensorMemoryTimes> tensor_memory_times_; ///< by instruction
};

} // namespace warplens::model
