#include "model/events.h"

#include "sass/instruction_traits.h"
#include "sass/matrix_product.h"
#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::model {
namespace {

double& of(ByMemoryEvent& events, MemoryEvent event) {
  return events[std::size_t(event)];
}

/// Adds up the blocks that one warp executes.
class WarpWalk {
public:
  WarpWalk(const Code& code, const Warp& warp, double all_lanes, std::vector<Instructions>& blocks)
      : code_(code), warp_(warp), path_(code.paths[warp.path]), all_lanes_(all_lanes), blocks_(blocks) {}

  void add() {
    double before = all_lanes_; // the kernel's begin
    for (const std::uint32_t block : path_.blocks) {
      const double lanes = block == Path::unmatched ? lanes_of_next() : lanes_of(block);
      if (lanes == 0) {
        if (block != Path::unmatched)
          waiting_.push_back(block);
        continue;
      }
      execute_waiting(std::max(before, lanes));
      if (block != Path::unmatched)
        execute(block, lanes);
      before = lanes;
    }
    execute_waiting(all_lanes_); // its end
  }

private:
  void execute(std::uint32_t block, double lanes) { blocks_[block] += {1, lanes}; }
  void execute_waiting(double lanes) {
    for (const std::uint32_t block : waiting_)
      execute(block, lanes);
    waiting_.clear();
  }
  /// Returns the lanes of the block's accesses, at most; 0 if it makes none.
  double lanes_of(std::uint32_t block) {
    double lanes = 0;
    for (std::size_t slot = code_.first_slot[block]; slot < code_.first_slot[block + 1]; ++slot)
      if (path_.makes_access[slots_++] != 0)
        lanes = std::max(lanes, lanes_of_next());
    return lanes;
  }
  /// Goes to the next access and returns its lanes; 0 for a barrier, of which they are not known.
  double lanes_of_next() {
    const Access& access = warp_.accesses[accesses_++];
    return access.kind == AccessKind::barrier ? 0 : double(access.active_lanes);
  }

  const Code& code_;
  const Warp& warp_;
  const Path& path_;
  double all_lanes_;
  std::vector<Instructions>& blocks_;
  std::vector<std::uint32_t> waiting_; ///< blocks without accesses since the last one with some
  std::size_t slots_ = 0, accesses_ = 0;
};

/// Adds the floating-point operations of an instruction that `lanes` execute. Comparisons and conversions are
/// none, as Nsight Compute counts them (smsp__sass_thread_inst_executed_op_fadd and the like); nor is an
/// HFMA2 of zeros, by which compilers move constants.
void add_operations(FloatingPointOperations& operations, const sass::Instruction& instruction,
                    int architecture, double lanes) {
  if (instruction.reads.size() == 0)
    return;
  if (instruction.kind == sass::InstructionClass::tensor) {
    if (const auto product = sass::matrix_product(instruction, architecture); product && product->is_float)
      operations.tensor += product->operations() / warp_lanes * lanes;
    return;
  }
  struct Row {
    std::string_view name;
    double FloatingPointOperations::* precision;
    double operations_per_lane;
  };
  using F = FloatingPointOperations;
  static constexpr Row rows[] = {{"FADD", &F::fp32, 1},     {"FMUL", &F::fp32, 1},  {"FFMA", &F::fp32, 2},
                                 {"DADD", &F::fp64, 1},     {"DMUL", &F::fp64, 1},  {"DFMA", &F::fp64, 2},
                                 {"HADD2", &F::fp16, 2},    {"HMUL2", &F::fp16, 2}, {"HFMA2", &F::fp16, 4},
                                 {"HFMA2.MMA", &F::fp16, 4}};
  const auto found = std::ranges::find(rows, name_of(instruction), &Row::name);
  if (found != std::end(rows))
    operations.*found->precision += found->operations_per_lane * lanes;
}

} // namespace

InstructionKind kind_of(sass::InstructionClass instruction) {
  using enum sass::ExecutionUnit;
  switch (sass::traits_of(instruction).unit) {
  case fp32: return InstructionKind::fp32;
  case fp16: return InstructionKind::fp16;
  case fp64: return InstructionKind::fp64;
  case integer:
  case vote: return InstructionKind::integer;
  case multiply_add: return InstructionKind::multiply_add;
  case special_function:
  case wide_conversion: return InstructionKind::special_function;
  case tensor: return InstructionKind::tensor;
  case memory:
  case shuffle: return InstructionKind::memory;
  case control:
  case special_register:
  case branch:
  case barrier: return InstructionKind::control;
  }
  return InstructionKind::control;
}

