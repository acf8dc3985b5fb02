#include "runtime/cpu/execution/run_by_machine_code.h"

#include "runtime/cpu/device_library/device_io.h"
#include "runtime/cpu/execution/signals.h"
#include "runtime/cpu/machine/readable_memory.h"
#include "runtime/cpu/memory/memory.h"
#include "trace/machine_code.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <new>
#include <numeric>
#include <utility>

namespace warplens::cpu {
namespace {

/// Leads what blocks do that run together to the sink of each.
class CountedAccesses : public machine::Sink {
public:
  explicit CountedAccesses(GridResult& result) : result_(result) {}
  void add(std::uint64_t block, std::unique_ptr<WarpAccessSink> sink) { sinks_[block] = std::move(sink); }
  bool is_empty() const { return sinks_.empty(); }

  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override {
    if (machine::Sink* const recorder = recorder_of(warp))
      recorder->on_run(warp, first, count, active);
  }
  void on_answer(machine::WarpId warp, std::uint32_t instruction, machine::Mask active,
                 std::uint64_t answer) override {
    if (machine::Sink* const recorder = recorder_of(warp))
      recorder->on_answer(warp, instruction, active, answer);
  }
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override {
    if (machine::Sink* const recorder = recorder_of(warp))
      recorder->on_barrier(warp, arrival);
  }
  void on_product(machine::WarpId warp, std::uint32_t instruction,
                  const machine::TensorProduct& product) override {
    if (machine::Sink* const recorder = recorder_of(warp))
      recorder->on_product(warp, instruction, product);
  }
  void on_access(machine::WarpId warp, const machine::Access& access) override {
    if (machine::Sink* const recorder = recorder_of(warp))
      recorder->on_access(warp, access);
    if (last_ == nullptr || access.is_constant || access.space == sass::Space::shared ||
        access.space == sass::Space::local)
      return;
    if (last_->is_recorded())
      result_.executed_accesses += unsigned(std::popcount(access.lanes));
    ring::Line line{.site = 0,
                    .active = access.lanes,
                    .bytes = access.bytes,
                    .space = std::uint8_t(Space::global),
                    .kind = std::uint8_t(access.is_atomic  ? AccessKind::atomic
                                         : access.is_store ? AccessKind::store
                                                           : AccessKind::load),
                    .addresses = {}};
    std::ranges::copy(access.addresses, line.addresses);
    last_->unprobed_access(warp.warp, line);
  }
  /// All blocks have ended as they should, and have written that many words.
  void end(std::uint64_t words) {
    for (const auto& [block, sink] : sinks_)
      sink->machine_code_ended(std::exchange(words, 0));
  }

private:
  machine::Sink* recorder_of(machine::WarpId warp) {
    if (warp.block != last_block_) {
      const auto sink = sinks_.find(warp.block);
      last_block_ = warp.block;
      last_ = sink == sinks_.end() ? nullptr : sink->second.get();
    }
    return last_ == nullptr ? nullptr : last_->machine_sink();
  }

