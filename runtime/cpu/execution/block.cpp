#include "runtime/cpu/execution/block.h"

#include "runtime/abi/stack_frame.h"
#include "runtime/cpu/execution/signals.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <fmt/format.h>
#include <thread>
#include <utility>

namespace warplens::cpu {

namespace {

// The reserve for runtime functions that a lane calls: printf with its formatting is the deepest.
constexpr std::size_t runtime_stack_bytes = 64 * 1024;
// The part of the reserve that a function must leave free. The rest covers frames whose size was estimated
// (stack_frame.h).
constexpr std::size_t checked_reserve = runtime_stack_bytes / 2;
// The stack size if the lowering could not bound the nesting of calls. Only used pages are backed by memory.
constexpr std::size_t unknown_stack_bytes = 1024 * 1024;

constexpr char deep_stack[] = " has more on its stack than fits: does a recursion end?";

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

} // namespace

Block& Block::of_this_thread() {
  // A pointer, since destructors of static objects may launch: they run after those of the main thread's own
  // objects, and get a block that is never destroyed.
  static constinit thread_local Block* block = nullptr;
  struct Owner {
    ~Owner() { delete std::exchange(block, nullptr); }
  };
  if (!block) {
    block = new Block;
    static thread_local const Owner owner;
    static_cast<void>(owner);
  }
  return *block;
}

BlockStatus Block::run(const Grid& grid, std::uint64_t id, WarpAccessSink* sink) {
  start(grid, id, sink);
  while (advance() == Stage::waits) {
    if (grid.stopped && *grid.stopped) {
      abandon();
      break;
    }
    std::this_thread::yield();
  }
  return status_;
}

void Block::start(const Grid& grid, std::uint64_t id, WarpAccessSink* sink) {
  grid_ = grid;
  sink_ = sink;
  begin(grid, id);
  if (!runs_as_loop())
    start_lanes(sink);
}

Block::Stage Block::advance() {
  const struct Running {
    explicit Running(Block* block) { current_ = block; }
    ~Running() { current_ = nullptr; }
  } here(this);
  if (!runs_as_loop())
    return run_lanes();
  run_as_loop();
  if (status_ == BlockStatus::faulted)
    find_faulting_lane();
  return Stage::ended;
}

void Block::abandon() {
  if (status_ == BlockStatus::ok)
    status_ = BlockStatus::failed; // a later failure: its message is not the launch's
  end_lanes();
}

void Block::begin(const Grid& grid, std::uint64_t id) {
  status_ = BlockStatus::ok;
  alive_ = 0;
  executed_ = probed_ = 0;
  message_.clear();
  const trace::Dim3& in = grid.grid;
  const std::uint64_t index[3] = {id % in.x, id / in.x % in.y, id / in.x / in.y};
  const std::uint32_t grid_dim[3] = {in.x, in.y, in.z},
                      block_dim[3] = {grid.block.x, grid.block.y, grid.block.z};
  for (unsigned i = 0; i < 3; ++i) {
    context_.block_index[i] = static_cast<std::uint32_t>(index[i]);
    context_.grid_dim[i] = grid_dim[i];
    context_.block_dim[i] = block_dim[i];
  }
  thread_count_ = static_cast<std::uint32_t>(grid.block.count());
  context_.dynamic_shared_bytes = grid.dynamic_shared_bytes;
  context_.grid_workspace = grid.workspace;
  // CUDA aligns dynamic shared memory for every type; with 128 the bank numbers also equal a GPU's.
  constexpr std::size_t alignment = 128;
  const std::size_t static_bytes = (grid.kernel->static_shared_bytes + std::size_t{15}) & ~std::size_t{15};
  shared_memory_.reserve(static_bytes + grid.dynamic_shared_bytes + alignment);
  const std::uint64_t begin = (address_of(shared_memory_.data()) + alignment - 1) & ~(alignment - 1);
  context_.shared = reinterpret_cast<std::uint8_t*>(begin);
  context_.dynamic_shared = context_.shared + static_bytes;
  context_.scheduler = this;
  addresses_ = {.shared = {begin, static_bytes + grid.dynamic_shared_bytes},
                .stacks = &stacks_,
                .around_constants = around_constant_memory(),
                .first_warp = id * (warps_of(thread_count_))};
  checks_.begin(*this, *grid_.kernel, thread_count_, sink_ != nullptr);
}

bool Block::runs_as_loop() const {
  return grid_.kernel->untraced_block && !sink_;
}

void Block::run_as_loop() {
  const std::size_t frame_units =
      (grid_.kernel->frame_bytes * thread_count_ + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  if (region_frames_.size() < frame_units)
    region_frames_.resize(frame_units);
  context_.frames = region_frames_.data();
  std::jmp_buf escape; // no frame between here and fail()'s jump has a destructor to run
  escape_ = &escape;
  if (setjmp(escape) == 0)
    grid_.kernel->untraced_block(grid_.arguments, &context_);
  escape_ = nullptr;
  running_ = nullptr;
}

/// The loop does not keep the number of the running thread. Since the program fails anyway, the block runs
/// again, in lanes, to find the faulting thread.
void Block::find_faulting_lane() {
  struct : WarpAccessSink {
    void access(std::uint32_t, const ring::Line&) override {}
  } nowhere;
  const std::string without_lane = message_;
  status_ = BlockStatus::ok;
  start_lanes(&nowhere);
  while (run_lanes() == Stage::waits) {
  }
  if (status_ != BlockStatus::faulted) {
    status_ = BlockStatus::faulted;
    message_ = without_lane;
  }
}

void Block::start_lanes(WarpAccessSink* sink) {
  const KernelRecord& kernel = *grid_.kernel;
  function_ = sink ? kernel.traced_lane : kernel.untraced_lane;
  alive_ = thread_count_;
  polling_since_.reset();
  stacks_.reserve(thread_count_,
                  kernel.stack_bytes ? kernel.stack_bytes + runtime_stack_bytes : unknown_stack_bytes);
  // The local memory of the kernel's variables, plus what their alignment may add.
  addresses_.local_bytes =
      kernel.stack_bytes ? ((kernel.stack_bytes - spill_bytes) & ~std::uint64_t{15}) + 32 : stacks_.stride();
  if (lanes_.size() < thread_count_)
    lanes_.resize(thread_count_);
  warps_.resize(warps_of(thread_count_));
  for (; used_barriers_; used_barriers_ &= used_barriers_ - 1)
    barriers_[static_cast<std::size_t>(std::countr_zero(used_barriers_))] = {};
  alive_warps_ = static_cast<std::uint32_t>((std::uint64_t{1} << warps_.size()) - 1);
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    Lane& lane = lanes_[i];
    static_cast<LaneContext&>(lane) = {};
    lane.block = &context_;
    lane.linear_thread = i;
    lane.thread_index[0] = i % grid_.block.x;
    lane.thread_index[1] = i / grid_.block.x % grid_.block.y;
    lane.thread_index[2] = i / grid_.block.x / grid_.block.y;
    lane.fiber = &lane.execution;
    lane.warp = &warps_[i / warp_lanes];
    lane.number = i % warp_lanes;
    lane.execution.prepare(stacks_.top(i), stacks_.usable_bytes(), lane_entry, &lane);
  }
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t first = w * warp_lanes, count = std::min(thread_count_ - first, warp_lanes);
    warps_[w].begin(*this, w, &lanes_[first], count);
    if (!sink)
      continue;
    while (mergers_.size() <= w)
      mergers_.push_back(std::make_unique_for_overwrite<LogMerger>());
    std::array<LaneContext*, warp_lanes> contexts{};
    for (std::uint32_t i = 0; i < count; ++i)
      contexts[i] = &lanes_[first + i];
    mergers_[w]->begin(w, contexts, count, kernel.keys, addresses_, *sink);
    warps_[w].trace(*mergers_[w]);
  }
}

