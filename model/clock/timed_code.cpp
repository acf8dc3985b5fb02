#include "model/clock/timed_code.h"

#include "model/clock/tensor_pipe.h"
#include "sass/instruction_traits.h"

#include <algorithm>

namespace warplens::model {
namespace {

using sass::AddressSpace;
using sass::ExecutionUnit;
using sass::InstructionClass;
using sass::MemoryOperation;

/// The pipes behind those of memory, in this order. Shuffles pass the queue to the memory pipeline.
enum Pipe : std::int16_t {
  exchange = ClockFigures::first_execution_pipe,
  fp32,
  fp64,
  fp16,
  integer,
  multiply_add,
  special_function,
  tensor,
  control, ///< no other limit than the issue
  pipes,
};
static_assert(tensor == tensor_pipe && control == control_pipe);
static_assert(pipes + 2 * (max_queues - 1) <= max_pipes); // those of give_own_queues()

void add_pipes(const ExecutionPipes& of, ClockFigures& figures) {
  figures.sm.pipes.resize(pipes);
  const auto set = [&](Pipe pipe, std::uint32_t lanes) {
    figures.sm.pipes[std::size_t(pipe)].interval =
        std::max<Cycle>(1, warp_lanes * Cycle(figures.sm.schedulers) / lanes);
  };
  figures.sm.pipes[exchange].uses_queue = true;
  set(fp32, of.fp32);
  set(fp64, of.fp64);
  set(fp16, of.fp16);
  set(integer, of.integer);
  set(multiply_add, of.multiply_add);
  set(special_function, of.special_function);
  figures.sm.pipes[tensor].interval = 1; // a product has a pass for each cycle
}

/// How an instruction that makes no access of the trace executes.
struct Execution {
  std::int16_t pipe = control;
  Cycle latency = 1;
  std::uint16_t passes = 1;
};

/// Returns the cycles until the result of an instruction that accesses memory, but not constants, is there.
Cycle latency_of(const sass::InstructionTraits& traits, const ClockFigures& figures) {
  const bool loads = traits.operation == MemoryOperation::load;
  if (traits.space == AddressSpace::shared)
    return loads || traits.operation == MemoryOperation::atomic ? figures.shared : 1;
  return loads ? figures.l1 : 1;
}

/// Returns how a product executes; one whose shape is not known, as of 16 × 8 sums and 256 bits of depth.
Execution product_of(const sass::Instruction& instruction, int architecture, const ExecutionPipes& of) {
  const sass::MatrixProduct product =
      sass::matrix_product(instruction, architecture).value_or(sass::MatrixProduct{});
  return {tensor, tensor_latency(product, architecture, of),
          std::uint16_t(tensor_interval(product, architecture, of))};
}

Execution execution_of(const sass::Instruction& instruction, int architecture, const ExecutionPipes& of,
                       const ClockFigures& figures) {
  const sass::InstructionTraits& traits = sass::traits_of(instruction.kind);
  switch (traits.unit) {
  case ExecutionUnit::fp32: return {fp32};
  case ExecutionUnit::fp16: return {fp16};
  case ExecutionUnit::fp64: return {fp64, of.fp64_cycles};
  case ExecutionUnit::integer: return {integer};
  case ExecutionUnit::multiply_add: return {of.multiply_add_in_fp32 ? fp32 : multiply_add, 1, traits.passes};
  case ExecutionUnit::special_function: return {special_function, of.special_function_cycles};
  case ExecutionUnit::wide_conversion:
    // The programming guide has the smaller of the two rates for each compute capability from 3.5 on.
    return of.fp64 < of.special_function ? Execution{fp64, of.fp64_cycles}
                                         : Execution{special_function, of.special_function_cycles};
  case ExecutionUnit::special_register: return {control, of.special_function_cycles};
  case ExecutionUnit::tensor:
    if (sass::name_of(instruction).starts_with("UTC"))
      return {}; // TensorMemoryTimes
    return product_of(instruction, architecture, of);
  case ExecutionUnit::shuffle: return {exchange, figures.shared};
  case ExecutionUnit::vote: return {integer, figures.shared};
  case ExecutionUnit::memory:
    return traits.space == AddressSpace::constant
               ? Execution{control, figures.constant}
               : Execution{ClockFigures::memory_pipe, latency_of(traits, figures)};
  case ExecutionUnit::barrier:
    // ARRIVES is an access to shared memory where warps wait for phases of barriers there.
    if (sass::name_of(instruction) == "UTCBAR")
      return {};
    if (architecture >= 90 && sass::name_of(instruction) == "ARRIVES")
      return {ClockFigures::memory_pipe, figures.shared};
    return {Instruction::none};
  case ExecutionUnit::control:
  case ExecutionUnit::branch: return {};
  }
  return {};
}

bool reads_result_of(const sass::Instruction& reader, const sass::Instruction& writer) {
  return std::ranges::any_of(reader.reads, [&](const sass::RegisterSpan& read) {
    return std::ranges::any_of(writer.writes, [&](const sass::RegisterSpan& written) {
      return read.file == written.file && read.first < written.first + written.count &&
             written.first < read.first + read.count;
    });
  });
}

} // namespace

std::optional<Resource> resource_of_pipe(std::size_t pipe) {
  switch (pipe) {
  case fp32: return Resource::fp32_pipe;
  case fp64: return Resource::fp64_pipe;
  case fp16: return Resource::fp16_pipe;
  case integer:
  case multiply_add: return Resource::integer_pipe;
  case special_function: return Resource::special_function_pipe;
  case tensor: return Resource::tensor_pipe;
  default: return std::nullopt;
  }
}

TimedCode::TimedCode(const Code& code, const ExecutionPipes& of, ClockFigures& figures) : code_(&code) {
  add_pipes(of, figures);
  for (const sass::Instruction& instruction : code.kernel.instructions) {
    const sass::Control& control = instruction.control;
    const Execution execution = execution_of(instruction, code.architecture, of, figures);
    TimedInstruction timed{.issue = {.pipe = execution.pipe, .passes = execution.passes},
                           .latency = execution.latency};
    timed.issue.delay = std::max<std::uint8_t>(control.stall, 1);
    timed.reconverges = sass::name_of(instruction) == "BSYNC";
    if (sass::traits_of(instruction.kind).unit == ExecutionUnit::branch)
      timed.branch_cycles =
          timed.reconverges ? ClockFigures::reconvergence_cycles : ClockFigures::taken_branch_cycles;
    // A load's operands are read soon after it leaves the queue, long before its result is there.
    timed.group = group_role(instruction);
    timed.pending_groups = instruction.pending;
    if (timed.group == GroupRole::copies || timed.group == GroupRole::ends_group)
      ; // the result is that of the warp's current group
    else if (control.write_scoreboard < hardware_scoreboards)
      timed.issue.result = control.write_scoreboard;
    else if (control.read_scoreboard < hardware_scoreboards)
      timed.issue.result = control.read_scoreboard;
    std::size_t waits = 0;
    for (std::int16_t scoreboard = 0; scoreboard < hardware_scoreboards; ++scoreboard)
      if ((control.wait_mask >> scoreboard & 1) != 0)
        timed.issue.sources[waits++] = scoreboard;
    instructions_.push_back(timed);
  }
  for (const auto& [instruction, product] : code.tensor_memory_products)
    tensor_memory_times_[instruction] = {tensor_memory_interval(product), tensor_memory_latency(product)};
  for (const sass::Block& block : code.kernel.blocks)
    delay_readers_of_products(block, of);
  for (const MemorySlot& slot : code.slots) {
    TimedInstruction& timed = instructions_[slot.instruction];
    timed.has_slot = true;
    // Parameters are in a bank of constants, too, but all lanes load the same one.
    if (code.kernel.instructions[slot.instruction].kind == InstructionClass::load_constant)
      timed.issue.pipe = ClockFigures::constant_pipe;
  }
  for (const sass::Block& block : code.kernel.blocks)
    blocks_.push_back({block.begin, block.end});
}

void TimedCode::delay_readers_of_products(const sass::Block& block, const ExecutionPipes& of) {
  const sass::Kernel& kernel = code_->kernel;
  const std::uint32_t count = block.end - block.begin;
  const bool is_loop = std::ranges::count(kernel.successors_of(block), &block - kernel.blocks.data()) != 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const sass::Instruction& writer = kernel.instructions[block.begin + i];
    const auto product = writer.kind == InstructionClass::tensor
                             ? sass::matrix_product(writer, code_->architecture)
                             : std::nullopt;
    const Cycle interlock = product ? tensor_interlock(*product, code_->architecture, of) : 0;
    Cycle distance = 0;
    for (std::uint32_t behind = i; distance < interlock && behind < (is_loop ? i + count : count - 1);
         ++behind) {
      Instruction& before = instructions_[block.begin + behind % count].issue;
      distance += before.delay;
      if (!reads_result_of(kernel.instructions[block.begin + (behind + 1) % count], writer))
        continue;
      if (distance < interlock)
        before.delay = std::uint16_t(before.delay + (interlock - distance));
      break;
    }
  }
}

