#include "runtime/host/recorder.h"

#include "runtime/host/access_writer.h"
#include "runtime/host/kernel_name.h"
#include "runtime/host/launch_choice.h"
#include "runtime/host/memory_log.h"
#include "runtime/host/settings.h"
#include "runtime/host/site_registry.h"
#include "runtime/host/snapshot.h"
#include "runtime/host/snooper.h"
#include "runtime/host/trace_file.h"
#include "support/display_name.h"
#include "trace/chunk_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace warplens::runtime {
namespace {

/// Each stream has an encoder, which takes up to 17 MB (trace::LastAddresses).
constexpr std::uint32_t max_streams = 8;
/// A GPU's rings can have more, since it writes lines far faster than a core encodes them: an encoder sees
/// only the warps of its part, and hence touches little of its memory.
constexpr std::uint32_t max_streams_of_gpu = 16;

/// The launch that is being traced.
struct TracedLaunch {
  trace::Launch launch;
  ring::HostMemory local, shared; ///< empty if the caller placed the channel
  ring::Channel channel{};
  bool end_is_written = false;    ///< guarded by the file's turns
  std::optional<Snooper> snooper; ///< last: it uses the above
};

/// Creates an empty file for this process in the folder: a program that another one became by exec has the
/// same process id.
std::filesystem::path own_file(const std::filesystem::path& folder) {
  for (unsigned number = 1;; ++number) {
    auto path = folder / fmt::format("{}-{}.wlt", getpid(), number);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0)
      close(file);
    if (file >= 0 || errno != EEXIST)
      return path; // what fails here fails again when the trace is created, and is reported there
  }
}

std::string why_ended_early(SnooperState state, const std::string& kernel, const SnooperLimits& limits) {
  if (state == SnooperState::stalled)
    return fmt::format(
        "no access of {} came for {} s while it was running: its tracing ends here, the program goes on "
        "(WARPLENS_STALL_SECONDS sets the limit)",
        kernel, limits.stall.count() / 1000.0);
  if (state == SnooperState::stuck)
    return fmt::format(
        "the trace could not be written for {} s: the tracing of {} ends here, the program goes on",
        limits.stall.count() / 1000.0, kernel);
  return fmt::format(
      "the snapshot of {} is cut off after {} warp accesses (WARPLENS_SNAPSHOT_ACCESSES sets the limit)",
      kernel, limits.accesses);
}

} // namespace

struct Recorder::UntracedLaunches {
  trace::KernelLaunches& counted;
  std::string name; ///< for MemoryLog::add_unseen()
};

struct Recorder::State {
  explicit State(Settings wanted) : settings(std::move(wanted)), launches(settings.launches) {}

  Settings settings;
  std::atomic<bool> enabled = false;
  std::atomic<bool> is_unrecorded_child = false; ///< and has not said so yet
  SiteRegistry sites;
  TraceFile file;

  std::mutex finishing; ///< held by finish(), before `mutex`
  std::mutex mutex;     ///< guards all below
  trace::Program program{program_invocation_name, "cpu", "CPU"};
  std::vector<trace::Allocation> early_allocations; ///< before there is a file
  LaunchChoice launches;
  std::deque<UntracedLaunches> untraced; ///< never fewer: callers point to them
  MemoryLog memory;
  std::uint32_t next_id = 0;
  std::shared_ptr<TracedLaunch> active;
  AccessWriter accesses{file}; ///< the active launch's
  std::vector<std::shared_ptr<TracedLaunch>>
      abandoned; ///< their kernels or snoopers may still write: the memory stays allocated
  bool finished = false;

  void say_if_unrecorded();
  bool chosen(const trace::Launch& launch) const;
  bool wanted(const trace::Launch& launch) const;
  UntracedLaunches count(const trace::Launch& launch, const trace::LaunchWork& work);
  std::string name_of(const trace::Launch& launch) const; ///< demangled once
  void open_file();
  void write_sites();
  std::shared_ptr<TracedLaunch> prepare(trace::Launch& launch, const ChannelPlacement* placement) const;
  ring::Channel* begin_launch(trace::Launch& launch, const ChannelPlacement* placement, unsigned threads);
  void start_snooper(TracedLaunch& traced_launch, const std::string& kernel, unsigned threads);
  void write_end(TracedLaunch& traced_launch, const trace::LaunchEnd& end);
};

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::~Recorder() = default;