void Block::lane_entry(void* argument) {
  auto& lane = *static_cast<Lane*>(argument);
  auto& block = *static_cast<Block*>(lane.block->scheduler);
  block.function_(block.grid_.arguments, &lane);
  lane.warp->exit(lane);
}

Block::Stage Block::run_lanes() {
  using Clock = std::chrono::steady_clock;
  // The maximum wait for an mbarrier in programs that give up after some time.
  constexpr auto patience = std::chrono::seconds(5);
  while (alive_ && !failed()) {
    Progress progress = Progress::none;
    for (Warp& warp : warps_) {
      progress = std::max(progress, warp.run());
      if (failed())
        break;
    }
    if (progress != Progress::polling)
      polling_since_.reset();
    else if (!polling_since_)
      polling_since_ = Clock::now();
    const bool stuck =
        progress == Progress::none || (polling_since_ && Clock::now() - *polling_since_ > patience);
    if (!failed() && stuck && alive_) {
      status_ = BlockStatus::deadlocked;
      message_ = fmt::format("block {}: deadlock: {}", place(), describe_waiting());
    }
    if (!failed() && alive_ && interrupted()) {
      status_ = BlockStatus::interrupted;
      message_ = fmt::format("block {}: interrupted", place());
    }
    if (!failed() && alive_ && progress == Progress::spinning)
      return Stage::waits;
  }
  end_lanes();
  return Stage::ended;
}

