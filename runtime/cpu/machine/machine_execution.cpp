#include "runtime/cpu/machine/machine_execution.h"

#include "machine/execute.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/machine/compare_memory.h"
#include "runtime/cpu/machine/execution_recorder.h"
#include "runtime/cpu/machine/iteration_sampler.h"
#include "runtime/cpu/machine/poll_filter.h"
#include "runtime/cpu/machine/prepared_launch.h"
#include "runtime/cpu/machine/readable_memory.h"
#include "runtime/host/recorder.h"
#include "trace/chunk_file.h"
#include "trace/machine_code.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace warplens::cpu {
namespace {

/// Blocks leave out iterations where no more than this share of their records is left.
constexpr double worthwhile = 0.7;

/// Memory that device code allocates while a block's machine code is executed: malloc() of device code.
class DeviceHeap {
public:
  explicit DeviceHeap(machine::Memory& memory) : memory_(memory) {}

  /// Returns 0 if there is too little.
  std::uint64_t allocate(std::uint64_t bytes) {
    constexpr std::uint64_t size = 8 << 20; // CUDA's cudaLimitMallocHeapSize
    constexpr std::uint64_t alignment = 16;
    if (!arena_) {
      arena_ = std::make_unique<std::byte[]>(size);
      begin_ = round_up(reinterpret_cast<std::uintptr_t>(arena_.get()), std::uint64_t{4096});
      if (memory_.contains(begin_, 1))
        return 0; // it lies where other memory was when the launch began
      memory_.add({begin_, size - 4096, reinterpret_cast<const std::byte*>(begin_)});
    }
    if (bytes == 0 || bytes > size - 4096 - used_)
      return 0;
    const std::uint64_t address = begin_ + used_;
    used_ += std::min(round_up(bytes, alignment), size - 4096 - used_);
    return address;
  }
  bool is_used() const { return arena_ != nullptr; }
  bool contains(std::uint64_t address) const { return arena_ && address - begin_ < used_; }

private:
  machine::Memory& memory_;
  std::unique_ptr<std::byte[]> arena_;
  std::uint64_t begin_ = 0, used_ = 0;
};

/// One machine code of the launch.
struct Code : PreparedLaunch {
  bool is_own = false;                    ///< the program itself runs by it
  IterationSampler::LeftOutOfLoops apart; ///< iterations, where blocks are not in step
  std::mutex mutex;                       ///< guards the rest
  trace::Execution execution;
};

/// Executes one block after the other; for one thread at a time.
struct Executor {
  Executor(std::uint32_t capability, const std::vector<machine::Range>& ranges)
      : memory(ranges, true), encoder(capability) {}
  machine::Memory memory;
  trace::ExecutedEncoder encoder;
  trace::Packer packer;
};

/// Leads what blocks do to the recorder of each; of some it is not recorded.
class BlockSinks : public machine::Sink {
public:
  BlockSinks(std::span<const std::uint64_t> recorded, std::uint32_t warps_per_block, bool leaves_out,
             const IterationSampler::LeftOutOfLoops& apart,
             const std::function<std::unique_ptr<ExecutionRecorder>()>& make_recorder) {
    for (const std::uint64_t block : recorded) {
      OfBlock& sink = sinks_[block];
      sink.recorder = make_recorder();
      if (leaves_out)
        sink.sampler = std::make_unique<IterationSampler>(*sink.recorder, warps_per_block, apart);
      sink.filter = std::make_unique<PollFilter>(
          sink.sampler ? static_cast<machine::Sink&>(*sink.sampler) : *sink.recorder, warps_per_block);
    }
  }
  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override {
    if (PollFilter* const filter = filter_of(warp))
      filter->on_run(warp, first, count, active);
  }
  void on_access(machine::WarpId warp, const machine::Access& access) override {
    if (PollFilter* const filter = filter_of(warp))
      filter->on_access(warp, access);
  }
  void on_answer(machine::WarpId warp, std::uint32_t instruction, machine::Mask active,
                 std::uint64_t answer) override {
    if (PollFilter* const filter = filter_of(warp))
      filter->on_answer(warp, instruction, active, answer);
  }
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override {
    if (PollFilter* const filter = filter_of(warp))
      filter->on_barrier(warp, arrival);
  }
  void on_product(machine::WarpId warp, std::uint32_t instruction,
                  const machine::TensorProduct& product) override {
    if (const auto found = sinks_.find(warp.block); found != sinks_.end())
      found->second.recorder->on_product(warp, instruction, product);
  }
  /// The blocks have ended. Returns the number of their records.
  std::uint64_t end() {
    std::uint64_t records = 0;
    for (const auto& [block, sink] : sinks_) {
      sink.filter->end_block(block);
      if (sink.sampler) {
        sink.sampler->end_block(block);
        fit_together_ &= sink.sampler->meet_at_barriers();
      }
      sink.recorder->end_block(block);
      records += sink.recorder->records();
    }
    return records;
  }