Recorder& Recorder::instance() {
  // The recorder is never destroyed: the program's own destructors and other threads may still launch kernels
  // after exit() was called.
  static Recorder* const recorder = [] {
    auto settings = Settings::from_environment();
    if (!settings)
      warn(settings.error().message + "; nothing is traced");
    auto state = std::make_unique<State>(settings ? std::move(*settings) : Settings());
    unsetenv("WARPLENS_TRACE"); // one file is one process's; the folder stays for others
    for (std::filesystem::path* place : {&state->settings.trace, &state->settings.trace_folder})
      if (!place->empty()) {
        std::error_code ignored; // an unreadable working folder leaves the path as it is
        if (auto absolute = std::filesystem::absolute(*place, ignored); !ignored)
          *place = std::move(absolute);
        state->enabled = true;
      }
    // A handler of fork(), since every launch asks, and getpid() is a system call.
    pthread_atfork([] { instance().state_->mutex.lock(); }, [] { instance().state_->mutex.unlock(); },
                   [] {
                     instance().state_->mutex.unlock();
                     instance().go_on_in_child();
                   });
    return new Recorder(std::move(state));
  }();
  static const int registered =
      std::atexit([] { instance().finish(); }) + std::at_quick_exit([] { instance().finish(); });
  static_cast<void>(registered);
  return *recorder;
}

bool Recorder::enabled() const {
  return state_->enabled;
}

bool Recorder::logs_times() const {
  return state_->settings.log_times;
}

void Recorder::go_on_in_child() {
  State& state = *state_;
  if (!state.enabled)
    return;
  const bool has_folder = !state.settings.trace_folder.empty(); // else the one file is the parent's
  if (has_folder && !state.file.is_open() && !state.file.failed() && !state.active && !state.finished)
    return;
  state.is_unrecorded_child = has_folder;
  state.enabled = false;
}

void Recorder::set_device(const std::string& backend, const std::string& device) {
  if (!enabled())
    return;
  const std::scoped_lock lock(state_->mutex);
  state_->program.backend = backend;
  state_->program.device = device;
}

void Recorder::State::say_if_unrecorded() {
  if (is_unrecorded_child.exchange(false))
    warn(fmt::format(
        "the kernels of process {} are not recorded: it is a child of fork() of a program that had "
        "launched kernels before",
        getpid()));
}

bool Recorder::State::wanted(const trace::Launch& launch) const {
  if (active || finished || file.failed() || launch.grid.count() == 0 || launch.block.count() == 0)
    return false;
  return chosen(launch);
}

/// Returns whether the launch should be traced, if it can be at this time.
bool Recorder::State::chosen(const trace::Launch& launch) const {
  return launches.wants(launch) && (!settings.kernel || settings.kernel->is_found_in(launch.kernel));
}

Recorder::UntracedLaunches Recorder::State::count(const trace::Launch& launch,
                                                  const trace::LaunchWork& work) {
  UntracedLaunches counted{launches.count(launch, work, false),
                           "an untraced launch of " + display_name(launch.kernel)};
  memory.add_unseen(counted.name);
  return counted;
}

std::string Recorder::State::name_of(const trace::Launch& launch) const {
  if (launch.symbol.empty())
    return launch.kernel;
  std::string known = launches.name_of(launch.symbol);
  return known.empty() ? kernel_name(launch.symbol) : known;
}

void Recorder::State::open_file() {
  if (file.is_open() || file.failed())
    return;
  file.create(settings.trace_folder.empty() ? settings.trace : own_file(settings.trace_folder), program);
  for (const trace::Allocation& allocation : early_allocations)
    file.with_writer([&](trace::Writer& writer) { return writer.add_allocation(allocation); });
  early_allocations.clear();
}