/// Issues the rest of the logs, and adds up the counters.
void Block::end_lanes() {
  for (Warp& warp : warps_)
    warp.flush_log();
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    executed_ += lanes_[i].executed_accesses;
    probed_ += lanes_[i].probed_accesses;
  }
}

/// Lists all waiting lanes by cause and place.
std::string Block::describe_waiting() const {
  std::vector<Waiting> groups;
  for (const Warp& warp : warps_)
    warp.add_waiting(groups);
  std::string text;
  for (const Waiting& group : groups)
    text += fmt::format("{}{} thread{} of {} {} at {}, {}", text.empty() ? "" : "; ", group.threads,
                        group.threads == 1 ? "" : "s",
                        group.first_warp == group.last_warp
                            ? fmt::format("warp {}", group.first_warp)
                            : fmt::format("warps {} to {}", group.first_warp, group.last_warp),
                        group.threads == 1 ? "waits" : "wait", group.place, group.what);
  return text;
}

std::string Block::place() const {
  return fmt::format("({}, {}, {})", context_.block_index[0], context_.block_index[1],
                     context_.block_index[2]);
}

std::string name_of(const LaneContext& lane) {
  return fmt::format("thread ({}, {}, {})", lane.thread_index[0], lane.thread_index[1], lane.thread_index[2]);
}

void Block::resume(Lane& lane) {
  running_ = &lane;
  lane.execution.resume();
  running_ = nullptr;
}

void Block::fail(std::string message, BlockStatus status) {
  status_ = status;
  message_ = fmt::format("block {}: {}", place(), std::exchange(message, {}));
  if (escape_)
    std::longjmp(*static_cast<std::jmp_buf*>(escape_), 1);
  static_cast<Lane*>(running_)->execution.suspend(); // never resumed: the block is abandoned
  std::abort();
}

void Block::check_stack(std::uint64_t bytes) {
  if (escape_ || !running_)
    return; // the OS thread's own stack, which has a guard page
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const std::uint64_t end = static_cast<Lane*>(running_)->execution.stack_bottom() + checked_reserve;
  if (here < end || here - end < bytes)
    fail(name_of(*running_) + deep_stack, BlockStatus::faulted);
}

void Block::fail_by_fault(int signal, std::uint64_t address) {
  fail(fault_message(signal, address), BlockStatus::faulted);
}

std::string Block::fault_message(int signal, std::uint64_t address) const {
  const std::string who = running_ ? name_of(*running_) : "a thread";
  if (signal == SIGILL)
    return who + " executes an illegal instruction";
  if (stacks_.guards(address))
    return who + deep_stack;
  const bool is_checked = Checks(grid_.kernel->checks).has(Check::memory);
  return fmt::format("{} accesses unmapped memory at {} ({})", who,
                     address < 4096 ? "a null pointer or an address that no memory can have"
                                    : fmt::format("{:#x}", address),
                     is_checked ? "--memcheck, which found nothing, does not check the ends of local arrays"
                                : "--memcheck reports the line");
}

bool Block::is_local(std::uint64_t address) const {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const std::uint64_t frames = address_of(region_frames_.data());
  return stacks_.contains(address) ||
         address - frames < region_frames_.size() * sizeof(region_frames_.front()) ||
         (escape_ && address > here && address < address_of(escape_));
}

AddressRange Block::shared_range() const {
  const std::uint64_t begin = address_of(context_.shared), dynamic = context_.dynamic_shared_bytes;
  return {begin, dynamic ? address_of(context_.dynamic_shared) + dynamic - begin
                         : grid_.kernel->static_shared_bytes};
}