  /// Returns whether each block's records fit together. After end().
  bool fit_together() const { return fit_together_; }

private:
  struct OfBlock {
    std::unique_ptr<ExecutionRecorder> recorder;
    std::unique_ptr<IterationSampler> sampler; ///< null: all is recorded
    std::unique_ptr<PollFilter> filter;
  };

  PollFilter* filter_of(machine::WarpId warp) {
    if (warp.block != last_block_ || last_ == nullptr) {
      const auto found = sinks_.find(warp.block);
      last_block_ = warp.block;
      last_ = found == sinks_.end() ? nullptr : found->second.filter.get();
    }
    return last_;
  }

  std::unordered_map<std::uint64_t, OfBlock> sinks_;
  std::uint64_t last_block_ = 0;
  PollFilter* last_ = nullptr;
  bool fit_together_ = true;
};

/// Counts instructions, before another sink.
class InstructionCounter : public machine::Sink {
public:
  explicit InstructionCounter(machine::Sink& sink) : sink_(sink) {}
  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override {
    instructions_ += count;
    sink_.on_run(warp, first, count, active);
  }
  void on_access(machine::WarpId warp, const machine::Access& access) override {
    sink_.on_access(warp, access);
  }
  void on_answer(machine::WarpId warp, std::uint32_t instruction, machine::Mask active,
                 std::uint64_t answer) override {
    sink_.on_answer(warp, instruction, active, answer);
  }
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override {
    sink_.on_barrier(warp, arrival);
  }
  void on_product(machine::WarpId warp, std::uint32_t instruction,
                  const machine::TensorProduct& product) override {
    sink_.on_product(warp, instruction, product);
  }
  std::uint64_t instructions() const { return instructions_; }

private:
  machine::Sink& sink_;
  std::uint64_t instructions_ = 0;
};

/// Counts what a block would have in the trace, before another sink.
class RecordCounter : public machine::Sink {
public:
  explicit RecordCounter(machine::Sink& sink) : sink_(sink) {}
  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override {
    sink_.on_run(warp, first, count, active);
  }
  void on_access(machine::WarpId warp, const machine::Access& access) override {
    ++records_;
    sink_.on_access(warp, access);
  }
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override {
    ++records_;
    sink_.on_barrier(warp, arrival);
  }
  std::uint64_t records() const { return records_; }

private:
  machine::Sink& sink_;
  std::uint64_t records_ = 0;
};

/// How many records a block has whole, and how many where its loops leave out iterations.
struct RecordsOfBlock {
  std::uint64_t whole = 0, sampled = 0;
  IterationSampler::LeftOutOfLoops left_out = {};
};

/// The functions of the outside world, of which only the heap does anything: the program's own block prints
/// and asserts.
machine::Builtins builtins_of(DeviceHeap& heap) {
  return {.vprintf = [](auto, auto, auto&) { return 0; },
          .malloc = [&heap](std::uint64_t bytes) { return heap.allocate(bytes); },
          .free = [](std::uint64_t) { return true; },
          .assert_fail = [](auto, auto, auto, auto) {}};
}

/// Returns the records of a block; none where it cannot be executed, or cannot leave out iterations.
RecordsOfBlock count_records(const Code& code, std::uint64_t block, std::uint32_t warps_per_block,
                             const std::vector<machine::Range>& ranges) {
  machine::Memory memory(ranges, true);
  DeviceHeap heap(memory);
  machine::Launch launch = code.launch;
  launch.builtins = builtins_of(heap);
  trace::ExecutedEncoder encoder(code.execution.capability); // of which nothing is written
  ExecutionRecorder recorder(encoder, [&] { encoder.take(); }, warps_per_block,
                             machine::stack_bytes(*code.kernel, launch), {});
  IterationSampler sampler(recorder, warps_per_block);
  RecordCounter counter(sampler);
  const machine::Outcome outcome =
      machine::execute(*code.program, *code.kernel, launch, std::span(&block, 1), memory, &counter);
  sampler.end_block(block);
  return outcome.is_finished() && sampler.meet_at_barriers()
             ? RecordsOfBlock{counter.records(), recorder.records(), sampler.left_out()}
             : RecordsOfBlock{};
}

} // namespace

struct MachineExecution::State {
  std::uint32_t launch = 0;
  std::uint32_t warps_per_block = 0;
  bool leaves_out = false;                ///< iterations of long loops
  std::atomic<bool> fits_together = true; ///< what blocks are left with
  std::vector<machine::Range> ranges;
  std::deque<Code> codes;
  std::mutex mutex; ///< guards `idle`
  std::map<const Code*, std::vector<std::unique_ptr<Executor>>> idle;