void Recorder::State::write_sites() {
  if (const std::vector<Site> found = sites.take_new(); !found.empty())
    file.with_writer([&](trace::Writer& writer) { return writer.add_sites(found); });
}

std::shared_ptr<TracedLaunch> Recorder::State::prepare(trace::Launch& launch,
                                                       const ChannelPlacement* placement) const {
  launch.id = next_id;
  launch.first_block = 0;
  // A GPU's snapshot is decided beforehand.
  launch.blocks = placement ? snapshot_blocks(settings, launch).least : launch.grid.count();
  auto prepared = std::make_shared<TracedLaunch>();
  prepared->launch = launch;
  if (placement) {
    const auto extent = extent_within(launch, placement->local_bytes, placement->shared_bytes);
    if (!extent) {
      warn(extent.error().message + "; it runs untraced");
      return nullptr;
    }
    prepared->channel = ring::lay_out(*extent, placement->local, placement->shared);
    ring::clear_shared(prepared->channel);
  } else {
    try {
      const ring::Extent extent = extent_on_host(launch);
      prepared->local = ring::HostMemory(extent.local_bytes());
      prepared->shared = ring::HostMemory(extent.shared_bytes());
      prepared->channel = ring::lay_out(extent, prepared->local.data(), prepared->shared.data());
    } catch (const std::bad_alloc&) {
      warn(
          fmt::format("no memory for the ring buffers of {}; it runs untraced", display_name(launch.kernel)));
      return nullptr;
    }
  }
  const auto shape = [](const trace::Dim3& from, std::uint32_t(&to)[3]) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  shape(launch.grid, prepared->channel.grid);
  shape(launch.block, prepared->channel.block);
  return prepared;
}

void Recorder::State::start_snooper(TracedLaunch& traced_launch, const std::string& kernel,
                                    unsigned threads) {
  SnooperLimits limits;
  limits.stall = settings.stall.value_or(std::chrono::seconds(program.backend == "gpu" ? 10 : 60));
  if (threads != 0) { // they help: the snooper's own thread only handles slow streams
    // No producer waits for another one here, and the back end ends the snapshot at a block's end.
    limits.ends_at_silence = false;
    limits.first_pause = limits.longest_pause = std::chrono::milliseconds(2);
    limits.parts = std::min({threads, traced_launch.channel.buffers, max_streams});
  } else { // the launching thread sleeps until the kernel ends
    limits.accesses = settings.snapshot_accesses;
    limits.parts = std::min({std::max(std::thread::hardware_concurrency(), 2U) - 1,
                             traced_launch.channel.buffers, max_streams_of_gpu});
    limits.threads = limits.parts;
  }
  accesses.begin_launch(traced_launch.launch.id, limits.parts);
  Sink sink;
  sink.append = [this](std::uint32_t part, std::uint64_t block, std::uint32_t warp,
                       std::span<const trace::WarpAccess> run) {
    return accesses.append(part, block, warp, run);
  };
  sink.flush = [this](std::uint32_t part) { return accesses.flush(part); };
  sink.ended_early = [this, kernel, limits](SnooperState state) {
    if (state == SnooperState::stuck)
      file.give_up();
    if (state != SnooperState::sink_failed) // the file has already reported its failure
      warn(why_ended_early(state, display_name(kernel), limits));
  };
  traced_launch.snooper.emplace(traced_launch.channel, std::move(sink), limits);
}

/// Writes the launch's end, unless another thread has: one may call exit() while another ends the launch.
void Recorder::State::write_end(TracedLaunch& traced_launch, const trace::LaunchEnd& end) {
  file.with_writer([&](trace::Writer& writer) -> Expected<void> {
    if (std::exchange(traced_launch.end_is_written, true))
      return {};
    return writer.end_launch(end);
  });
}

Expected<void> Recorder::register_sites(std::span<const SiteRecord> records) {
  return state_->sites.add(records);
}