void TimedCode::give_own_queues(std::span<const std::uint32_t> first, ClockFigures& figures) {
  for (std::size_t kernel = 0; kernel < first.size(); ++kernel) {
    std::int16_t memory = ClockFigures::memory_pipe, on_sm = exchange;
    if (kernel != 0) {
      for (const std::int16_t pipe : {memory, on_sm}) {
        PipeFigures own = figures.sm.pipes[std::size_t(pipe)];
        own.queue = std::uint8_t(kernel);
        figures.sm.pipes.push_back(own);
      }
      memory = std::int16_t(figures.sm.pipes.size() - 2);
      on_sm = std::int16_t(figures.sm.pipes.size() - 1);
    }
    const std::size_t end = kernel + 1 < first.size() ? first[kernel + 1] : instructions_.size();
    for (std::size_t i = first[kernel]; i < end; ++i) {
      std::int16_t& pipe = instructions_[i].issue.pipe;
      const InstructionClass kind = code_->kernel.instructions[i].kind;
      const bool is_shared = kind == InstructionClass::load_shared ||
                             kind == InstructionClass::store_shared ||
                             kind == InstructionClass::atomic_shared;
      if (pipe == exchange || (pipe == ClockFigures::memory_pipe && is_shared))
        pipe = on_sm;
      else if (pipe == ClockFigures::memory_pipe)
        pipe = memory;
    }
  }
}

} // namespace warplens::model