std::vector<Instructions> executions_of_blocks(const Snapshot& snapshot, std::uint64_t threads) {
  std::vector<Instructions> blocks(snapshot.code->kernel.blocks.size());
  for (const Warp& warp : snapshot.warps) {
    const std::uint64_t first = std::uint64_t{warp.warp} * warp_lanes;
    const std::uint64_t lanes =
        threads > first ? std::min<std::uint64_t>(warp_lanes, threads - first) : warp_lanes;
    WarpWalk(*snapshot.code, warp, double(lanes), blocks).add();
  }
  for (std::size_t i = 0; snapshot.leaves_out && i < blocks.size(); ++i)
    if (const std::uint32_t begin = snapshot.code->kernel.blocks[i].begin;
        begin < snapshot.executions_of_replayed.size()) {
      blocks[i].warps *= snapshot.executions_of_replayed[begin];
      blocks[i].lanes *= snapshot.executions_of_replayed[begin];
    }
  return blocks;
}

ExecutedInstructions executed_instructions(const Snapshot& snapshot, std::uint64_t threads) {
  ExecutedInstructions work;
  const Code& code = *snapshot.code;
  const std::vector<Instructions> executions = executions_of_blocks(snapshot, threads);
  for (std::size_t block = 0; block < executions.size(); ++block) {
    const sass::Block& code_block = code.kernel.blocks[block];
    if (executions[block].warps == 0)
      continue;
    for (std::uint32_t number = code_block.begin; number < code_block.end; ++number) {
      const auto kind = std::size_t(kind_of(code.kernel.instructions[number].kind));
      if (const auto product = code.tensor_memory_products.find(number);
          product == code.tensor_memory_products.end())
        add_operations(work.operations, code.kernel.instructions[number], code.architecture,
                       executions[block].lanes);
      else if (product->second.is_float) // one lane or all of them make the same product
        work.operations.tensor += product->second.operations() * double(executions[block].warps);
      work.all[kind] += executions[block];
      if (const SourceLine& line = code.lines[number]; line.line != 0)
        work.lines[{code.files[line.file], line.line}][kind] += executions[block];
    }
  }
  return work;
}

ByMemoryEvent memory_events(const SiteSummary& summary, std::size_t index,
                            std::span<const TrialCounts> trials, const Gpu& gpu) {
  using enum MemoryEvent;
  ByMemoryEvent events{};
  const double sectors_of_lookup = gpu.l1.sectored ? 1 : sectors_per_line;
  for (const TrialCounts& trial : trials) {
    const TrialCounts::Site& site = trial.sites[index];
    const auto add = [&](MemoryEvent event, double count) {
      of(events, event) += count / double(trials.size());
    };
    add(l1_read_hit, double(site.l1.hits) * sectors_of_lookup);
    add(l1_read_miss, double(site.l1.all - site.l1.hits) * sectors_of_lookup);
    add(l1_write, double(site.l2_writes.all));
    add(l2_read_hit, double(site.l2_reads.hits));
    add(l2_read_miss, double(site.l2_reads.all - site.l2_reads.hits));
    add(l2_write_hit, double(site.l2_writes.hits));
    add(l2_write_miss, double(site.l2_writes.all - site.l2_writes.hits));
  }
  of(events, shared_pass) = double(summary.bank_wavefronts);
  of(events, constant_access) = double(summary.constant_requests);
  return events;
}

ByMemoryEvent memory_events(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu) {
  ByMemoryEvent events{};
  for (std::size_t index = 0; index < snapshot.sites.size(); ++index) {
    const ByMemoryEvent site_events = memory_events(snapshot.sites[index], index, trials, gpu);
    for (std::size_t event = 0; event < memory_event_count; ++event)
      events[event] += site_events[event];
  }
  for (const TrialCounts& trial : trials) {
    const auto add = [&](MemoryEvent event, std::uint64_t count) {
      of(events, event) += double(count) / double(trials.size());
    };
    add(MemoryEvent::dram_read, trial.dram_read_sectors);
    add(MemoryEvent::dram_write, trial.dram_written_sectors);
    add(MemoryEvent::row_activation, trial.row_activations);
  }
  return events;
}

} // namespace warplens::model