  std::unique_ptr<Executor> take(const Code& code) {
    {
      const std::scoped_lock lock(mutex);
      std::vector<std::unique_ptr<Executor>>& here = idle[&code];
      if (!here.empty()) {
        std::unique_ptr<Executor> executor = std::move(here.back());
        here.pop_back();
        return executor;
      }
    }
    return std::make_unique<Executor>(code.execution.capability, ranges);
  }
  void give_back(const Code& code, std::unique_ptr<Executor> executor) {
    executor->memory.discard();
    const std::scoped_lock lock(mutex);
    idle[&code].push_back(std::move(executor));
  }
  void write(Executor& executor) const {
    const std::uint32_t records = executor.encoder.records();
    const auto packed = executor.packer.pack(records, executor.encoder.take());
    runtime::Recorder::instance().write_executed(launch, packed);
  }
};

class MachineExecution::OfBlocks {
public:
  /// Executes the blocks, which wait for each other if they are several, and records the first `recorded`.
  OfBlocks(State& state, std::span<const std::uint64_t> blocks, std::size_t recorded) : state_(state) {
    for (Code& code : state.codes)
      if (code.is_own && code.kernel != nullptr && blocks.size() == 1)
        own_ = std::make_unique<Own>(*this, code, blocks);
      else
        execute(code, blocks, recorded);
  }
  OfBlocks(const OfBlocks&) = delete;
  /// The program's own blocks have ended.
  ~OfBlocks() {
    if (own_ && !own_->has_ended) {
      const std::scoped_lock lock(own_->code.mutex);
      if (own_->code.execution.is_complete())
        own_->code.execution.failure = "the program's own execution has not ended as it should";
    }
    if (own_)
      state_.give_back(own_->code, std::move(own_->executor));
    for (Executed& executed : executed_) {
      const MemoryComparison compared =
          compare_memory(executed.executor->memory, *executed.code->kernel,
                         [&](std::uint64_t address) { return executed.heap->contains(address); });
      {
        const std::scoped_lock lock(executed.code->mutex);
        trace::Execution& execution = executed.code->execution;
        execution.words += compared.words;
        execution.different_words += compared.different;
        execution.different_atomics += compared.different_atomics;
        execution.largest_difference = std::max(execution.largest_difference, compared.largest_difference);
      }
      give_back(executed);
    }
  }

  std::uint64_t records() const { return records_; }

  machine::Sink* sink() { return own_ ? &own_->counter : nullptr; }
  void end_own(std::uint64_t words) {
    own_->has_ended = true;
    end(own_->sinks);
    const std::scoped_lock lock(own_->code.mutex);
    trace::Execution& execution = own_->code.execution;
    execution.warp_instructions += own_->counter.instructions();
    execution.words += words;
    ++execution.blocks;
  }

private:
  /// A block that the program executes itself, by the same machine code.
  struct Own {
    Own(OfBlocks& of, Code& of_program, std::span<const std::uint64_t> blocks)
        : code(of_program), executor(of.state_.take(code)),
          sinks(of.sinks_for(code, *executor, code.launch, blocks)), counter(sinks) {}
    Code& code;
    std::unique_ptr<Executor> executor; ///< of which only the encoder is used
    BlockSinks sinks;
    InstructionCounter counter;
    bool has_ended = false;
  };
  struct Executed {
    Code* code = nullptr;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<DeviceHeap> heap;
  };

  void give_back(Executed& executed) {
    if (!executed.heap->is_used())
      return state_.give_back(*executed.code, std::move(executed.executor));
    if (!executed.executor->encoder.is_empty()) // its memory has a range that ends with the heap
      state_.write(*executed.executor);
  }

  BlockSinks sinks_for(const Code& code, Executor& executor, const machine::Launch& launch,
                       std::span<const std::uint64_t> blocks) {
    return BlockSinks(blocks, state_.warps_per_block, state_.leaves_out, code.apart, [&] {
      return std::make_unique<ExecutionRecorder>(
          executor.encoder, [this, &executor] { state_.write(executor); }, state_.warps_per_block,
          machine::stack_bytes(*code.kernel, launch), code.operands);
    });
  }

  void end(BlockSinks& sinks) {
    records_ += sinks.end();
    if (!sinks.fit_together())
      state_.fits_together = false;
  }