SnapshotGoal Recorder::goal(const trace::Launch& launch) const {
  const SnapshotBlocks blocks = snapshot_blocks(state_->settings, launch);
  return {.min_blocks = blocks.least,
          .max_blocks = blocks.most,
          .enough_accesses = state_->settings.snapshot_enough_accesses,
          .is_exact = state_->settings.snapshot_blocks.has_value(),
          .max_records = state_->settings.snapshot_accesses,
          .max_whole_records =
              std::min(state_->settings.snapshot_whole_accesses, state_->settings.snapshot_accesses),
          .wave_blocks = blocks.wave};
}

bool Recorder::ends_when_traced(std::span<const std::string> symbols) const {
  if (!enabled() || state_->settings.stop_when_traced.empty())
    return false;
  const std::scoped_lock lock(state_->mutex);
  return std::ranges::none_of(symbols, [&](const std::string& symbol) {
    return state_->launches.wants_more_of(symbol) &&
           (!state_->settings.kernel || state_->settings.kernel->is_found_in(kernel_name(symbol)));
  });
}

void Recorder::end_program() {
  std::fflush(stdout);
  std::ofstream(state_->settings.stop_when_traced) << program_invocation_name << '\n';
  {
    const std::scoped_lock lock(state_->mutex);
    state_->launches.forget_counts(); // it is not known how many there would have been
  }
  finish();
  std::_Exit(0);
}

bool Recorder::wants(const trace::Launch& launch) const {
  state_->say_if_unrecorded();
  if (!enabled())
    return false;
  const std::scoped_lock lock(state_->mutex);
  trace::Launch named = launch;
  named.kernel = state_->name_of(launch);
  return state_->wanted(named);
}

ring::Channel* Recorder::State::begin_launch(trace::Launch& launch, const ChannelPlacement* placement,
                                             unsigned threads) {
  const std::scoped_lock lock(mutex);
  launch.kernel = name_of(launch);
  auto prepared = wanted(launch) ? prepare(launch, placement) : nullptr;
  if (!prepared)
    return nullptr;
  open_file();
  write_sites();
  const std::vector<trace::MemoryUse> uses = memory.take(launch.id);
  file.with_writer([&](trace::Writer& writer) { return writer.add_memory_uses(uses); });
  if (!file.with_writer([&](trace::Writer& writer) { return writer.begin_launch(launch); }))
    return nullptr;
  ++next_id;
  launches.begin_traced(launch);
  active = prepared;
  start_snooper(*prepared, launch.kernel, threads);
  return &prepared->channel;
}

ring::Channel* Recorder::begin_launch(trace::Launch& launch, const ChannelPlacement& placement) {
  return enabled() ? state_->begin_launch(launch, &placement, 0) : nullptr;
}

ring::Channel* Recorder::begin_launch(trace::Launch& launch, unsigned threads) {
  state_->say_if_unrecorded();
  return enabled() ? state_->begin_launch(launch, nullptr, threads) : nullptr;
}

void Recorder::count_launch(const trace::Launch& launch, const trace::LaunchWork& work) {
  if (!enabled() || launch.symbol.empty())
    return;
  const std::scoped_lock lock(state_->mutex);
  trace::Launch named = launch;
  named.kernel = state_->name_of(launch);
  state_->count(named, work);
}

Recorder::UntracedLaunches* Recorder::count_launch(const trace::Launch& launch) {
  if (!enabled() || launch.symbol.empty())
    return nullptr;
  const std::scoped_lock lock(state_->mutex);
  trace::Launch named = launch;
  named.kernel = state_->name_of(launch);
  UntracedLaunches counted = state_->count(named, {});
  return state_->chosen(named) ? nullptr : &state_->untraced.emplace_back(std::move(counted));
}

void Recorder::count_launch(UntracedLaunches& launches) {
  const std::scoped_lock lock(state_->mutex);
  ++launches.counted.launches;
  state_->memory.add_unseen(launches.name);
}

bool Recorder::launch_stopped() const {
  const std::scoped_lock lock(state_->mutex);
  return !state_->active || state_->active->snooper->is_stuck() ||
         state_->active->snooper->state() != SnooperState::running;
}

std::span<const std::uint32_t> Recorder::executed_capabilities() const {
  return state_->settings.execute;
}