  std::uint64_t last_block_ = ~std::uint64_t{0};
  WarpAccessSink* last_ = nullptr; ///< of that block; null: it has none
  std::map<std::uint64_t, std::unique_ptr<WarpAccessSink>> sinks_;
  GridResult& result_;
};

/// Writes what a block has written to the program's own memory. Returns the number of words.
std::uint64_t commit(machine::Memory& memory) {
  std::uint64_t words = 0;
  memory.for_each_written_word([&](std::uint64_t address, std::uint32_t, std::uint32_t word, std::uint32_t) {
    std::memcpy(reinterpret_cast<void*>(address), &word, sizeof word);
    ++words;
  });
  memory.discard();
  return words;
}

machine::Builtins builtins_of(machine::Memory& memory) {
  return {.vprintf =
              [](std::uint64_t format, std::span<const std::byte> arguments,
                 const machine::Builtins::TextAt& text_at) {
                return format == 0 ? -1
                                   : print_packed(text_at(format).c_str(),
                                                  reinterpret_cast<const char*>(arguments.data()), text_at);
              },
          .malloc =
              [&memory](std::uint64_t bytes) {
                const auto address = reinterpret_cast<std::uintptr_t>(__warplens_cpu_malloc(bytes));
                if (address != 0 && !memory.contains(address, bytes))
                  memory.add({address, bytes, reinterpret_cast<const std::byte*>(address)});
                return std::uint64_t{address};
              },
          .free =
              [&memory](std::uint64_t address) {
                commit(memory); // what follows may be another's
                return address == 0 || DeviceMemory::instance().free(reinterpret_cast<void*>(address));
              },
          .assert_fail =
              [](std::uint64_t message, std::uint64_t file, std::uint32_t line, std::uint64_t function) {
                fail_assertion(reinterpret_cast<const char*>(message), reinterpret_cast<const char*>(file),
                               line, reinterpret_cast<const char*>(function));
              }};
}

GridResult failed(BlockStatus status, std::string message) {
  GridResult result;
  result.status = status;
  result.message = std::move(message);
  return result;
}

} // namespace

GridResult run_by_machine_code(const Grid& grid, const LaunchToExecute& launch, int capability,
                               const Tracing* tracing) {
  const std::string_view refusal =
      launch.kernel.refusal != nullptr
          ? launch.kernel.refusal
          : "a launch in clusters of several blocks is not supported on the CPU back end";
  const trace::MachineCode* const code = launch.own_code;
  if (code == nullptr)
    return failed(
        BlockStatus::failed,
        fmt::format("{}; and there is no machine code for a GPU of compute capability {}.{}, which would be "
                    "executed instead: name what to compile for, as with --nvcc \"-arch={}\"",
                    refusal, capability / 10, capability % 10,
                    trace::architecture_with_all_features(capability)));
  auto prepared = prepare_launch(*code, launch);
  if (!prepared)
    return failed(BlockStatus::failed, fmt::format("{}; and its machine code cannot be executed instead: {}",
                                                   refusal, prepared.error().message));
  const machine::Dimensions& cluster = prepared->launch.cluster;
  if (grid.grid.x % cluster.x != 0 || grid.grid.y % cluster.y != 0 || grid.grid.z % cluster.z != 0)
    return failed(BlockStatus::failed,
                  fmt::format("its grid is no multiple of its clusters of {} × {} × {} blocks", cluster.x,
                              cluster.y, cluster.z));
  machine::Memory memory(readable_memory());
  prepared->launch.builtins = builtins_of(memory);
  GridResult result;
  prepared->launch.builtins.launch = [&result](machine::NestedLaunch nested) {
    constexpr std::uint64_t tail = 3; // cudaStreamTailLaunch
    const auto dim3_of = [](const machine::Dimensions& dim) { return trace::Dim3{dim.x, dim.y, dim.z}; };
    result.nested.push_back({std::move(nested.kernel),
                             dim3_of(nested.grid),
                             dim3_of(nested.block),
                             nested.dynamic_shared_bytes,
                             nested.stream == tail,
                             std::move(nested.parameters),
                             {}});
    for (const machine::NestedLaunch::Place& place : nested.places)
      result.nested.back().places.push_back({place.offset, place.bytes});
    return std::uint32_t{0};
  };
  prepared->launch.instruction_limit = ~std::uint64_t{0}; // a program may run as long as it likes
  /// Executes blocks that may wait for each other; returns whether the launch goes on.
  const auto run = [&](std::span<const std::uint64_t> blocks) {
    CountedAccesses counted(result);
    for (const std::uint64_t block : blocks)
      if (auto sink = tracing != nullptr ? tracing->open_block(block) : nullptr)
        counted.add(block, std::move(sink));
    if (tracing != nullptr && tracing->only_these && counted.is_empty())
      return false;
    const machine::Outcome outcome =
        machine::execute(*prepared->program, *prepared->kernel, prepared->launch, blocks, memory,
                         counted.is_empty() ? nullptr : &counted);
    const std::uint64_t words = commit(memory);
    if (outcome.is_finished()) {
      counted.end(words);
      return true;
    }
    result.status = outcome.kind == machine::Outcome::Kind::fault      ? BlockStatus::faulted
                    : outcome.kind == machine::Outcome::Kind::deadlock ? BlockStatus::deadlocked
                                                                       : BlockStatus::failed;
    result.message =
        outcome.kind == machine::Outcome::Kind::refused
            ? fmt::format("{}; and its machine code cannot be executed instead: {}", refusal, outcome.reason)
            : fmt::format("block {}: {} (executed as machine code)", outcome.block, outcome.reason);
    return false;
  };
  try {
    const std::uint64_t count = grid.grid.count();
    if (grid.workspace != nullptr) {
      prepared->launch.runs_blocks_together = true;
      std::vector<std::uint64_t> blocks(count);
      std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
      run(blocks);
      return result;
    }
    for (std::uint64_t block = 0; block < count; ++block) {
      if (interrupted())
        return failed(BlockStatus::interrupted, "interrupted");
      const std::vector<std::uint64_t> together = machine::cluster_of(prepared->launch, block);
      if (together.front() == block && !run(together))
        break;
    }
  } catch (const std::bad_alloc&) {
    return failed(BlockStatus::no_memory, "there is too little memory to execute its machine code");
  }
  return result;
}

} // namespace warplens::cpu