  void execute(Code& code, std::span<const std::uint64_t> blocks, std::size_t recorded) {
    {
      const std::scoped_lock lock(code.mutex);
      if (!code.execution.is_complete())
        return;
    }
    Executed executed{&code, state_.take(code), nullptr};
    Executor* const executor = executed.executor.get();
    executed.heap = std::make_unique<DeviceHeap>(executor->memory);
    DeviceHeap& heap = *executed.heap;
    machine::Launch launch = code.launch;
    launch.runs_blocks_together = blocks.size() > 1;
    launch.builtins = builtins_of(heap);
    BlockSinks sinks = sinks_for(code, *executor, launch, blocks.first(recorded));
    const machine::Outcome outcome =
        machine::execute(*code.program, *code.kernel, launch, blocks, executor->memory, &sinks);
    end(sinks);
    const std::scoped_lock lock(code.mutex);
    trace::Execution& execution = code.execution;
    execution.warp_instructions += outcome.warp_instructions;
    if (outcome.is_finished()) {
      execution.blocks += recorded;
      executed_.push_back(std::move(executed));
      return;
    }
    if (execution.is_complete())
      execution.failure = fmt::format("block {}: {}", outcome.block, outcome.reason);
    give_back(executed);
  }

  State& state_;
  std::unique_ptr<Own> own_;
  std::vector<Executed> executed_;
  std::uint64_t records_ = 0;
};

void MachineExecution::EndOfBlocks::operator()(OfBlocks* blocks) const {
  delete blocks;
}

MachineExecution::MachineExecution(std::unique_ptr<State> state) : state_(std::move(state)) {}
MachineExecution::~MachineExecution() = default;

std::unique_ptr<MachineExecution> MachineExecution::begin(const LaunchToExecute& launch) {
  auto state = std::make_unique<State>();
  state->launch = launch.launch.id;
  state->warps_per_block = std::uint32_t(warps_of(launch.launch.block.count()));
  std::set<const trace::MachineCode*> wanted;
  for (const std::uint32_t capability : runtime::Recorder::instance().executed_capabilities())
    wanted.insert(trace::machine_code_for(launch.launch.machine_code, int(capability),
                                          trace::registers_of_todays_threads));
  for (const trace::MachineCode* const chosen : wanted) {
    if (chosen == nullptr || chosen->cubin.empty())
      continue;
    const trace::MachineCode& machine_code = *chosen;
    Code& code = state->codes.emplace_back();
    code.is_own = &machine_code == launch.own_code;
    code.execution.launch = launch.launch.id;
    code.execution.capability = machine_code.capability;
    auto prepared = prepare_launch(machine_code, launch);
    if (!prepared) {
      code.execution.failure = prepared.error().message;
      continue;
    }
    static_cast<PreparedLaunch&>(code) = std::move(*prepared);
    for (const machine::Kernel::Section& section : code.kernel->sections())
      code.execution.sections.push_back({section.name, section.begin, section.end});
  }
  if (state->codes.empty())
    return nullptr;
  state->ranges = readable_memory();
  std::unique_ptr<MachineExecution> execution(new MachineExecution(std::move(state)));
  if (launch.workspace != nullptr) {
    std::vector<std::uint64_t> blocks(launch.launch.grid.count());
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
    execution->together_.reset(new OfBlocks(*execution->state_, blocks,
                                            std::min<std::uint64_t>(launch.recorded_blocks, blocks.size())));
    return execution;
  }
  // Blocks wait for none behind them, so the first one can be executed alone.
  if (launch.cluster.count() != 1)
    return execution;
  State& of = *execution->state_;
  for (Code& code : of.codes) {
    if (!code.execution.is_complete() || (&code != &of.codes.front() && !(of.leaves_out && launch.has_waves)))
      continue;
    RecordsOfBlock records = count_records(code, 0, of.warps_per_block, of.ranges);
    if (&code == &of.codes.front())
      of.leaves_out = records.whole > launch.records_of_block &&
                      double(records.sampled) < worthwhile * double(records.whole);
    if (launch.has_waves)
      code.apart = std::move(records.left_out);
  }
  return execution;
}

MachineExecution::BlockHandle MachineExecution::execute(std::uint64_t block) {
  return together_ ? nullptr : BlockHandle(new OfBlocks(*state_, std::span(&block, 1), 1));
}

machine::Sink* MachineExecution::sink_of(const BlockHandle& block) {
  return block ? block->sink() : nullptr;
}

void MachineExecution::end_own(const BlockHandle& block, std::uint64_t words) {
  if (sink_of(block) != nullptr)
    block->end_own(words);
}

std::uint64_t MachineExecution::records_of(const BlockHandle& block) {
  return block ? block->records() : 0;
}

bool MachineExecution::leaves_out() const {
  return state_->leaves_out;
}

bool MachineExecution::has_failed() const {
  return !state_->fits_together || std::ranges::any_of(state_->codes, [](Code& code) {
    const std::scoped_lock lock(code.mutex);
    return !code.execution.is_complete();
  });
}

void MachineExecution::end() {
  together_.reset();
  for (auto& [code, executors] : state_->idle)
    for (const std::unique_ptr<Executor>& executor : executors)
      if (!executor->encoder.is_empty())
        state_->write(*executor);
  for (const Code& code : state_->codes)
    runtime::Recorder::instance().write_execution(code.execution);
}

} // namespace warplens::cpu