void Recorder::write_executed(std::uint32_t launch, const Expected<trace::PackedPayload>& executed) {
  state_->file.with_writer([&](trace::Writer& writer) -> Expected<void> {
    return executed ? writer.append_executed(launch, *executed) : tl::unexpected(executed.error());
  });
}

void Recorder::write_execution(const trace::Execution& execution) {
  state_->file.with_writer([&](trace::Writer& writer) { return writer.add_execution(execution); });
}

void Recorder::drain_rings(std::uint32_t buffer) {
  std::shared_ptr<TracedLaunch> active;
  {
    const std::scoped_lock lock(state_->mutex);
    active = state_->active;
  }
  if (active)
    active->snooper->help(buffer);
}

void Recorder::end_launch(const trace::LaunchEnd& end) {
  if (!enabled())
    return;
  std::shared_ptr<TracedLaunch> ending;
  {
    const std::scoped_lock lock(state_->mutex);
    ending = state_->active;
  }
  if (!ending)
    return;
  // The lock is not held, so that other threads' launches do not wait; they run untraced while `active` is
  // set.
  const SnooperState ended = ending->snooper->finish();
  trace::LaunchEnd written = end;
  written.launch = ending->launch.id;
  written.complete = end.complete && ended == SnooperState::complete;
  state_->write_end(*ending, written);
  state_->file.with_writer([](trace::Writer& writer) { return writer.flush(); });
  const std::scoped_lock lock(state_->mutex);
  if (state_->active != ending) // another thread has abandoned it meanwhile
    return;
  state_->launches.count(ending->launch, end.work, true);
  if (ended == SnooperState::stuck)
    state_->abandoned.push_back(std::move(state_->active));
  state_->active.reset();
}

void Recorder::abandon_launch() {
  if (!enabled())
    return;
  const std::scoped_lock lock(state_->mutex);
  if (!state_->active)
    return;
  state_->launches.count(state_->active->launch, {}, true);
  // A write that never returns holds the file.
  if (state_->active->snooper->abandon() != SnooperState::stuck)
    state_->write_end(*state_->active, {.launch = state_->active->launch.id, .complete = false});
  state_->abandoned.push_back(std::move(state_->active));
  state_->active.reset();
}

void Recorder::note_allocation(std::uint64_t address, std::uint64_t bytes, const std::string& label) {
  if (!enabled())
    return;
  trace::Allocation allocation{address, bytes, label};
  std::unique_lock lock(state_->mutex);
  if (state_->file.is_open()) {
    lock.unlock(); // the file may be slow, and threads that check its progress take this lock
    state_->file.with_writer([&](trace::Writer& writer) { return writer.add_allocation(allocation); });
  } else if (!state_->finished)
    state_->early_allocations.push_back(std::move(allocation));
}

void Recorder::note_memory_use(const trace::MemoryUse& use) {
  if (!enabled())
    return;
  const std::scoped_lock lock(state_->mutex);
  state_->memory.add(use);
}

void Recorder::note_unseen(const std::string& what) {
  if (!enabled())
    return;
  const std::scoped_lock lock(state_->mutex);
  state_->memory.add_unseen(what);
}

void Recorder::finish() {
  if (!enabled())
    return;
  State& state = *state_;
  // A second caller waits until the file is complete: it may be the one that ends the process.
  const std::scoped_lock finishing(state.finishing);
  {
    const std::scoped_lock lock(state.mutex);
    if (std::exchange(state.finished, true)) // no launch begins after this
      return;
  }
  abandon_launch();
  const std::scoped_lock lock(state.mutex);
  state.open_file();
  state.write_sites();
  state.file.finish(state.launches.counts());
}

} // namespace warplens::runtime

extern "C" void __warplens_register_sites(const warplens::SiteRecord* records, unsigned long long count) {
  const auto added = warplens::runtime::Recorder::instance().register_sites({records, count});
  if (added)
    return;
  warplens::runtime::warn(added.error().message);
  std::_Exit(1); // still before main(): nothing has been computed or collected
}