bool Block::in_parameters(std::uint64_t address) const {
  for (std::uint32_t i = 0; i < grid_.kernel->parameter_count; ++i)
    if (address - address_of(grid_.arguments[i]) < grid_.kernel->largest_struct_bytes)
      return true;
  return false;
}

void Block::enter_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, bool waits, bool predicate) {
  if (id >= barriers_.size())
    fail(fmt::format("barrier {} does not exist; a block has {}", id, cluster_barrier));
  used_barriers_ |= 1U << id;
  lane.barrier = id;
  lane.warp->stop_at_barrier(lane);
  const std::uint32_t warp = lane.warp->number();
  if (!barriers_[id].arrive_lane(warp, lane.number, threads, waits, predicate))
    fail(fmt::format("threads of warp {} arrive at barrier {} for different numbers of threads", warp, id));
  if (barriers_[id].warp_is_present(warp, lane.warp->alive()))
    arrive(id, *lane.warp);
  lane.warp->wait_until_woken(lane);
}

void Block::arrive(std::uint32_t id, const Warp& arriving) {
  Barrier& barrier = barriers_[id];
  const std::uint32_t warp = arriving.number(),
                      block_threads = static_cast<std::uint32_t>(warps_.size()) * warp_lanes;
  if (Barrier::Contradiction threads; barrier.contradicts(warp, block_threads, threads)) {
    const auto counted = [](std::uint32_t number) {
      return number ? fmt::format("{} threads", number) : std::string("all threads");
    };
    fail(fmt::format("barrier {} waits for {}, and warp {} arrives for {}", id, counted(threads.expected),
                     warp, counted(threads.arrived_for)));
  }
  warps_[warp].wake(barrier.arrive(warp));
  if (barrier.is_complete(alive_warps_))
    release(barrier);
}

void Block::arrive_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads) {
  enter_barrier(lane, id, threads, false, false);
}

std::uint32_t Block::wait_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, Reduction operation,
                                     bool predicate) {
  enter_barrier(lane, id, threads, true, predicate);
  const auto true_predicates = static_cast<std::uint32_t>(lane.result),
             voters = static_cast<std::uint32_t>(lane.result >> 32);
  switch (operation) {
  case Reduction::and_: return true_predicates == voters;
  case Reduction::or_: return true_predicates != 0;
  default: return true_predicates;
  }
}

void Block::release(Barrier& barrier) {
  const Barrier::Released released = barrier.release();
  for (std::uint32_t rest = released.warps; rest; rest &= rest - 1) {
    Warp& warp = warps_[static_cast<std::size_t>(std::countr_zero(rest))];
    const std::uint32_t lanes = released.lanes[warp.number()];
    for (std::uint32_t waiting = lanes; waiting; waiting &= waiting - 1)
      warp.lanes()[std::countr_zero(waiting)].result = released.predicates | std::uint64_t{released.voters}
                                                                                 << 32;
    warp.wake(lanes);
  }
}

/// Other lanes may have waited for this lane only.
void Block::lane_exited(const Lane& lane) {
  --alive_;
  checks_.lane_ended(lane);
  const Warp& warp = *lane.warp;
  if (warp.finished())
    alive_warps_ &= ~(1U << warp.number());
  for (std::uint32_t rest = used_barriers_; rest; rest &= rest - 1) {
    const auto id = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (barriers_[id].warp_is_present(warp.number(), warp.alive()))
      arrive(id, warp);
    else if (barriers_[id].is_complete(alive_warps_))
      release(barriers_[id]);
  }
}

std::string Block::describe_barrier(const Lane& lane) const {
  const Barrier& barrier = barriers_[lane.barrier];
  const std::uint32_t warp = lane.warp->number(), expected = barrier.threads_expected_by(warp, lane.number);
  const std::string at = lane.barrier ? fmt::format("at barrier {}, ", lane.barrier) : "";
  if (expected == 0)
    return at + "for the rest of the block";
  if (barrier.waits_for_warp(warp, lane.number))
    return at + "for the rest of its warp";
  return fmt::format("at barrier {}, where {} of {} threads have arrived", lane.barrier,
                     barrier.arrived_threads(), expected);
}

} // namespace warplens::cpu
