#include "runtime/cpu/execution/launch.h"

#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/execution/checks_wanted.h"
#include "runtime/cpu/execution/run_by_machine_code.h"
#include "runtime/cpu/execution/run_grid.h"
#include "runtime/cpu/execution/signals.h"
#include "runtime/cpu/execution/snapshot_windows.h"
#include "runtime/cpu/machine/machine_execution.h"
#include "runtime/host/kernel_name.h"
#include "runtime/host/own_thread.h"
#include "runtime/host/recorder.h"
#include "runtime/host/trace_file.h"
#include "support/display_name.h"
#include "support/hash.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

namespace warplens::cpu {

namespace {

/// Of blocks whose loops leave out iterations, these are enough to find the sources' accesses in the code.
constexpr std::uint64_t observed_blocks = 16;
/// The records of such a block that are the source's.
constexpr std::uint64_t max_source_records = 1u << 16;

/// Counts what a block does.
class CountingSink : public WarpAccessSink {
public:
  CountingSink(std::uint64_t block, SnapshotWindows::Role role, SnapshotWindows& windows)
      : block_(block), role_(role), windows_(windows) {}
  ~CountingSink() override { windows_.ended(block_, role_, work_, records_); }
  void access(std::uint32_t, const ring::Line& line) override { count(line); }
  void unprobed_access(std::uint32_t, const ring::Line& line) override {
    count(line);
    if (role_ == SnapshotWindows::Role::recorded && has_own_records_)
      count_record(); // the executed one is
  }
  bool is_recorded() const override { return role_ == SnapshotWindows::Role::recorded; }

protected:
  void count(const ring::Line& line) {
    const auto space = static_cast<Space>(line.space);
    if (space == Space::shared || space == Space::constant || !is_access(static_cast<AccessKind>(line.kind)))
      return;
    ++work_.accesses;
    // Lanes in the order of their addresses are counted exactly, others as too many.
    std::uint64_t last = ~std::uint64_t{0};
    for (std::uint32_t left = line.active; left != 0; left &= left - 1) {
      const std::uint64_t of_lane = line.addresses[std::countr_zero(left)] / line_bytes;
      work_.lines += of_lane != last;
      last = of_lane;
    }
  }
  /// Counts a record for the trace; returns false if the block has more than are wanted.
  bool count_record() { return ++records_ <= windows_.max_records(); }
  /// Sets whether the records are those that are counted here: else its machine code has them, which is what
  /// is modelled.
  void set_own_records(bool has_own) { has_own_records_ = has_own; }
  void set_records(std::uint64_t records) { records_ = records; }
  bool has_own_records() const { return has_own_records_; }

private:
  bool has_own_records_ = true;
  std::uint64_t records_ = 0;
  std::uint64_t block_;
  SnapshotWindows::Role role_;
  SnapshotWindows& windows_;
  trace::LaunchWork work_;
};

/// Passes a block's accesses on to the snooper.
class RingSink : public CountingSink {
public:
  /// `execution`: of the block's machine code; null: there is none.
  RingSink(ring::BlockBuffer* buffer, std::uint32_t threads, std::uint64_t block, SnapshotWindows& windows,
           MachineExecution::BlockHandle execution, bool leaves_out)
      : CountingSink(block, SnapshotWindows::Role::recorded, windows), execution_(std::move(execution)),
        max_of_source_(leaves_out ? max_source_records : windows.max_records()), buffer_(buffer),
        threads_(threads) {
    set_own_records(execution_ == nullptr);
  }
  ~RingSink() override {
    if (execution_)
      set_records(MachineExecution::records_of(execution_));
    ring::leave(buffer_, threads_);
  }
  machine::Sink* machine_sink() override { return MachineExecution::sink_of(execution_); }
  void machine_code_ended(std::uint64_t words) override { MachineExecution::end_own(execution_, words); }
  void access(std::uint32_t warp, const ring::Line& line) override {
    count(line);
    if (has_own_records() ? !count_record() : ++of_source_ > max_of_source_)
      return;
    while (ring::is_full(buffer_, warp))
      runtime::Recorder::instance().drain_rings(buffer_->index);
    ring::push(buffer_, warp, line);
  }

private:
  MachineExecution::BlockHandle execution_; ///< ends when the block has
  std::uint64_t max_of_source_;
  ring::BlockBuffer* buffer_;
  std::uint32_t threads_;
  std::uint64_t of_source_ = 0; ///< records, where those of the machine code count
};

/// A recorded block of which only the machine code is: the source's accesses are known from others.
class ExecutedBlock : public WarpAccessSink {
public:
  ExecutedBlock(std::uint64_t block, SnapshotWindows& windows, MachineExecution::BlockHandle execution)
      : execution_(std::move(execution)), block_(block), windows_(windows) {}
  ~ExecutedBlock() override {
    windows_.ended(block_, SnapshotWindows::Role::recorded, std::nullopt,
                   MachineExecution::records_of(execution_));
  }
  void access(std::uint32_t, const ring::Line&) override {}
  bool observes() const override { return false; }
  machine::Sink* machine_sink() override { return MachineExecution::sink_of(execution_); }
  void machine_code_ended(std::uint64_t words) override { MachineExecution::end_own(execution_, words); }

private:
  MachineExecution::BlockHandle execution_; ///< ends when the block has
  std::uint64_t block_;
  SnapshotWindows& windows_;
};

/// Checks, during its lifetime, whether the tracing has ended: otherwise a stuck snooper stays undetected
/// while every block waits for it.
class StallWatchdog {
public:
  StallWatchdog()
      : thread_(runtime::start_without_signals<std::jthread>([this](std::stop_token grid_ended) {
          std::unique_lock lock(mutex_);
          while (!grid_ended.stop_requested() && !runtime::Recorder::instance().launch_stopped())
            wake_.wait_for(lock, grid_ended, std::chrono::milliseconds(100), [] { return false; });
        })) {}

private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_; ///< last: it uses the above
};

bool is_lowered(const KernelRecord& kernel, const trace::Dim3& cluster) {
  return kernel.refusal == nullptr && cluster.count() == 1;
}

/// Returns the machine code that the launch's blocks are executed by; null if they are lowered code, or there
/// is none for the device.
const trace::MachineCode* executed_code(const LaunchToExecute& launch, int capability) {
  if (is_lowered(launch.kernel, launch.cluster))
    return nullptr;
  const trace::MachineCode* const code =
      trace::machine_code_for(launch.launch.machine_code, capability, trace::registers_of_todays_threads);
  return code != nullptr && !code->cubin.empty() ? code : nullptr;
}

GridResult run(const Grid& grid, const LaunchToExecute& launch, int capability, const Tracing* tracing) {
  // A block's machine code writes to memory when it has ended: no other launch may write meanwhile.
  static std::shared_mutex launches;
  if (is_lowered(launch.kernel, launch.cluster)) {
    const std::shared_lock lock(launches);
    return run_grid(grid, tracing);
  }
  const std::unique_lock lock(launches);
  return run_by_machine_code(grid, launch, capability, tracing);
}

/// Runs a launch of which some blocks are recorded, in the channel, or counted. Without a channel `windows`
/// has none to be recorded.
GridResult run_traced(const Grid& grid, const LaunchToExecute& launch, int capability, ring::Channel* channel,
                      SnapshotWindows& windows, bool is_last, MachineExecution* execution) {
  using Role = SnapshotWindows::Role;
  const auto threads = static_cast<std::uint32_t>(grid.block.count());
  const auto open_block = [&](std::uint64_t block) -> std::unique_ptr<WarpAccessSink> {
    const Role role = windows.admit(block);
    if (role == Role::untraced || (is_last && role == Role::counted))
      return nullptr;
    if (role == Role::counted)
      return std::make_unique<CountingSink>(block, role, windows);
    MachineExecution::BlockHandle executed = execution ? execution->execute(block) : nullptr;
    const bool leaves_out = execution != nullptr && execution->leaves_out();
    if (leaves_out && block >= observed_blocks)
      return std::make_unique<ExecutedBlock>(block, windows, std::move(executed));
    ring::BlockBuffer* const buffer = ring::enter(channel, block, threads);
    return buffer
               ? std::make_unique<RingSink>(buffer, threads, block, windows, std::move(executed), leaves_out)
               : nullptr;
  };
  const Tracing tracing{open_block, is_last && !grid.workspace};
  std::optional<StallWatchdog> watchdog;
  if (channel)
    watchdog.emplace();
  return run(grid, launch, capability, &tracing);
}

/// Returns the goal of a launch whose blocks can be recorded: of a cooperative launch only the first ones, as
/// blocks that run at the same time must not wait for each other's buffers.
runtime::SnapshotGoal goal_of(const Grid& grid, runtime::SnapshotGoal goal, const ring::Channel* channel) {
  if (grid.workspace) {
    goal.max_blocks = std::min<std::uint64_t>(goal.max_blocks, channel->buffers);
    goal.is_exact = true;
  }
  return goal;
}

/// Ends the program where continuing would wait for ever, or compute with missing data. The program's
/// destructors must not see half-done work.
[[noreturn]] void end_program(const char* kernel, const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "warplens: kernel %s: %s\n", kernel, why.c_str());
  runtime::Recorder::instance().finish();
  std::_Exit(1);
}

/// Returns a number that another kernel of the symbol does not have. One of a library that has been unloaded
/// may have had this one's address.
std::uint64_t identity_of(const KernelRecord& kernel) {
  return kernel.module && *kernel.module ? stable_hash(kernel.module)
                                         : reinterpret_cast<std::uint64_t>(&kernel);
}

/// Runs all blocks; traced if the recorder requests it.
LaunchResult run_all_blocks(const KernelRecord& kernel, const trace::Dim3& grid_dim,
                            const trace::Dim3& block_dim, std::size_t dynamic_shared_bytes, void** arguments,
                            const char* demangled_name, const LaunchFeatures& features,
                            const std::vector<trace::MachineCode>& machine_code) {
  // The workspace's size and barrier (cooperative_groups/details/driver_abi.h).
  alignas(64) std::array<std::uint32_t, 16> workspace{};
  const Grid grid{&kernel,   grid_dim,
                  block_dim, static_cast<std::uint32_t>(dynamic_shared_bytes),
                  arguments, features.cooperative ? workspace.data() : nullptr};
  trace::Launch launch{.kernel = demangled_name,
                       .symbol = runtime::symbol_as_written(kernel.symbol),
                       .code = identity_of(kernel),
                       .grid = grid_dim,
                       .block = block_dim,
                       .static_shared_bytes = features.static_shared_bytes,
                       .dynamic_shared_bytes = grid.dynamic_shared_bytes,
                       .machine_code = machine_code,
                       .window = features.window};
  const bool lowered = is_lowered(kernel, features.cluster);
  for (const CheckName& check : check_names)
    if (checks_wanted().has(check.check) && !(lowered && Checks(kernel.checks).has(check.check)))
      end_program(demangled_name,
                  lowered
                      ? fmt::format("it was built without --{0}; build it with --{0}, too", check.name)
                      : fmt::format("it is executed as machine code, which --{} does not check", check.name));
  auto& recorder = runtime::Recorder::instance();
  ring::Channel* channel = recorder.begin_launch(launch, worker_threads());
  const bool is_last = channel && recorder.ends_when_traced(host_kernel_symbols());
  LaunchToExecute to_execute{kernel, launch, arguments, features.cluster, grid.workspace};
  to_execute.own_code = executed_code(to_execute, features.capability);
  GridResult result;
  if (channel) {
    runtime::SnapshotGoal goal = goal_of(grid, recorder.goal(launch), channel);
    to_execute.recorded_blocks = goal.max_blocks;
    const std::uint64_t wanted =
        goal.is_exact ? goal.max_blocks : std::min(goal.min_blocks, goal.wave_blocks);
    to_execute.records_of_block = goal.max_whole_records / std::max<std::uint64_t>(wanted, 1);
    to_execute.has_waves = goal.wave_blocks < grid_dim.count();
    const auto execution = MachineExecution::begin(to_execute);
    const bool leaves_out = execution && execution->leaves_out();
    if (leaves_out && !goal.is_exact)
      goal.min_blocks = goal.max_blocks = goal.wave_blocks;
    SnapshotWindows windows(grid_dim.count(), goal);
    result = run_traced(grid, to_execute, features.capability, channel, windows, is_last, execution.get());
    if (execution)
      execution->end();
    recorder.end_launch({.launch = launch.id,
                         .complete = result.status == BlockStatus::ok && !windows.has_part_of_block() &&
                                     !(leaves_out && execution->has_failed()),
                         .executed_accesses = result.executed_accesses,
                         .probed_accesses = result.probed_accesses,
                         .blocks = windows.first_blocks(),
                         .windows = windows.further_windows(),
                         .work = windows.of_launch(),
                         .leaves_out = leaves_out});
    if (windows.is_cut())
      runtime::warn(fmt::format("the snapshot of {} ends after {} of its {} blocks, at {} warp accesses "
                                "(WARPLENS_SNAPSHOT_ACCESSES sets the limit)",
                                display_name(launch.kernel), windows.first_blocks(), grid_dim.count(),
                                windows.max_records()));
  } else if (recorder.enabled()) {
    SnapshotWindows windows(grid_dim.count());
    result = run_traced(grid, to_execute, features.capability, nullptr, windows, false, nullptr);
    recorder.count_launch(launch, windows.of_launch());
  } else
    result = run(grid, to_execute, features.capability, nullptr);
  if (is_last && result.status == BlockStatus::ok)
    recorder.end_program();
  switch (result.status) {
  case BlockStatus::ok: return {.nested = std::move(result.nested)};
  case BlockStatus::failed: return {LaunchStatus::trapped, result.message};
  case BlockStatus::faulted: return {LaunchStatus::faulted, result.message};
  case BlockStatus::no_memory: return {LaunchStatus::no_memory, result.message};
  case BlockStatus::interrupted: return {LaunchStatus::interrupted, result.message};
  case BlockStatus::bad_access:
  case BlockStatus::deadlocked: break;
  }
  end_program(demangled_name, result.message);
}

} // namespace

LaunchResult launch(const KernelRecord& kernel, const trace::Dim3& grid_dim, const trace::Dim3& block_dim,
                    std::size_t dynamic_shared_bytes, void** arguments, const char* demangled_name,
                    const LaunchFeatures& features, const std::vector<trace::MachineCode>& machine_code) {
  LaunchResult result;
  {
    const LaunchParticipation here;
    result = run_all_blocks(kernel, grid_dim, block_dim, dynamic_shared_bytes, arguments, demangled_name,
                            features, machine_code);
  }
  if (result.status == LaunchStatus::interrupted)
    wait_for_program_end();
  return result;
}

} // namespace warplens::cpu
