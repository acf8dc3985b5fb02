#include "runtime/cpu/execution/run_by_machine_code.h"

#include "runtime/cpu/device_library/device_io.h"
#include "runtime/cpu/machine/readable_memory.h"
#include "trace/machine_code.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace warplens::cpu {
namespace {

/// Counts a block's accesses for its sink.
class CountedAccesses : public machine::Sink {
public:
  CountedAccesses(WarpAccessSink& sink, GridResult& result) : sink_(sink), result_(result) {}
  void on_run(machine::WarpId, std::uint32_t, std::uint32_t, machine::Mask) override {}
  void on_access(machine::WarpId warp, const machine::Access& access) override {
    if (access.is_constant || access.space == sass::Space::shared || access.space == sass::Space::local)
      return;
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
    sink_.unprobed_access(warp.warp, line);
  }

private:
  WarpAccessSink& sink_;
  GridResult& result_;
};

/// Writes what a block has written to the program's own memory.
void commit(machine::Memory& memory) {
  memory.for_each_written_word([](std::uint64_t address, std::uint32_t, std::uint32_t word, std::uint32_t) {
    std::memcpy(reinterpret_cast<void*>(address), &word, sizeof word);
  });
  memory.discard();
}

machine::Builtins builtins_of(machine::Memory& memory) {
  return {.vprintf =
              [&memory](std::uint64_t format, std::span<const std::byte> arguments) {
                std::string text;
                for (char letter = 1; letter != 0;) {
                  if (!memory.copy_from(format + text.size(), std::as_writable_bytes(std::span(&letter, 1))))
                    return -1;
                  text += letter;
                }
                return __warplens_cpu_vprintf(text.c_str(), reinterpret_cast<const char*>(arguments.data()));
              },
          .malloc =
              [&memory](std::uint64_t bytes) {
                const auto address = reinterpret_cast<std::uintptr_t>(__warplens_cpu_malloc(bytes));
                if (address != 0 && !memory.contains(address, bytes))
                  memory.add({address, bytes, reinterpret_cast<const std::byte*>(address)});
                return std::uint64_t{address};
              },
          .free = [](std::uint64_t address) { __warplens_cpu_free(reinterpret_cast<void*>(address)); },
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
  const trace::MachineCode* const code =
      trace::machine_code_for(launch.launch.machine_code, capability, trace::registers_of_todays_threads);
  if (code == nullptr || code->cubin.empty())
    return failed(
        BlockStatus::failed,
        fmt::format("{}; and there is no machine code for a GPU of compute capability {}.{}, which would be "
                    "executed instead",
                    refusal, capability / 10, capability % 10));
  auto prepared = prepare_launch(*code, launch);
  if (!prepared)
    return failed(BlockStatus::failed, fmt::format("{}; and its machine code cannot be executed instead: {}",
                                                   refusal, prepared.error().message));
  machine::Memory memory(readable_memory());
  prepared->launch.builtins = builtins_of(memory);
  prepared->launch.instruction_limit = ~std::uint64_t{0}; // a program may run as long as it likes
  GridResult result;
  const auto run = [&](std::span<const std::uint64_t> blocks, WarpAccessSink* sink) {
    std::optional<CountedAccesses> counted;
    if (sink != nullptr)
      counted.emplace(*sink, result);
    const machine::Outcome outcome = machine::execute(*prepared->program, *prepared->kernel, prepared->launch,
                                                      blocks, memory, counted ? &*counted : nullptr);
    commit(memory);
    switch (outcome.kind) {
    case machine::Outcome::Kind::finished: return true;
    case machine::Outcome::Kind::fault: result.status = BlockStatus::faulted; break;
    case machine::Outcome::Kind::deadlock: result.status = BlockStatus::deadlocked; break;
    default: result.status = BlockStatus::failed;
    }
    result.message =
        outcome.kind == machine::Outcome::Kind::refused
            ? fmt::format("{}; and its machine code cannot be executed instead: {}", refusal, outcome.reason)
            : fmt::format("block {}: {} (executed as machine code)", outcome.block, outcome.reason);
    return false;
  };
  const std::uint64_t count = grid.grid.count();
  if (grid.workspace != nullptr) {
    prepared->launch.runs_blocks_together = true;
    std::vector<std::uint64_t> blocks(count);
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
    std::vector<std::unique_ptr<WarpAccessSink>> sinks;
    for (std::uint64_t block = 0; tracing != nullptr && block < count; ++block)
      sinks.push_back(tracing->open_block(block));
    run(blocks, nullptr);
    return result;
  }
  const machine::Dimensions& cluster = prepared->launch.cluster;
  const auto is_first_of_cluster = [&](std::uint64_t block) {
    const trace::Dim3& all = grid.grid;
    return block % all.x % cluster.x == 0 && block / all.x % all.y % cluster.y == 0 &&
           block / all.x / all.y % cluster.z == 0;
  };
  for (std::uint64_t block = 0; block < count; ++block) {
    const std::unique_ptr<WarpAccessSink> sink = tracing != nullptr ? tracing->open_block(block) : nullptr;
    if (tracing != nullptr && tracing->only_these && sink == nullptr)
      break;
    // A cluster's blocks run together, with its first one.
    if (is_first_of_cluster(block) && !run({&block, 1}, sink.get()))
      break;
  }
  return result;
}

} // namespace warplens::cpu
